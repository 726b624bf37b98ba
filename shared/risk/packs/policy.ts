import { z } from 'zod'

/** The keys of `gradedSignals`, in the order in which a pack shows them. */
export const GRADED_KEYS = [
  'tradeRelationship.ab',
  'tradeRelationship.bc',
  'eInvoice',
  'subcontractorCapacity',
  'borrowerCapacity',
  'relatedParty',
  'doubleFinancing',
] as const

export type GradedKey = (typeof GRADED_KEYS)[number]

/**
 * What may change between installations and over time. `policyVersion` is written into every evidence record, so a
 * pack always says by which rules it was made.
 */
export const PackPolicy = z.object({
  policyVersion: z.string().min(1),
  /** The question class shown as `grade`, fixed per key; the finding itself is in `detail` (docs/spec/risk-signals.md#graded-signals). */
  grades: z.record(z.enum(GRADED_KEYS), z.string().min(1)),
})

export type PackPolicy = z.infer<typeof PackPolicy>

export const defaultPolicy: PackPolicy = {
  policyVersion: '2026-11-1',
  grades: {
    'tradeRelationship.ab': 'DEPTH_PRIMARY',
    'tradeRelationship.bc': 'DEPTH_PRIMARY',
    eInvoice: 'DEPTH_CORROBORATING',
    subcontractorCapacity: 'CAPACITY',
    borrowerCapacity: 'CAPACITY',
    relatedParty: 'CONFLICT',
    doubleFinancing: 'CONFLICT',
  },
}
