import { type Micros, toIsoSeconds } from '../../time.ts'
import { oneLine } from '../notifications/escapes.ts'
import type { Summary } from '../notifications/notification.ts'

/** A check that was expected while we were blind, and that is not heard since. */
export interface UnknownCheck {
  /** its name, or its uuid when it has none */
  label: string
  gapFrom: Micros
  gapUntil: Micros
  /** when it is expected at last; null when never again */
  nextAt: Micros | null
}

/** Names that one message lists. */
const MOST_NAMED = 50

/** The notice about checks that a gap of ours made unknown (alerting 5.5). @param link the page of gaps */
export function noticeOf(checks: readonly UnknownCheck[], link: string): Summary {
  const from = Math.min(...checks.map(({ gapFrom }) => gapFrom))
  const until = Math.max(...checks.map(({ gapUntil }) => gapUntil))
  const count = `${checks.length} ${checks.length === 1 ? 'check' : 'checks'}`
  const named = checks.slice(0, MOST_NAMED).map(({ label }) => oneLine(label))
  const more = checks.length - named.length
  const [was, it] = checks.length === 1 ? ['This was', 'is'] : ['These were', 'are']
  const names = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return {
    title: `UNKNOWN | ${count}`,
    text:
      `We could not take signals from ${minuteOf(from)} to ${minuteOf(until, from)} UTC. ` +
      `${was} expected then and ${it} not heard since: ${names}. Please look yourself.`,
    facts: [],
    link,
  }
}

/** @param since an instant that was said before: its day is not said again */
function minuteOf(at: Micros, since?: Micros): string {
  const text = toIsoSeconds(at)
  const isSameDay = since !== undefined && toIsoSeconds(since).slice(0, 10) === text.slice(0, 10)
  return isSameDay ? text.slice(11, 16) : text.slice(0, 16).replace('T', ' ')
}
