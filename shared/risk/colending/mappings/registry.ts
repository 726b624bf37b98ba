import type { Mapping } from '../mapping.ts'
import { fineractHook } from './fineract.ts'
import { genericEnvelope, genericFlat } from './generic.ts'

/** Every mapping, the most specific first: a record is read by the first that recognises it. */
export const MAPPINGS: readonly Mapping[] = [fineractHook, genericEnvelope, genericFlat]

export function findMapping(id: string): Mapping | undefined {
  return MAPPINGS.find((mapping) => mapping.id === id)
}
