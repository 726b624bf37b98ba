import type { ApiEnv } from '../../environment.ts'
import type { FinancingState } from './states.ts'

/** A registration of a receivable. */
export interface Registration {
  id: string
  organisationId: number
  env: ApiEnv
  state: FinancingState
  mode: 'FIELDS' | 'BLIND'
  dealId: string | null
  /** the fields with the salts of their commitments; null when it was made without fields */
  sealedReceivable: string | null
  /** days, `YYYY-MM-DD` */
  dueDate: string | null
  financedOn: string | null
  renewals: number
  contested: boolean
  expiresAt: Date
  firstSeenAt: Date
  createdAt: Date
  /** the newest anchored object of its states, as JSON text */
  record: string
}
