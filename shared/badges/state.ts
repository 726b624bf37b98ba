import type { ShownStatus } from '../checks/check.ts'
import type { BadgeStates } from './signature.ts'

export type BadgeStatus = 'up' | 'late' | 'down'

export interface BadgeState {
  status: BadgeStatus
  total: number
  /** checks in grace and checks that are down, in both modes */
  grace: number
  down: number
}

/**
 * What a badge says of the matching checks (monitoring behaviour 6.2): new, paused and running ones count as up, and
 * so does having no check at all.
 */
export function badgeState(statuses: Iterable<ShownStatus>, states: BadgeStates): BadgeState {
  const state: BadgeState = { status: 'up', total: 0, grace: 0, down: 0 }
  for (const status of statuses) {
    state.total += 1
    if (status === 'grace') state.grace += 1
    if (status === 'down') state.down += 1
  }
  if (state.down > 0) state.status = 'down'
  else if (states === 3 && state.grace > 0) state.status = 'late'
  return state
}
