import { addDays, indianDay } from '../packs/money.ts'

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

/** Returns the state that an action leads to; null if it is a conflict. A transfer is only offered by it. */
export function stateAfter(
  registration: { state: FinancingState; renewals: number; expiresAt: Date },
  action: FinancingAction,
  nowMs: number,
): FinancingState | null {
  const { renewals } = registration
  const state = stateAt(registration, nowMs)
  if (state === 'REGISTERED') {
    if (action === 'finance') return 'FINANCED'
    if (action === 'cancel') return 'CANCELLED'
    return action === 'renew' && renewals < RENEWALS ? 'REGISTERED' : null
  }
  if (state !== 'FINANCED') return null
  if (action === 'release') return 'RELEASED'
  return action === 'renew' || action === 'transfer' ? 'FINANCED' : null
}

/**
 * Returns the end of a hold after an action, in milliseconds. Dates of the caller may lie in the past, so days are
 * counted from the later of the date and the action: no hold ends before the action that starts it.
 * @param now time of the action, in milliseconds
 */
export function expiryAfter(
  { state, expiresAt, dueDate }: { state: FinancingState; expiresAt: number; dueDate: string | null },
  action: FinancingAction,
  now: number,
  financedOn: string,
): number {
  if (action === 'renew') return expiresAt + (state === 'FINANCED' ? RENEWED_DAYS : REGISTERED_DAYS) * DAY_MS
  if (action !== 'finance') return Math.max(expiresAt, now)
  const days = dueDate === null ? AFTER_FINANCING_DAYS : AFTER_DUE_DAYS
  const date = dueDate ?? financedOn
  const today = indianDay(now)
  return Date.parse(`${addDays(date > today ? date : today, days)}T00:00:00+05:30`)
}

/** Returns the state at a time: a hold that has ended is LAPSED, even if the sweeper has not stored that yet. */
export function stateAt(
  { state, expiresAt }: { state: FinancingState; expiresAt: Date },
  nowMs: number,
): FinancingState {
  return (state === 'REGISTERED' || state === 'FINANCED') && expiresAt.getTime() <= nowMs ? 'LAPSED' : state
}
