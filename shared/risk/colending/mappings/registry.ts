import type { FileMapping } from '../imports/file-mapping.ts'
import type { BureauStyle } from '../imports/import.ts'
import type { Mapping } from '../mapping.ts'
import { fixedAccounts, segmentAccounts } from './bureau.ts'
import { fineractHook } from './fineract.ts'
import { genericEnvelope, genericFlat } from './generic.ts'
import { consumerNotes, indianLoanTape } from './tapes.ts'

/** Every mapping of events, the most specific first: a record is read by the first that recognises it. */
export const MAPPINGS: readonly Mapping[] = [fineractHook, genericEnvelope, genericFlat]

/** Every mapping of tapes: a file is read by the first that recognises its header. */
export const TAPE_MAPPINGS: readonly FileMapping[] = [consumerNotes, indianLoanTape]

/** Every mapping of bureau files: the first of a style is meant when none is named. */
export const BUREAU_MAPPINGS: readonly FileMapping[] = [segmentAccounts, fixedAccounts]

/** Stands wherever mappings are shown. */
export const MAPPINGS_CLAIM =
  'Mappings are adapter shims: each describes only the style of a payload. None claims a partnership with, or a certification by, the owner of that style.'

export function findMapping(id: string): Mapping | undefined {
  return MAPPINGS.find((mapping) => mapping.id === id)
}

export function findFileMapping(id: string): FileMapping | undefined {
  return [...TAPE_MAPPINGS, ...BUREAU_MAPPINGS].find((mapping) => mapping.id === id)
}

/** The mapping by which files of a style are read when none is named. */
export function mappingOfStyle(style: BureauStyle): FileMapping | undefined {
  return BUREAU_MAPPINGS.find((mapping) => mapping.style === style)
}
