import { type Micros, toIsoSeconds } from '#shared/time.ts'
import { distanceText, relativeTime } from '../shell/format.ts'
/** An instant relative to now, the exact one on hover. The script keeps it current. */
export function Ago({ at, now }: { at: Micros; now: Micros }) {
  const iso = toIsoSeconds(at)
  return (
    <time dateTime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`} data-ago>
      {relativeTime(at, now)}
    </time>
  )
}

/** An instant to the second, in UTC; where scripts run, by the clock that was chosen on the page. @param isNamed says UTC */
export function Exact({ at, isNamed = false }: { at: Micros; isNamed?: boolean }) {
  const iso = toIsoSeconds(at)
  return (
    <time dateTime={iso} data-exact={isNamed ? 'named' : ''}>
      {`${iso.slice(0, 19).replace('T', ' ')}${isNamed ? ' UTC' : ''}`}
    </time>
  )
}

/** How long ago, or how far ahead, without saying which: `22 min`. The script keeps it current. */
export function Distance({ at, now }: { at: Micros; now: Micros }) {
  const iso = toIsoSeconds(at)
  return (
    <time dateTime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`} data-for>
      {distanceText(at, now)}
    </time>
  )
}
