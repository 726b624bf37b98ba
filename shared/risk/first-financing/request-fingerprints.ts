import { z } from 'zod'
import { rule } from '../../validation.ts'
import { sha256Hex } from '../evidence/values.ts'
import type { ReceivableFields } from './receivable.ts'

/** Two are live while callers change from one epoch to the next. */
const MAX_EPOCHS = 4

/** 32 bytes of the VOPRF output each, in hex. */
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
