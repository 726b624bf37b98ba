import type { ApiEnv } from '../../environment.ts'

export const DISPUTE_STATES = ['OPEN', 'CONFIRMED', 'RELEASED', 'UNANSWERED'] as const

/** A quarrel about who holds a receivable. Nobody adjudicates; both sides have their records. */
export interface Dispute {
  id: string
  registrationId: string
  /** who holds the registration, and who disputes it */
  holderId: number
  organisationId: number
  env: ApiEnv
  state: (typeof DISPUTE_STATES)[number]
  record: string
  openedAt: Date
  answerBy: Date
}
