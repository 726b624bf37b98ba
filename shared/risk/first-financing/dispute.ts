import type { ApiEnv } from '../../environment.ts'

export const DISPUTE_STATES = ['OPEN', 'CONFIRMED', 'RELEASED', 'UNANSWERED'] as const

/** The service does not decide a dispute; both sides have their records. */
export interface Dispute {
  id: string
  registrationId: string
  /** holder of the registration; `organisationId` disputes it */
  holderId: number
  organisationId: number
  env: ApiEnv
  state: (typeof DISPUTE_STATES)[number]
  record: string
  openedAt: Date
  answerBy: Date
}
