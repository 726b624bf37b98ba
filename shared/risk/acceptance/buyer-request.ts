import type { ApiEnv } from '../../environment.ts'
import type { ReceivableFields } from '../first-financing/receivable.ts'

export const REQUEST_DAYS = 7
export const CODE_MINUTES = 15
export const MAX_CODES = 3
/** Wrong codes after which a link is locked permanently, regardless of new codes. */
export const MAX_WRONG_CODES = 5

export interface BuyerRequestDetails {
  buyerEmail: string
  receivable: ReceivableFields
}

export interface BuyerRequest {
  id: string
  organisationId: number
  env: ApiEnv
  receivableRef: string
  /** null once it is answered or expired */
  sealedDetails: string | null
  codesSent: number
  codeDigest: Buffer | null
  isCodeLive: boolean
  wrongCodes: number
  isAnswered: boolean
}

export type BuyerRequestState = 'OPEN' | 'ANSWERED' | 'LOCKED' | 'EXPIRED'

export function requestState(request: { isAnswered: boolean; isOver: boolean; wrongCodes: number }): BuyerRequestState {
  if (request.isAnswered) return 'ANSWERED'
  if (request.wrongCodes >= MAX_WRONG_CODES) return 'LOCKED'
  return request.isOver ? 'EXPIRED' : 'OPEN'
}

/** The prefix prevents use of the digest for another purpose. */
export function buyerTokenText(token: string): string {
  return `acceptance-request:${token}`
}

/** Bound to its request. */
export function buyerCodeText(requestId: string, code: string): string {
  return `acceptance-code:${requestId}:${code}`
}
