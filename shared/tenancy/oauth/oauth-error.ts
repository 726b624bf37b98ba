import { DomainError } from '../../errors.ts'

/** The error codes of RFC 6749 section 5.2, and that of RFC 8707 section 2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'

/** A token request that is refused. `isBasic`: the client used HTTP Basic, so the answer names that scheme. */
export class OAuthError extends DomainError {
  readonly code: 'UNAUTHORIZED' | 'VALIDATION_ERROR'
  readonly oauthCode: OAuthErrorCode
  readonly isBasic: boolean
  constructor(oauthCode: OAuthErrorCode, message: string, isBasic = false) {
    super(message)
    this.oauthCode = oauthCode
    this.code = oauthCode === 'invalid_client' ? 'UNAUTHORIZED' : 'VALIDATION_ERROR'
    this.isBasic = isBasic
  }
}
