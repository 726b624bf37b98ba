import { type Micros, toIsoSeconds } from '#shared/time.ts'
import { distanceText, relativeTime } from '../frame/format.ts'
/** An instant relative to now, the exact one on hover. The script keeps it current. */
export function Ago({ at, now }: { at: Micros; now: Micros }) {
  const iso = toIsoSeconds(at)
  return (
    <time dateTime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`} data-ago>
      {relativeTime(at, now)}
    </time>
  )
}

/** An instant to the second, in UTC. */
export function Exact({ at }: { at: Micros }) {
  const iso = toIsoSeconds(at)
  return <time dateTime={iso}>{`${iso.slice(0, 19).replace('T', ' ')}`}</time>
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
