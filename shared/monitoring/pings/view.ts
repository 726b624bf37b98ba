import { type Micros, toIsoMicros } from '../../time.ts'
import type { PingType } from '../checks/state-machine.ts'

/** A recorded ping, as far as the API shows it. */
export interface RecordedPing {
  n: number
  type: PingType
  /** its arrival */
  at: Micros
  scheme: string
  remoteAddr: string | null
  method: string
  ua: string
  /** lower-case uuid text */
  rid: string | null
  /** whether at least one byte of a body is stored */
  hasBody: boolean
}

export interface PingViewOptions {
  /** public address, without a slash at its end */
  base: string
  version: 1 | 2 | 3
  checkUuid: string
  /** by ping number, in microseconds (durations.ts) */
  durations: ReadonlyMap<number, Micros>
}

/** One member of the pings list (docs/spec/monitoring.md#pings-list). `duration` is left out when unknown, and may be 0. */
export function toPingView(ping: RecordedPing, options: PingViewOptions) {
  const duration = options.durations.get(ping.n)
  return {
    type: ping.type,
    date: toIsoMicros(ping.at),
    n: ping.n,
    scheme: ping.scheme,
    remote_addr: ping.remoteAddr,
    method: ping.method,
    ua: ping.ua,
    rid: ping.rid,
    body_url: ping.hasBody
      ? `${options.base}/api/v${options.version}/checks/${options.checkUuid}/pings/${ping.n}/body`
      : null,
    ...(duration !== undefined && { duration: toHundredths(duration) }),
  }
}

/** Seconds, rounded to two decimals. */
function toHundredths(duration: Micros): number {
  return Math.round(duration / 10_000) / 100
}
