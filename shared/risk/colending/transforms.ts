import { parsePaise, toInr } from '../packs/money.ts'

export type Transform = 'text' | 'money' | 'percent' | 'integer' | 'instant' | 'fineract-date'

/** An invalid value counts as missing, never as zero. */
export function transformed(transform: Transform, value: unknown): string | number | undefined {
  switch (transform) {
    case 'text':
      return textOf(value)
    case 'money': {
      const paise = typeof value === 'number' || typeof value === 'string' ? parsePaise(value) : undefined
      return paise === undefined || paise < 0 ? undefined : toInr(paise)
    }
    case 'percent': {
      const percent = numberOf(value)
      return percent === undefined || percent < 0 || percent > 100 ? undefined : percent
    }
    case 'integer': {
      const whole = numberOf(value)
      return whole === undefined || !Number.isSafeInteger(whole) || whole < 0 ? undefined : whole
    }
    case 'instant':
      return instantOf(value)
    case 'fineract-date':
      return fineractDate(value)
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' && value.trim() !== '' && value.length <= 200 ? value.trim() : undefined
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?[0-9]{1,15}(?:\.[0-9]{1,6})?$/.test(value) ? Number(value) : undefined
}

const ISO = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** ISO 8601 with a zone, a date, or Unix seconds or milliseconds. A time without a zone is invalid. */
function instantOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) {
    // 1e11 seconds are in the year 5138, so a larger number is milliseconds.
    return isoOf(value < 1e11 ? value * 1000 : value)
  }
  if (typeof value !== 'string') return undefined
  if (DATE.test(value)) return isDate(value) ? value : undefined
  const [, date] = ISO.exec(value) ?? []
  // Date.parse moves a day that does not exist into the next month.
  return date !== undefined && isDate(date) ? isoOf(Date.parse(value)) : undefined
}

function isoOf(ms: number): string | undefined {
  const at = new Date(ms)
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() > 9999 ? undefined : at.toISOString()
}

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]

/** `24 September 2013`, `[2013, 9, 24]` or `2013-09-24` */
function fineractDate(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const [year, month, day] = value
    if (typeof year !== 'number' || typeof month !== 'number' || typeof day !== 'number') return undefined
    return dateOf(year, month, day)
  }
  if (typeof value !== 'string') return undefined
  if (DATE.test(value)) return isDate(value) ? value : undefined
  const match = /^(\d{1,2}) ([A-Za-z]+) (\d{4})$/.exec(value.trim())
  if (!match) return undefined
  const [, day = '', month = '', year = ''] = match
  return dateOf(Number(year), MONTHS.indexOf(month.toLowerCase()) + 1, Number(day))
}

function dateOf(year: number, month: number, day: number): string | undefined {
  const text = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
  return isDate(text) ? text : undefined
}

function isDate(text: string): boolean {
  const at = new Date(`${text}T00:00:00.000Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}
