import { type Micros, toIsoSeconds, toSeconds } from '../../time.ts'
import type { Summary } from '../notifications/notification.ts'
import { formatPeriod, listText, namedList } from '../notifications/text-parts.ts'

export interface UnknownCheck {
  /** name, or uuid without a name */
  label: string
  gapFrom: Micros
  gapUntil: Micros
  nextAt: Micros | null
}

/** See docs/spec/alerting.md#unknown-time. `link` is the page of gaps. */
export function noticeOf(checks: readonly UnknownCheck[], link: string): Summary {
  const from = Math.min(...checks.map(({ gapFrom }) => gapFrom))
  const until = Math.max(...checks.map(({ gapUntil }) => gapUntil))
  const count = `${checks.length} ${checks.length === 1 ? 'check' : 'checks'}`
  const [was, it] = checks.length === 1 ? ['This was', 'is'] : ['These were', 'are']
  const list = namedList({
    before:
      `Pings could not be received from ${minuteOf(from)} to ${minuteOf(until, from)} UTC. ` +
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

/** Omits the day if it is that of `since`, an earlier instant of the same text. */
function minuteOf(at: Micros, since?: Micros): string {
  const text = toIsoSeconds(at)
  const isSameDay = since !== undefined && toIsoSeconds(since).slice(0, 10) === text.slice(0, 10)
  return isSameDay ? text.slice(11, 16) : text.slice(0, 16).replace('T', ' ')
}

type BannerGap = Pick<ListedGap, 'listener' | 'from' | 'until' | 'checks' | 'heard'>

/** Shown while the gap lasts and for one day after (docs/spec/alerting.md#unknown-time). */
export function bannerText({ listener, from, until, checks, heard }: BannerGap): string {
  const by = listener === 'smtp' ? ' by e-mail' : ''
  if (until === null) {
    const who = listener === 'smtp' ? 'No check that is pinged by e-mail goes' : 'No check goes'
    return `Pings cannot be received${by} since ${clockOf(from)} UTC. ${who} down meanwhile.`
  }
  const length = lengthOf(toSeconds(until - from))
  const became = `${checks} ${checks === 1 ? 'check' : 'checks'} became unknown because of it`
  const known =
    checks === 0
      ? 'No check became unknown because of it.'
      : `${became}; ${heard} ${heard === 1 ? 'has' : 'have'} been heard since.`
  return `Pings could not be received${by} from ${clockOf(from)} to ${clockOf(until)} UTC (${length}). ${known}`
}

function lengthOf(seconds: number): string {
  return formatPeriod(seconds < 120 ? seconds : Math.round(seconds / 60) * 60)
}

/** `2026-11-22 02:50:04` */
function clockOf(at: number): string {
  return toIsoSeconds(at).slice(0, 19).replace('T', ' ')
}

export interface ListedGap {
  id: number
  listener: 'http' | 'smtp' | 'sweeper' | 'notifier'
  from: Micros
  until: Micros | null
  kind: 'full' | 'partial' | 'clock' | 'detection'
  cause: string
  /** true if all checks may be affected, false if only some shards are */
  scope: 'all' | 'some'
  checks: number
  /** of these, the checks pinged since */
  heard: number
}
