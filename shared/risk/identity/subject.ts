import type { ApiEnv } from '../../environment.ts'

export type IdentityState = 'UNVERIFIED' | 'PENDING' | 'VERIFIED' | 'EXPIRED' | 'SUSPENDED' | 'REVOKED'

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
  seq: number
}
