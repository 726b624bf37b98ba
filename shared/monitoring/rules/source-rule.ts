import {
  invalid,
  isPresent,
  readChoice,
  readList,
  readNumber,
  readObject,
  readText,
  refuseUnknown,
} from '../alerting/fields.ts'
import type { JsonValue } from '../checks/json-body.ts'

/** See docs/spec/alerting.md#sources. */
export interface SourceRule {
  /** part of a ping that names its source */
  by: 'query' | 'header' | 'address'
  expect: readonly string[] | number
  need: number | 'all'
}

const MAX_SOURCES = 100
const NAME = /^[A-Za-z0-9._:-]{1,64}$/

/** Returns `''` for an invalid name, because pings are not refused for it. */
export function sourceName(name: string | null | undefined): string {
  return name !== null && name !== undefined && NAME.test(name) ? name : ''
}

export function expectedCount({ expect }: SourceRule): number {
  return typeof expect === 'number' ? expect : expect.length
}

export function neededCount(rule: SourceRule): number {
  return rule.need === 'all' ? expectedCount(rule) : rule.need
}

/** @throws ValidationError for the first invalid member, in the order of the specification */
export function readSourceRule(value: JsonValue, path: string): SourceRule {
  const rule = readObject(value, path)
  const by = readChoice(rule.by, `${path}.by`, ['query', 'header', 'address'])
  const expect = readExpected(rule.expect, `${path}.expect`)
  const read = { by, expect, need: readNeed(rule.need, `${path}.need`) }
  if (neededCount(read) > expectedCount(read))
    throw invalid(`${path}.need`, `must be at most ${expectedCount(read)}, the number of expected sources`)
  refuseUnknown(rule, path, Object.keys(read))
  return read
}

function readExpected(value: JsonValue | undefined, path: string): string[] | number {
  if (typeof value === 'number') return readNumber(value, path, { min: 1, max: MAX_SOURCES })
  const names = readList(value, path, { min: 1, max: MAX_SOURCES }).map((it, index) => {
    const name = readText(it, `${path}[${index}]`, { max: 64 })
    if (sourceName(name) === '') throw invalid(`${path}[${index}]`, 'must be the name of a source')
    return name
  })
  if (new Set(names).size < names.length) throw invalid(path, 'must not name a source twice')
  return names
}

function readNeed(value: JsonValue | undefined, path: string): number | 'all' {
  if (value === 'all' || !isPresent(value)) return 'all'
  if (typeof value === 'string') throw invalid(path, 'must be all or a whole number')
  return readNumber(value, path, { min: 1, max: MAX_SOURCES })
}
