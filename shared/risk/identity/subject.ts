import type { ApiEnv } from '../../environment.ts'

export type IdentityState = 'UNVERIFIED' | 'PENDING' | 'VERIFIED' | 'EXPIRED' | 'SUSPENDED' | 'REVOKED'

/** A person or business whose identity an organisation verifies. */
export interface Subject {
  id: string
  organisationId: number
  env: ApiEnv
  /** random reference in anchored objects */
  ref: string
  kind: 'PERSON' | 'BUSINESS'
  state: IdentityState
  sealedExternalRef: string | null
  assuranceLevel: string
  assuranceExpiresAt: Date | null
  createdAt: Date
  /** increases with each subject */
  seq: number
}
