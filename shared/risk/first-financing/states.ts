import { addDays, indianDay } from '../packs/money.ts'

export const FINANCING_STATES = ['REGISTERED', 'FINANCED', 'RELEASED', 'CANCELLED', 'LAPSED', 'TRANSFERRED'] as const

export type FinancingState = (typeof FINANCING_STATES)[number]

export type FinancingAction = 'finance' | 'release' | 'cancel' | 'renew' | 'transfer'

export const REGISTERED_DAYS = 7
const RENEWED_DAYS = 180
const AFTER_DUE_DAYS = 180
const AFTER_FINANCING_DAYS = 365
const RENEWALS = 2
const DAY_MS = 86_400_000

/** Returns null for a conflict. `transfer` only creates an offer. */
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

/** Milliseconds, from the later of the date and the action. */
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

/** An expired registration is LAPSED before the sweeper has stored that. */
export function stateAt(
  { state, expiresAt }: { state: FinancingState; expiresAt: Date },
  nowMs: number,
): FinancingState {
  return (state === 'REGISTERED' || state === 'FINANCED') && expiresAt.getTime() <= nowMs ? 'LAPSED' : state
}
