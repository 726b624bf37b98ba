import { createHmac } from 'node:crypto'
import {
  type OrderIdentity,
  po1Input,
  type ReceivableIdentity,
  rf1Input,
  rf2Input,
  rf3Input,
} from './fingerprint-input.ts'

/** What the registry stores of a receivable: three keyed fingerprints, lower-case hex, none of them reversible. */
export interface ReceivableFingerprints {
  rf1: string
  rf2: string
  rf3: string
}

/**
 * HMAC-SHA256 under a secret key. A plain hash would let anybody test guesses: registrations can be enumerated and
 * document numbers are short.
 */
export function fingerprint(secretKey: Uint8Array, input: string): string {
  return createHmac('sha256', secretKey).update(input, 'utf8').digest('hex')
}

export function receivableFingerprints(secretKey: Uint8Array, receivable: ReceivableIdentity): ReceivableFingerprints {
  return {
    rf1: fingerprint(secretKey, rf1Input(receivable)),
    rf2: fingerprint(secretKey, rf2Input(receivable)),
    rf3: fingerprint(secretKey, rf3Input(receivable)),
  }
}

/** `isExact` is false when the order has no number: such a fingerprint is a possible match only. */
export function orderFingerprint(secretKey: Uint8Array, order: OrderIdentity): { po1: string; isExact: boolean } {
  const { input, isExact } = po1Input(order)
  return { po1: fingerprint(secretKey, input), isExact }
}
