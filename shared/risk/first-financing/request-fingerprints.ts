import { z } from 'zod'
import { rule } from '../../validation.ts'
import { sha256Hex } from '../evidence/values.ts'
import { type FinancingKeys, type Fingerprint, receivableFingerprints, soughtFingerprints } from './fingerprint.ts'
import { identityOf, type ReceivableFields } from './receivable.ts'

/** Maximum number of epochs in a request; two are live while callers change from one to the next. */
const MAX_EPOCHS = 4

/** The fingerprints of one receivable under the keys of the live epochs: 32 bytes of the VOPRF output, in hex. */
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

export type ReceivableInput = ReceivableFields | { fingerprints: RequestFingerprints }

export function isBlind(input: ReceivableInput): input is { fingerprints: RequestFingerprints } {
  return 'fingerprints' in input
}

/** Returns the fingerprints to search. @param window adds the neighbouring weeks and amounts if the fields are known */
export function soughtOf(keys: FinancingKeys, input: ReceivableInput, window: boolean): Fingerprint[] {
  return isBlind(input) ? byKind(input.fingerprints) : soughtFingerprints(keys, identityOf(input), window)
}

export function allFingerprints(keys: FinancingKeys, input: ReceivableInput): Fingerprint[] {
  return isBlind(input) ? byKind(input.fingerprints) : receivableFingerprints(keys, identityOf(input))
}

function byKind(input: RequestFingerprints): Fingerprint[] {
  return input
    .toSorted((a, b) => b.epoch - a.epoch)
    .flatMap(({ epoch, rf1, rf2, rf3 }) => [
      { epoch, kind: 'RF1' as const, value: rf1 },
      { epoch, kind: 'RF2' as const, value: rf2 },
      { epoch, kind: 'RF3' as const, value: rf3 },
    ])
}
