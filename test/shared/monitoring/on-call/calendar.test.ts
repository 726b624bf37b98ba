import test from 'ava'
import { type CalendarEvent, calendarText } from '#shared/monitoring/on-call/calendar.ts'
import { microsOfDate } from '#shared/time.ts'

const at = (text: string) => microsOfDate(new Date(text))
const event: CalendarEvent = {
  schedule: 'a',
  person: 'b',
  from: at('2026-11-28T09:00Z'),
  until: at('2026-11-29T09:00Z'),
  summary: 'Anna, "A"; B\\C\nand 🚒 with a name that is longer than the seventy-five octets of a line, 🚒🚒🚒🚒🚒🚒',
  url: 'https://example.org/x',
  changedAt: at('2026-11-01T00:00:01Z'),
}

/** Reads a document by the grammar of RFC 5545, without the code of the product. */
function parse(text: string): Map<string, string>[] {
  const lines = text.replaceAll(/\r\n[ \t]/g, '').split('\r\n')
  if (lines.pop() !== '') throw new Error('the last line has no end')
  const components: Map<string, string>[] = []
  const open: Map<string, string>[] = []
  for (const line of lines) {
    const [, name = '', value = ''] = /^([A-Z-]+)(?:;[^:]*)?:(.*)$/.exec(line) ?? []
    if (name === '') throw new Error(`not a line: ${line}`)
    if (name === 'BEGIN') open.push(new Map([['BEGIN', value]]))
    else if (name === 'END') components.push(open.pop() ?? new Map())
    else {
      const unescaped = value.replaceAll(/\\(.)/g, (_, one: string) => (one === 'n' || one === 'N' ? '\n' : one))
      open.at(-1)?.set(name, unescaped)
    }
  }
  return components
}

test('writes lines of at most 75 octets that a parser joins and unescapes', (t) => {
  const text = calendarText('Primary, night', 'example.org', [event])
  for (const line of text.split('\r\n')) t.true(Buffer.byteLength(line) <= 75, line)
  t.false(/[^\r]\n/.test(text))
  const [shift, calendar] = parse(text)
  t.is(shift?.get('SUMMARY'), event.summary)
  t.is(shift?.get('DTSTART'), '20261128T090000Z')
  t.is(shift?.get('DTEND'), '20261129T090000Z')
  t.is(shift?.get('TRANSP'), 'TRANSPARENT')
  t.is(calendar?.get('X-WR-CALNAME'), 'Primary, night')
  t.is(calendar?.get('METHOD'), 'PUBLISH')
})

test('keeps the UID when the end of a shift moves, and changes it with person and start', (t) => {
  const uidOf = (changed: Partial<CalendarEvent>) =>
    parse(calendarText('x', 'example.org', [{ ...event, ...changed }]))[0]?.get('UID')
  const uid = uidOf({})
  t.regex(uid ?? '', /^[0-9a-f]{32}@example\.org$/)
  t.is(uidOf({ until: event.until + 1_000_000, summary: 'y', changedAt: 0 }), uid)
  t.not(uidOf({ person: 'c' }), uid)
  t.not(uidOf({ from: event.from + 1_000_000 }), uid)
})

test('lists at most 1,000 events', (t) => {
  const text = calendarText('x', 'example.org', Array(1_001).fill(event))
  t.is(parse(text).length, 1_001)
})
