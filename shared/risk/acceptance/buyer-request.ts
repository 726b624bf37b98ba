import type { ApiEnv } from '../../environment.ts'
import type { ReceivableFields } from '../first-financing/receivable.ts'

/** Days for which the link of a request works. */
export const REQUEST_DAYS = 7
/** Minutes for which a mailed code works. */
export const CODE_MINUTES = 15
/** Codes that are mailed for one link. */
export const MAX_CODES = 3
/** Wrong codes after which a link is locked for good, whatever codes were mailed. */
export const MAX_WRONG_CODES = 5

/** What is sealed of a request while it is open. */
export interface BuyerRequestDetails {
  buyerEmail: string
  receivable: ReceivableFields
}

/** A request to a buyer, as its link opens it. */
export interface BuyerRequest {
  id: string
  organisationId: number
  env: ApiEnv
  receivableRef: string
  /** null once it is answered or over */
  sealedDetails: string | null
  codesSent: number
  codeDigest: Buffer | null
  /** whether the code that was mailed last still works */
  isCodeLive: boolean
  wrongCodes: number
  isAnswered: boolean
}

export type BuyerRequestState = 'OPEN' | 'ANSWERED' | 'LOCKED' | 'EXPIRED'

/** How a request stands. */
export function requestState(request: { isAnswered: boolean; isOver: boolean; wrongCodes: number }): BuyerRequestState {
  if (request.isAnswered) return 'ANSWERED'
  if (request.wrongCodes >= MAX_WRONG_CODES) return 'LOCKED'
  return request.isOver ? 'EXPIRED' : 'OPEN'
}

/** What is digested of the token of a link, so that a digest of ours can stand for nothing else. */
export function buyerTokenText(token: string): string {
  return `acceptance-request:${token}`
}

/** The same of a code, which is bound to its request. */
export function buyerCodeText(requestId: string, code: string): string {
  return `acceptance-code:${requestId}:${code}`
}
