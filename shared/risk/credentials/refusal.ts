import { CodedError } from '../../errors.ts'

/** Reasons in the order of the checks (docs/spec/evidence-families.md#presentation-response). */
export type RefusalReason =
  | 'TOO_LARGE'
  | 'STATE_MISMATCH'
  | 'EXPIRED'
  | 'ALREADY_USED'
  | 'ENCRYPTION_REQUIRED'
  | 'DECRYPT_FAILED'
  | 'VP_TOKEN_MALFORMED'
  | 'UNKNOWN_QUERY_ID'
  | 'TOO_MANY_PRESENTATIONS'
  | 'ALG_NOT_ALLOWED'
  | 'ISSUER_UNTRUSTED'
  | 'ISSUER_SIGNATURE'
  | 'VCT_MISMATCH'
  | 'NOT_YET_VALID'
  | 'CREDENTIAL_EXPIRED'
  | 'DISCLOSURE_INVALID'
  | 'HOLDER_BINDING_MISSING'
  | 'KB_SIGNATURE'
  | 'KB_NONCE'
  | 'KB_AUD'
  | 'KB_SD_HASH'
  | 'KB_IAT'
  | 'STATUS_REVOKED'
  | 'STATUS_SUSPENDED'
  | 'STATUS_UNAVAILABLE'
  | 'CLAIM_MISSING'
  | 'CLAIM_VALUE_MISMATCH'
  | 'QUERY_NOT_SATISFIED'

export class RefusedPresentationError extends CodedError {
  readonly code = 'PRESENTATION_REFUSED'
  readonly reason: RefusalReason
  constructor(reason: RefusalReason) {
    super(`the presentation is refused: ${reason}`)
    this.reason = reason
  }
}
