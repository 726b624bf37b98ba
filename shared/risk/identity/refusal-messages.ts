import type { RefusalReason } from '../credentials/refusal.ts'

/** Contain no presented values. */
const WORDS: Readonly<Record<RefusalReason | 'WALLET_ERROR', string>> = {
  TOO_LARGE: 'The response was too large.',
  STATE_MISMATCH: 'The response belongs to another request.',
  EXPIRED: 'The response was too late.',
  ALREADY_USED: 'The request already has a response.',
  ENCRYPTION_REQUIRED: 'The response was not encrypted.',
  DECRYPT_FAILED: 'The response was encrypted to another key.',
  VP_TOKEN_MALFORMED: 'The response is not a presentation.',
  UNKNOWN_QUERY_ID: 'The response contains an id that the request does not have.',
  TOO_MANY_PRESENTATIONS: 'The response contains more credentials than requested.',
  ALG_NOT_ALLOWED: 'The signature algorithm of the credential is not accepted.',
  ISSUER_UNTRUSTED: 'The issuer of the credential is not trusted here.',
  ISSUER_SIGNATURE: 'The signature of the issuer is invalid.',
  VCT_MISMATCH: 'The credential has another type.',
  NOT_YET_VALID: 'The credential is not valid yet.',
  CREDENTIAL_EXPIRED: 'The credential has expired.',
  DISCLOSURE_INVALID: 'The disclosed values differ from those that the issuer signed.',
  HOLDER_BINDING_MISSING: 'The holder did not sign.',
  KB_SIGNATURE: 'The signature of the holder is invalid.',
  KB_NONCE: 'The holder signed for another request.',
  KB_AUD: 'The holder signed for another recipient.',
  KB_SD_HASH: 'The holder signed another credential.',
  KB_IAT: 'The holder signed too early or too late.',
  STATUS_REVOKED: 'The credential was revoked.',
  STATUS_SUSPENDED: 'The credential is suspended.',
  STATUS_UNAVAILABLE: 'The status of the credential could not be determined.',
  CLAIM_MISSING: 'A requested field is missing.',
  CLAIM_VALUE_MISMATCH: 'A field does not have a requested value.',
  QUERY_NOT_SATISFIED: 'A requested credential was not presented.',
  WALLET_ERROR: 'The wallet declined.',
}

export function refusalMessages(reason: string): string {
  return Object.hasOwn(WORDS, reason) ? WORDS[reason as keyof typeof WORDS] : 'The response was refused.'
}
