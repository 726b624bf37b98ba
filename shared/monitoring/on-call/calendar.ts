import { createHash } from 'node:crypto'
import { type Micros, toIsoSeconds } from '../../time.ts'

export interface CalendarEvent {
  schedule: string
  /** identity of the person, which does not change with the address */
  person: string
  from: Micros
  until: Micros
  summary: string
  url: string
  changedAt: Micros
}

const MAX_EVENTS = 1000

/** Octets per line, without its end (RFC 5545, 3.1). */
const MAX_LINE = 75

/**
 * Returns an iCalendar document (RFC 5545). All times are UTC, so it needs no time zone. Equal input gives equal bytes.
 * @param host part of each UID
 */
export function calendarText(name: string, host: string, events: readonly CalendarEvent[]): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Signalbox//On call//EN',
    'METHOD:PUBLISH',
    `NAME:${escapeText(name)}`,
    `X-WR-CALNAME:${escapeText(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
    ...events.slice(0, MAX_EVENTS).flatMap((event) => eventLines(event, host)),
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${folded(line)}\r\n`).join('')
}

function eventLines(event: CalendarEvent, host: string): string[] {
  const { from, until, summary, url, changedAt } = event
  return [
    'BEGIN:VEVENT',
    `UID:${uidOf(event)}@${host}`,
    `DTSTAMP:${utc(changedAt)}`,
    `LAST-MODIFIED:${utc(changedAt)}`,
    `DTSTART:${utc(from)}`,
    `DTEND:${utc(until)}`,
    'TRANSP:TRANSPARENT',
    `SUMMARY:${escapeText(summary)}`,
    `URL:${url}`,
    'END:VEVENT',
  ]
}

/** Does not depend on the end, so that a calendar moves the event and does not add another one. */
function uidOf({ schedule, person, from }: CalendarEvent): string {
  return createHash('sha256')
    .update(`${schedule} ${person} ${toIsoSeconds(from)}`)
    .digest('hex')
    .slice(0, 32)
}

/** `20260105T090000Z` */
function utc(at: Micros): string {
  return `${toIsoSeconds(at).slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

function escapeText(text: string): string {
  return text
    .replaceAll(/[\\;,]/g, (character) => `\\${character}`)
    .replaceAll(/\r\n|\r|\n/g, '\\n')
    .replaceAll(/\p{Cc}/gu, ' ')
}

/** Breaks between characters, never within the bytes of one. */
function folded(line: string): string {
  const lines: string[] = []
  let current = ''
  let length = 0
  for (const character of line) {
    const octets = Buffer.byteLength(character)
    if (length + octets > MAX_LINE) {
      lines.push(current)
      current = ' '
      length = 1
    }
    current += character
    length += octets
  }
  return [...lines, current].join('\r\n')
}
