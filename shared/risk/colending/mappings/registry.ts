import type { FileMapping } from '../imports/file-mapping.ts'
import type { BureauStyle } from '../imports/import.ts'
import type { Mapping } from '../mapping.ts'
import { fixedAccounts, segmentAccounts } from './bureau.ts'
import { fineractHook } from './fineract.ts'
import { genericEnvelope, genericFlat } from './generic.ts'
import { consumerNotes, indianLoanTape } from './tapes.ts'

/** Most specific first; the first that recognises a record applies. */
export const MAPPINGS: readonly Mapping[] = [fineractHook, genericEnvelope, genericFlat]

/** The first that recognises the header applies. */
export const TAPE_MAPPINGS: readonly FileMapping[] = [consumerNotes, indianLoanTape]

/** The first of a style is the default. */
export const BUREAU_MAPPINGS: readonly FileMapping[] = [segmentAccounts, fixedAccounts]

export const MAPPINGS_CLAIM =
  'A mapping only describes the format of a payload. It implies no partnership with, and no certification by, the owner of that format.'

export function findMapping(id: string): Mapping | undefined {
  return MAPPINGS.find((mapping) => mapping.id === id)
}

export function findFileMapping(id: string): FileMapping | undefined {
  return [...TAPE_MAPPINGS, ...BUREAU_MAPPINGS].find((mapping) => mapping.id === id)
}

export function mappingOfStyle(style: BureauStyle): FileMapping | undefined {
  return BUREAU_MAPPINGS.find((mapping) => mapping.style === style)
}
