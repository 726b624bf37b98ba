/** The caller passes these, so that these files do not depend on the calendar. */
export interface SpecRules {
  isValidSchedule: (expression: string) => boolean
  /** null if the zone does not exist */
  resolveTimeZone: (name: string) => string | null
}

/** In a problem, `%` is the name of the member. */
export type Reading<Value> = { ok: true; value: Value } | { ok: false; problem: string }

/** Reading is strict (docs/spec/monitoring.md#validation): nothing is converted, and null is not absence. */
interface Format<Value> {
  initial: Value
  read(value: unknown, rules: SpecRules): Reading<Value>
}

export interface TextFormat extends Format<string> {
  type: 'text'
  /** in code points; null for no limit */
  maxLength: number | null
}

export interface FlagFormat extends Format<boolean> {
  type: 'flag'
}

export interface SecondsFormat extends Format<number> {
  type: 'seconds'
  min: number
  max: number
}

export interface ChoiceFormat<Value extends string> extends Format<Value> {
  type: 'choice'
  choices: readonly [Value, ...Value[]]
}

export function text(
  maxLength: number | null,
  refine: (text: string, rules: SpecRules) => Reading<string> = accepted,
): TextFormat {
  const read = (value: unknown, rules: SpecRules) => {
    // PostgreSQL stores neither lone surrogates nor NUL.
    if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) return refused('% is not a string')
    // Code points are counted only if the text could be too long.
    if (maxLength !== null && value.length > maxLength && [...value].length > maxLength) return refused('% is too long')
    return refine(value, rules)
  }
  return { type: 'text', maxLength, initial: '', read }
}

export const flag: FlagFormat = {
  type: 'flag',
  initial: false,
  read: (value) => (typeof value === 'boolean' ? accepted(value) : refused('% is not a boolean')),
}

const MIN_SECONDS = 60
const MAX_SECONDS = 31_536_000

export function seconds(initial: number): SecondsFormat {
  return { type: 'seconds', min: MIN_SECONDS, max: MAX_SECONDS, initial, read: readSeconds }
}

function readSeconds(value: unknown): Reading<number> {
  // true counts as the integer 1, which is too small; integers of hundreds of digits arrive as Infinity.
  const number = typeof value === 'boolean' ? Number(value) : value
  if (typeof number !== 'number') return refused('% is not a number')
  if (Number.isFinite(number) && !Number.isInteger(number)) return refused('% is not a number')
  if (number < MIN_SECONDS) return refused('% is too small')
  return number > MAX_SECONDS ? refused('% is too large') : accepted(number)
}

/** The first choice is the default. */
export function choice<const Value extends string>(...choices: [Value, ...Value[]]): ChoiceFormat<Value> {
  const read = (value: unknown) => {
    const chosen = choices.find((one) => one === value)
    return chosen === undefined ? refused('% has unexpected value') : accepted(chosen)
  }
  return { type: 'choice', choices, initial: choices[0], read }
}

export function accepted<Value>(value: Value): Reading<Value> {
  return { ok: true, value }
}

export function refused(problem: string): Reading<never> {
  return { ok: false, problem }
}
