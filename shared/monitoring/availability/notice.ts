import { type Micros, toIsoSeconds } from '../../time.ts'
import { listText, namedList } from '../notifications/named-list.ts'
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

/** The notice about checks that a gap of ours made unknown (docs/spec/alerting.md#unknown-time). @param link the page of gaps */
export function noticeOf(checks: readonly UnknownCheck[], link: string): Summary {
  const from = Math.min(...checks.map(({ gapFrom }) => gapFrom))
  const until = Math.max(...checks.map(({ gapUntil }) => gapUntil))
  const count = `${checks.length} ${checks.length === 1 ? 'check' : 'checks'}`
  const [was, it] = checks.length === 1 ? ['This was', 'is'] : ['These were', 'are']
  const list = namedList({
    before:
      `We could not take signals from ${minuteOf(from)} to ${minuteOf(until, from)} UTC. ` +
      `${was} expected then and ${it} not heard since: `,
    names: checks.map(({ label }) => label),
    size: checks.length,
    after: '. Please look yourself.',
  })
  return {
    title: `UNKNOWN | ${count}`,
    text: listText(list, link),
    list,
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
