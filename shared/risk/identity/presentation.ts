import type { ApiEnv } from '../../environment.ts'
import type { PresentationQuery } from '../credentials/query.ts'

type PresentationState = 'CREATED' | 'REQUEST_FETCHED' | 'RECEIVED' | 'VERIFIED' | 'REJECTED' | 'EXPIRED'

/** Clear text over TLS, or encrypted to a key of this request. */
export const RESPONSE_MODES = ['direct_post', 'direct_post.jwt'] as const
export type ResponseMode = (typeof RESPONSE_MODES)[number]

export const REQUEST_LIFE_MS = 300_000
export const MAX_FETCHES = 10
/** The last refused response ends the request. */
export const MAX_REFUSALS = 3

export interface Presentation {
  id: string
  organisationId: number
  env: ApiEnv
  subjectId: string | null
  dealId: string | null
  purpose: string
  query: PresentationQuery
  responseMode: ResponseMode
  redirectUri: string | null
  retainHours: number
  clientId: string
  sealedSecrets: string
  state: PresentationState
  fetches: number
  refusals: number
  reasons: string[]
  walletError: string | null
  sealedForm: string | null
  responseCodeDigest: Buffer | null
  fields: string[]
  issuer: string | null
  tier: string | null
  assurance: string | null
  credentialExpiresAt: Date | null
  discarded: number
  /** JSON */
  record: string | null
  createdAt: Date
  expiresAt: Date
  receivedAt: Date | null
  finishedAt: Date | null
}

/** Only the wallet may know these secrets. */
export interface PresentationSecrets {
  /** last part of the address of the request's page */
  page: string
  /** last part of the request and response addresses; derived from `page` by a one-way function */
  handle: string
  nonce: string
  state: string
  /** P-256 JWK of `direct_post.jwt`; otherwise null */
  encryptionKey: Record<string, unknown> | null
}

/** An expired request is EXPIRED before the sweeper has processed it. */
export function stateAt({ state, expiresAt }: Pick<Presentation, 'state' | 'expiresAt'>, nowMs: number) {
  const isOpen = state === 'CREATED' || state === 'REQUEST_FETCHED'
  return isOpen && expiresAt.getTime() <= nowMs ? 'EXPIRED' : state
}

export function presentationView(presentation: Presentation, nowMs: number) {
  const { issuer, tier, assurance } = presentation
  return {
    presentationId: presentation.id,
    state: stateAt(presentation, nowMs),
    purpose: presentation.purpose,
    dealId: presentation.dealId,
    subjectId: presentation.subjectId,
    responseMode: presentation.responseMode,
    createdAt: presentation.createdAt.toISOString(),
    expiresAt: presentation.expiresAt.toISOString(),
    fields: presentation.fields,
    issuer: issuer === null ? null : { iss: issuer, tier, assurance },
    reasons: presentation.reasons,
    walletError: presentation.walletError,
    discardedClaims: presentation.discarded,
    record: presentation.record === null ? null : (JSON.parse(presentation.record) as object),
  }
}
