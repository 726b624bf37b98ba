import type { RefusalReason } from '../credentials/refusal.ts'

/** What each refusal means, for people: nothing of what was presented. */
const WORDS: Readonly<Record<RefusalReason | 'WALLET_ERROR', string>> = {
  TOO_LARGE: 'The answer was too large.',
  STATE_MISMATCH: 'The answer belongs to another request.',
  EXPIRED: 'The answer came too late.',
  ALREADY_USED: 'The request was answered before.',
  ENCRYPTION_REQUIRED: 'The answer was not encrypted.',
  DECRYPT_FAILED: 'The answer was encrypted to another key.',
  VP_TOKEN_MALFORMED: 'The answer is not a presentation.',
  UNKNOWN_QUERY_ID: 'The answer is to a question that was not asked.',
  TOO_MANY_PRESENTATIONS: 'More credentials were presented than were asked for.',
  ALG_NOT_ALLOWED: 'The credential is signed in a way that is not accepted.',
  ISSUER_UNTRUSTED: 'The issuer of the credential is not trusted here.',
  ISSUER_SIGNATURE: 'The signature of the issuer is wrong.',
  VCT_MISMATCH: 'The credential is of another type.',
  NOT_YET_VALID: 'The credential is not valid yet.',
  CREDENTIAL_EXPIRED: 'The credential has expired.',
  DISCLOSURE_INVALID: 'What was disclosed is not what the issuer signed.',
  HOLDER_BINDING_MISSING: 'The holder did not sign.',
  KB_SIGNATURE: 'The signature of the holder is wrong.',
  KB_NONCE: 'The holder signed for another request.',
  KB_AUD: 'The holder signed for somebody else.',
  KB_SD_HASH: 'The holder signed something else.',
  KB_IAT: 'The holder signed too early or too late.',
  STATUS_REVOKED: 'The credential was revoked.',
  STATUS_SUSPENDED: 'The credential is suspended.',
  STATUS_UNAVAILABLE: 'Whether the credential was revoked could not be found out.',
  CLAIM_MISSING: 'A field that was asked for is missing.',
  CLAIM_VALUE_MISMATCH: 'A field does not hold what was asked for.',
  QUERY_NOT_SATISFIED: 'Something that was asked for was not presented.',
  WALLET_ERROR: 'The wallet declined.',
}

/** A refusal in words. @param reason as it is stored */
export function refusalMessages(reason: string): string {
  return Object.hasOwn(WORDS, reason) ? WORDS[reason as keyof typeof WORDS] : 'The answer was refused.'
}
