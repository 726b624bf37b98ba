import { MICROS_PER_SECOND, type Micros, toIsoSeconds } from '#shared/time.ts'
import { humanDuration, relativeTime } from '../format.ts'

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

export function Duration({ micros }: { micros: Micros }) {
  return <span title={`${micros / MICROS_PER_SECOND} seconds`}>{humanDuration(micros / MICROS_PER_SECOND)}</span>
}
