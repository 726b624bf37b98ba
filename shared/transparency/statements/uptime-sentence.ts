import type { DaySums } from './day-record.ts'

/** `db-backup was up 99.95 % of the known time …`; truncates the percentage. */
export function uptimeSentence(
  { name, from, until }: { name: string; from: string; until: string },
  days: readonly DaySums[],
): string {
  const total = (pick: (sums: DaySums) => number) => days.reduce((sum, each) => sum + pick(each), 0)
  const [up, down, unknown] = [total((day) => day.up), total((day) => day.down), total((day) => day.unknown)]
  const when = spanLabel(from, until)
  const aside = unknown > 0 ? ` (unknown: ${lengthText(unknown)})` : ''
  if (up + down === 0) return `${name}: nothing was known ${when}${aside}`
  const hundredths = Math.floor((up / (up + down)) * 10_000)
  const share = (hundredths / 100).toFixed(hundredths % 100 === 0 ? 0 : 2)
  return `${name} was up ${share} % of the known time ${when}${aside}`
}

function spanLabel(from: string, until: string): string {
  const [year = 0, month = 0] = from.split('-').map(Number)
  const last = new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
  if (from.endsWith('-01') && until === last) return `in ${monthText(from)}`
  return from === until ? `on ${from}` : `from ${from} to ${until}`
}

function monthText(date: string): string {
  return new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(date))
}

function lengthText(seconds: number): string {
  const named = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`
  if (seconds < 120) return named(seconds, 'second')
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return named(minutes, 'minute')
  const rest = minutes % 60
  return rest === 0
    ? named(Math.floor(minutes / 60), 'hour')
    : `${named(Math.floor(minutes / 60), 'hour')} ${named(rest, 'minute')}`
}
