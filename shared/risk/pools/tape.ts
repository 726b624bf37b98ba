import { type CsvCell, csvText } from '../evidence/values.ts'
import { daysBetween } from '../packs/money.ts'
import type { Receivable } from '../receivables/evidence-object.ts'

export const TAPE_FORMATS = ['csv', 'json', 'esma-annex4'] as const
export type TapeFormat = (typeof TAPE_FORMATS)[number]

export interface CutMember {
  reference: string
  receivable: Receivable
}

const COLUMNS = [
  'receivableId',
  'reference',
  'supplierVei',
  'buyerVei',
  'fingerprintRef',
  'amountInr',
  'currency',
  'issueDate',
  'dueDate',
  'daysToDue',
  'irnPresent',
  'acceptance',
  'doubleFinancing',
  'tier',
  'payloadSha256',
  'txId',
] as const
type Row = Record<(typeof COLUMNS)[number], string | number | boolean | null>

/** In every record of the ESMA form, because most of its fields are unknown. */
const ESMA_LABEL = 'ESMA Annex 4, partial'
/** Codes of the form for an empty field: not collected; not applicable. */
const NOT_COLLECTED = 'ND1'
const NOT_APPLICABLE = 'ND5'
/** The first fields of Annex IV to Delegated Regulation (EU) 2020/1224: identifiers, dates, balances. */
const ESMA_CODES = Array.from({ length: 41 }, (_, index) => `CRPL${index + 1}`)

export function tapeHead(format: TapeFormat, cut: { cutRecordId: string; poolId: string; cutOffDate: string }): string {
  if (format === 'csv') return csvText([COLUMNS])
  if (format === 'esma-annex4') return csvText([['form', ...ESMA_CODES]])
  const { cutRecordId, poolId, cutOffDate } = cut
  return `${JSON.stringify({ cutId: cutRecordId, poolId, cutOffDate }).slice(0, -1)},"receivables":[`
}

/** Unknown values are empty, null or a no-data code. */
export function tapePart(
  format: TapeFormat,
  members: readonly CutMember[],
  { from, cutOffDate }: { from: number; cutOffDate: string },
): string {
  const rows = members.map((member) => rowOf(member, cutOffDate))
  if (format === 'csv') return csvText(rows.map((row) => COLUMNS.map((column) => cellOf(row[column]))))
  if (format === 'esma-annex4') return csvText(rows.map((row) => esmaCells(row, cutOffDate)))
  return rows.map((row, index) => (from + index === 0 ? '' : ',') + JSON.stringify(row)).join('')
}

export function tapeTail(format: TapeFormat): string {
  return format === 'json' ? ']}' : ''
}

function rowOf({ reference, receivable }: CutMember, cutOffDate: string): Row {
  const { receivableId, supplierVei, buyerVei, fingerprintRef, amountInr, currency, issueDate, dueDate } = receivable
  const { irnPresent, acceptance, doubleFinancing, evidence, anchor } = receivable
  return {
    receivableId,
    reference,
    supplierVei,
    buyerVei,
    fingerprintRef,
    amountInr,
    currency,
    issueDate,
    dueDate,
    daysToDue: dueDate === null ? null : daysBetween(cutOffDate, dueDate),
    irnPresent,
    acceptance,
    doubleFinancing,
    tier: evidence[0]?.tier ?? null,
    payloadSha256: anchor.payloadSha256,
    txId: anchor.txId,
  }
}

function cellOf(value: Row[keyof Row]): CsvCell {
  return typeof value === 'boolean' ? String(value) : value
}

/** The current balance is unknown, because no evidence covers later payments. */
function esmaCells(row: Row, cutOffDate: string): CsvCell[] {
  const known: Record<string, CsvCell> = {
    CRPL2: cellOf(row.receivableId),
    CRPL3: cellOf(row.receivableId),
    CRPL4: cellOf(row.buyerVei),
    CRPL5: cellOf(row.buyerVei),
    CRPL6: cutOffDate,
    CRPL33: cellOf(row.issueDate),
    CRPL34: cellOf(row.dueDate),
    CRPL37: cellOf(row.currency),
    CRPL38: cellOf(row.amountInr),
    CRPL39: null,
  }
  return [ESMA_LABEL, ...ESMA_CODES.map((code) => known[code] ?? (code in known ? NOT_COLLECTED : NOT_APPLICABLE))]
}
