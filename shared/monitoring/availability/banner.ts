import { toIsoSeconds, toSeconds } from '../../time.ts'
import { formatPeriod } from '../notifications/durations.ts'
import type { ListedGap } from './listed-gap.ts'

type BannerGap = Pick<ListedGap, 'listener' | 'from' | 'until' | 'checks' | 'heard'>

/** Text of pages about a gap, while it lasts and for one day after (docs/spec/alerting.md#unknown-time). */
export function bannerText({ listener, from, until, checks, heard }: BannerGap): string {
  const by = listener === 'smtp' ? ' by e-mail' : ''
  if (until === null) {
    const who = listener === 'smtp' ? 'No check that is pinged by e-mail goes' : 'Nothing goes'
    return `We cannot take signals${by} since ${clockOf(from)} UTC. ${who} down until we can.`
  }
  const length = lengthOf(toSeconds(until - from))
  const became = `${checks} ${checks === 1 ? 'check' : 'checks'} became unknown by it`
  const known =
    checks === 0
      ? 'No check became unknown by it.'
      : `${became}; ${heard} ${heard === 1 ? 'has' : 'have'} been heard since.`
  return `We could not take signals${by} from ${clockOf(from)} to ${clockOf(until)} UTC (${length}). ${known}`
}

/** In whole minutes, unless it is short. */
function lengthOf(seconds: number): string {
  return formatPeriod(seconds < 120 ? seconds : Math.round(seconds / 60) * 60)
}

/** `2026-11-22 02:50:04` */
function clockOf(at: number): string {
  return toIsoSeconds(at).slice(0, 19).replace('T', ' ')
}
