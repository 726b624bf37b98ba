import { type Micros, toIsoSeconds } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'

/** A recorded change of a check's stored status. */
export interface Flip {
  at: Micros
  from: StoredStatus
  to: StoredStatus
}

/** One member of the flips list: `up` is 1 only when the new status is up (docs/spec/monitoring.md#flips-list). */
export function toFlipView(flip: Pick<Flip, 'at' | 'to'>): { timestamp: string; up: 0 | 1 } {
  return { timestamp: toIsoSeconds(flip.at), up: flip.to === 'up' ? 1 : 0 }
}
