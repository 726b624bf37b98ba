import type { ShownStatus } from '../checks/check.ts'
import type { BadgeStates } from './signature.ts'

export type BadgeStatus = 'up' | 'late' | 'down'

export interface BadgeCounts {
  total: number
  grace: number
  down: number
}

export interface BadgeState extends BadgeCounts {
  status: BadgeStatus
}

/** New, paused and running checks count as up; so does an empty set (docs/spec/monitoring.md#badges). */
export function badgeState(counts: BadgeCounts, states: BadgeStates): BadgeState {
  if (counts.down > 0) return { status: 'down', ...counts }
  return { status: states === 3 && counts.grace > 0 ? 'late' : 'up', ...counts }
}

export const NO_CHECKS: BadgeCounts = Object.freeze({ total: 0, grace: 0, down: 0 })

export function countStatus(counts: BadgeCounts, status: ShownStatus): BadgeCounts {
  return {
    total: counts.total + 1,
    grace: counts.grace + (status === 'grace' ? 1 : 0),
    down: counts.down + (status === 'down' ? 1 : 0),
  }
}
