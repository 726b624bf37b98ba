import { invalid, isPresent, readChoice, readList, readNumber, readObject, refuseUnknown } from '../alerting/fields.ts'
import type { JsonValue } from '../checks/json-body.ts'

/** Possible flags of a run (docs/spec/alerting.md#watched-runs). */
const RUN_FLAGS = ['TOO_SHORT', 'TOO_OFTEN', 'OUTSIDE_SCHEDULE', 'OVERLAP', 'SLOW', 'OVERRUN', 'UNKNOWN'] as const

export type RunFlag = (typeof RUN_FLAGS)[number]

/** How the runs of a check are watched, as the API shows it; spans in seconds, null where nothing is asked. */
export interface RunRule {
  /** `last`: only the newest run counts; `each`: every run has a deadline of its own */
  watch: 'last' | 'each'
  max: number | null
  start_grace: number | null
  alive: number | null
  min: number | null
  spacing: number | null
  early: number | null
  overlap: 'allow' | 'flag'
  /** a run that takes so many times as long as nearly all of them is remarked */
  slow: number | null
  /** so many may be open at once */
  open: number
  fail_on: readonly RunFlag[]
}

const YEAR = 31_536_000
const DAY = 86_400

/** @throws ValidationError with the first thing that is wrong, in the order of the specification */
export function readRunRule(value: JsonValue, path: string): RunRule {
  const rule = readObject(value, path)
  const span = (
    name: 'max' | 'start_grace' | 'alive' | 'min' | 'spacing' | 'early' | 'slow',
    min: number,
    max: number,
  ) => (isPresent(rule[name]) ? readNumber(rule[name], `${path}.${name}`, { min, max }) : null)
  const read: RunRule = {
    watch: isPresent(rule.watch) ? readChoice(rule.watch, `${path}.watch`, ['last', 'each']) : 'last',
    max: span('max', 60, YEAR),
    start_grace: span('start_grace', 60, YEAR),
    alive: span('alive', 60, DAY),
    min: span('min', 1, YEAR),
    spacing: span('spacing', 1, YEAR),
    early: span('early', 0, DAY),
    overlap: isPresent(rule.overlap) ? readChoice(rule.overlap, `${path}.overlap`, ['allow', 'flag']) : 'allow',
    slow: span('slow', 2, 20),
    open: isPresent(rule.open) ? readNumber(rule.open, `${path}.open`, { min: 1, max: 100 }) : 20,
    fail_on: isPresent(rule.fail_on) ? readFlags(rule.fail_on, `${path}.fail_on`) : [],
  }
  refuseUnknown(rule, path, Object.keys(read))
  return read
}

function readFlags(value: JsonValue, path: string): RunFlag[] {
  const flags = readList(value, path, { max: RUN_FLAGS.length }).map((it, index) =>
    readChoice(it, `${path}[${index}]`, RUN_FLAGS),
  )
  if (new Set(flags).size < flags.length) throw invalid(path, 'has unexpected value')
  return flags
}
