import { z } from 'zod'
import { rule } from '../../validation.ts'
import { sha256Hex } from '../evidence/values.ts'
import { type FinancingKeys, type Fingerprint, receivableFingerprints, soughtFingerprints } from './fingerprint.ts'
import { identityOf, type ReceivableFields } from './receivable.ts'

/** Epochs that a request may carry at most: two are live while callers move from one to the next. */
const MAX_EPOCHS = 4

/** The fingerprints of one receivable under the keys of the live epochs: 32 bytes of the function's output, in hex. */
export const requestFingerprints = z
  .array(z.strictObject({ epoch: z.int().min(2), rf1: sha256Hex, rf2: sha256Hex, rf3: sha256Hex }))
  .min(1)
  .max(MAX_EPOCHS)
  .refine(
    (given) => new Set(given.map(({ epoch }) => epoch)).size === given.length,
    rule('DUPLICATE', 'must not name an epoch twice'),
  )
  .meta({ id: 'ReceivableFingerprints' })

export type RequestFingerprints = z.output<typeof requestFingerprints>

/** A receivable as a caller names it: by its fields, or by fingerprints that hide them. */
export type ReceivableInput = ReceivableFields | { fingerprints: RequestFingerprints }

/** Whether its fields are hidden from us. */
export function isBlind(given: ReceivableInput): given is { fingerprints: RequestFingerprints } {
  return 'fingerprints' in given
}

/** What it is looked for by. @param window asks the weeks and sizes around fields too */
export function soughtOf(keys: FinancingKeys, given: ReceivableInput, window: boolean): Fingerprint[] {
  return isBlind(given) ? byKind(given.fingerprints) : soughtFingerprints(keys, identityOf(given), window)
}

/** What the registry stores of it; the newest epoch's first. */
export function allFingerprints(keys: FinancingKeys, given: ReceivableInput): Fingerprint[] {
  return isBlind(given) ? byKind(given.fingerprints) : receivableFingerprints(keys, identityOf(given))
}

function byKind(given: RequestFingerprints): Fingerprint[] {
  return given
    .toSorted((a, b) => b.epoch - a.epoch)
    .flatMap(({ epoch, rf1, rf2, rf3 }) => [
      { epoch, kind: 'RF1' as const, value: rf1 },
      { epoch, kind: 'RF2' as const, value: rf2 },
      { epoch, kind: 'RF3' as const, value: rf3 },
    ])
}
