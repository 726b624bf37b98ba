/** The largest accepted amount is 1e13 rupees or 1e15 paise, a safe integer. */
export type Paise = number

/** Uses no floating-point fractions. Returns `undefined` for more than two decimals, other forms, or inexact values. */
export function parsePaise(amount: number | string): Paise | undefined {
  const match = /^(-?)([0-9]{1,15})(?:\.([0-9]{1,2})0*)?$/.exec(String(amount))
  if (!match) return undefined
  const [, sign = '', rupees = '', decimals = ''] = match
  const paise = Number(rupees) * 100 + Number(decimals.padEnd(2, '0'))
  if (!Number.isSafeInteger(paise)) return undefined
  return sign === '-' && paise !== 0 ? -paise : paise
}

/** At most two decimals, as the contract requires; the division is correctly rounded. */
export function toInr(paise: Paise): number {
  return paise / 100
}

/** The denominator must be positive. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const floor = numerator >= 0n ? numerator / denominator : -((-numerator + denominator - 1n) / denominator)
  const twice = 2n * (numerator - floor * denominator)
  const up = twice > denominator || (twice === denominator && floor % 2n !== 0n)
  return up ? floor + 1n : floor
}

/** Lakh and crore with two decimals, otherwise rupees with Indian grouping. */
export function inrText(paise: Paise): string {
  const sign = paise < 0 ? '-' : ''
  const size = Math.abs(paise)
  if (size >= 1_000_000_000) return `${sign}₹${scaled(size, 1_000_000_000n)} crore`
  if (size >= 10_000_000) return `${sign}₹${scaled(size, 10_000_000n)} lakh`
  return `${sign}₹${grouped(Math.floor(size / 100))}.${String(size % 100).padStart(2, '0')}`
}

function scaled(paise: Paise, unit: bigint): string {
  const hundredths = divideHalfEven(BigInt(paise) * 100n, unit)
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}

function grouped(rupees: number): string {
  return String(rupees).replace(/(?<=[0-9])(?=(?:[0-9]{2})*[0-9]{3}$)/g, ',')
}

/** Days and months of Indian time are `YYYY-MM-DD` and `YYYY-MM`, which sort in time order. */
const INDIA_OFFSET_MS = 330 * 60_000
const DAY_MS = 86_400_000

/** India has +05:30 all year. */
export function indianDay(atMs: number): string {
  return new Date(atMs + INDIA_OFFSET_MS).toISOString().slice(0, 10)
}

export function addMonths(month: string, count: number): string {
  const index = Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1 + count
  return `${String(Math.floor(index / 12)).padStart(4, '0')}-${String((index % 12) + 1).padStart(2, '0')}`
}

/** Oldest first. */
export function monthsFrom(first: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => addMonths(first, index))
}

export function daysInMonth(month: string): number {
  return new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7)), 0)).getUTCDate()
}

export function dayOf(month: string, day: number): string {
  return `${month}-${String(day).padStart(2, '0')}`
}

export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10)
}

/** Negative if the second is earlier. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS
}

/** `YYYY-MM-DD` */
export function isDay(text: string): boolean {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return false
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

/** `DD/MM/YYYY` or `DD-MM-YYYY`; `undefined` for a day that does not exist. */
export function dayFromIndianText(text: string): string | undefined {
  const match = /^([0-9]{2})[/-]([0-9]{2})[/-]([0-9]{4})$/.exec(text)
  if (!match) return undefined
  const day = `${match[3]}-${match[2]}-${match[1]}`
  return isDay(day) ? day : undefined
}
