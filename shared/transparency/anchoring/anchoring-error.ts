import { CodedError } from '../../errors.ts'

/** Stable codes of malformed input that claims to come from a log. */
export type AnchoringCode =
  | 'TOO_LARGE'
  | 'ENTRY_MALFORMED'
  | 'TILE_MALFORMED'
  | 'TILE_MISSING'
  | 'PROOF_RANGE'
  | 'KEY_MALFORMED'
  | 'NOTE_MALFORMED'
  | 'NOTE_UNSIGNED'
  | 'NOTE_SIGNATURE_INVALID'
  | 'CHECKPOINT_MALFORMED'
  | 'CHECKPOINT_ORIGIN'
  | 'PROOF_MALFORMED'
  | 'POLICY_MALFORMED'
  | 'REQUEST_MALFORMED'
  | 'COSIGNATURE_MISSING'
  | 'OBJECT_MALFORMED'
  | 'RECEIPT_MALFORMED'
  | 'ENVELOPE_MALFORMED'
  | 'BAG_MALFORMED'
  | 'ABSENCE_MALFORMED'
  | 'MEMBERSHIP_MALFORMED'
  | 'UPTIME_PROOF_MALFORMED'
  | 'PASSPORT_MALFORMED'
  | 'ISSUER_MALFORMED'
  | 'LOG_ROLLED_BACK'

/** The code names the violated format. The message quotes at most a few characters of the input. */
export class AnchoringError extends CodedError {
  readonly code: AnchoringCode
  constructor(code: AnchoringCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
