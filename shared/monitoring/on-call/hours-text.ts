import { DAYS, type Day, type Hours } from './schedule.ts'

/** `mon-fri 09:00-18:00`; equal times mean the whole day. */
export function hoursText({ days, from, to }: Hours): string {
  return `${daysText(days)} ${from}-${to}`
}

/** Joins three or more consecutive days: `mon-fri hol`. */
export function daysText(days: readonly Day[]): string {
  const listed = DAYS.map((day) => days.includes(day))
  const parts: string[] = []
  for (let first = 0; first < DAYS.length; first += 1) {
    if (!listed[first]) continue
    let last = first
    while (last + 1 < 7 && listed[last + 1]) last += 1
    if (last - first >= 2) {
      parts.push(`${DAYS[first]}-${DAYS[last]}`)
      first = last
    } else parts.push(DAYS[first] ?? '')
  }
  return parts.join(',')
}

/** Reads `mon-fri,hol`. Returns unknown names unchanged, for the validation to refuse. */
export function readDaysText(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = '', last] = part.split('-')
      const names: readonly string[] = DAYS
      const from = names.indexOf(first)
      const to = names.indexOf(last ?? '')
      return last === undefined || from < 0 || to < from ? [part] : DAYS.slice(from, to + 1)
    })
}

/** Reads one line of `hoursText`. */
export function readHoursText(line: string): { days: string[]; from: string; to: string } {
  const [, days = line, from = '', to = ''] = /^(.*?)\s+([\d:]+)\s*-\s*([\d:]+)$/.exec(line.trim()) ?? []
  return { days: readDaysText(days), from, to }
}
