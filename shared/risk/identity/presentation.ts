import type { ApiEnv } from '../../environment.ts'
import type { PresentationQuery } from '../credentials/query.ts'

/** How far a request to a wallet has come. */
type PresentationState = 'CREATED' | 'REQUEST_FETCHED' | 'RECEIVED' | 'VERIFIED' | 'REJECTED' | 'EXPIRED'

/** How the wallet answers: in the clear over TLS, or encrypted to a key of this request. */
export const RESPONSE_MODES = ['direct_post', 'direct_post.jwt'] as const
export type ResponseMode = (typeof RESPONSE_MODES)[number]

/** How long a wallet has to answer. */
export const REQUEST_LIFE_MS = 300_000
/** How often a request is served. */
export const MAX_FETCHES = 10
/** Answers that may be refused; the last of them ends the request. */
export const MAX_REFUSALS = 3

/** A request to a wallet, and what came of it. */
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
  /** JSON of the anchored object */
  record: string | null
  createdAt: Date
  expiresAt: Date
  receivedAt: Date | null
  finishedAt: Date | null
}

/** What nobody but the wallet is to know. */
export interface PresentationSecrets {
  /** last part of the address of the page that shows the request to people */
  page: string
  /** last part of the addresses of request and response; follows from `page`, and does not lead back to it */
  handle: string
  nonce: string
  state: string
  /** private P-256 JWK of `direct_post.jwt`; null otherwise */
  encryptionKey: Record<string, unknown> | null
}

/** The state as it is at a time: what nobody answered has expired, whether the sweeper has come to it or not. */
export function stateAt({ state, expiresAt }: Pick<Presentation, 'state' | 'expiresAt'>, nowMs: number) {
  const isOpen = state === 'CREATED' || state === 'REQUEST_FETCHED'
  return isOpen && expiresAt.getTime() <= nowMs ? 'EXPIRED' : state
}

/** A presentation as its organisation sees it; no values. */
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
    // Written by us.
    record: presentation.record === null ? null : (JSON.parse(presentation.record) as object),
  }
}
