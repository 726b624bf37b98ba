import type { ApiEnv } from '../../environment.ts'

export type IdentityState = 'UNVERIFIED' | 'PENDING' | 'VERIFIED' | 'EXPIRED' | 'SUSPENDED' | 'REVOKED'

/** A person or business whose identity an organisation has verified. */
export interface Subject {
  id: string
  organisationId: number
  env: ApiEnv
  /** what anchored objects call it: random, and says nothing */
  ref: string
  kind: 'PERSON' | 'BUSINESS'
  state: IdentityState
  sealedExternalRef: string | null
  assuranceLevel: string
  assuranceExpiresAt: Date | null
  createdAt: Date
  /** grows with each subject */
  seq: number
}
