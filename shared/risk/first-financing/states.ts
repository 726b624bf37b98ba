import { addDays } from '../packs/calendar.ts'

export const FINANCING_STATES = ['REGISTERED', 'FINANCED', 'RELEASED', 'CANCELLED', 'LAPSED', 'TRANSFERRED'] as const

export type FinancingState = (typeof FINANCING_STATES)[number]

export type FinancingAction = 'finance' | 'release' | 'cancel' | 'renew' | 'transfer'

/** Days for which a registration holds a receivable, and for which one that a pack presented does. */
export const REGISTERED_DAYS = 7
const RENEWED_DAYS = 180
const AFTER_DUE_DAYS = 180
const AFTER_FINANCING_DAYS = 365
const RENEWALS = 2
const DAY_MS = 86_400_000

/** The state an action leads to; `null` where it is a conflict (families 3.3). A transfer is only offered by it. */
export function stateAfter(
  { state, renewals }: { state: FinancingState; renewals: number },
  action: FinancingAction,
): FinancingState | null {
  if (state === 'REGISTERED') {
    if (action === 'finance') return 'FINANCED'
    if (action === 'cancel') return 'CANCELLED'
    return action === 'renew' && renewals < RENEWALS ? 'REGISTERED' : null
  }
  if (state !== 'FINANCED') return null
  if (action === 'release') return 'RELEASED'
  return action === 'renew' || action === 'transfer' ? 'FINANCED' : null
}

/** Until when a registration holds, in milliseconds, after an action. @param now of the action */
export function expiryAfter(
  { state, expiresAt, dueDate }: { state: FinancingState; expiresAt: number; dueDate: string | null },
  action: FinancingAction,
  now: number,
  financedOn: string,
): number {
  if (action === 'renew') return expiresAt + (state === 'FINANCED' ? RENEWED_DAYS : REGISTERED_DAYS) * DAY_MS
  if (action !== 'finance') return Math.max(expiresAt, now)
  const last = dueDate === null ? addDays(financedOn, AFTER_FINANCING_DAYS) : addDays(dueDate, AFTER_DUE_DAYS)
  return Date.parse(`${last}T00:00:00+05:30`)
}
