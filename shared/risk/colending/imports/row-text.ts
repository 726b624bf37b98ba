import { hash } from 'node:crypto'
import { canonicalize } from '../../../canonical/jcs.ts'
import type { FileMapping } from './file-mapping.ts'
import type { Import } from './import.ts'
import type { ReportedLoan, StoredRow } from './row.ts'

export interface WrittenRow extends StoredRow {
  hash: Buffer
}

interface SourceRow {
  loan: Reported
  line: number
  loanRef: string
  sourceRecordSha256: string
  unread: string[]
}

type Reported = Omit<ReportedLoan, 'unmapped'>
type LoanValues = Reported | Reported[keyof Reported] | Reported['facts'][keyof Reported['facts']]

export function rowText({ body, unread }: StoredRow, unmapped: readonly string[]): string {
  return `${body.slice(0, -1)},"unmapped":${canonicalize([...unmapped, ...unread])}}`
}

/** A repeated read gives the same id. `loanRef` is a keyed hash, hex. */
function contractIdOf(importId: string, loanRef: string): string {
  const hex = hash('sha256', `${importId}/${loanRef}`, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * Concatenates canonical JSON (RFC 8785), because sorting names per row is slow. `unmapped` are names of columns that
 * no row of the file uses.
 */
export function rowWriter(
  { id, receivedAt }: Pick<Import, 'id' | 'receivedAt'>,
  { id: sourceFormat, sourceSystem }: Pick<FileMapping, 'id' | 'sourceSystem'>,
  unmapped: readonly string[],
): (row: SourceRow) => WrittenRow {
  const importId = canonicalize(id)
  const format = `"sourceFormat":${canonicalize(sourceFormat)}`
  const end = `"sourceSystem":${canonicalize(sourceSystem)},"tier":"LENDER_SIDE","timestamp":${canonicalize(receivedAt.toISOString())}}`
  const allRead = `${canonicalize([...unmapped])}}`
  return ({ loan, line, loanRef, sourceRecordSha256, unread }) => {
    const { amounts, facts, share } = loan
    const body =
      `{"amounts":{"interest":${text(amounts.interest)},"outstanding":${text(amounts.outstanding)},` +
      `"principal":${text(amounts.principal)}},"contractId":"${contractIdOf(id, loanRef)}","dpd":${text(loan.dpd)},` +
      `"eventType":"loan.reported","facts":{"assetClass":${text(facts.assetClass)},` +
      `"fundedAmount":${text(facts.fundedAmount)},"interestRateBps":${text(facts.interestRateBps)},` +
      `"principalRepaid":${text(facts.principalRepaid)},"reportedOn":${text(facts.reportedOn)},` +
      `"status":${text(facts.status)},"termMonths":${text(facts.termMonths)}},"importId":${importId},` +
      `"line":${line},"loanRef":"${loanRef}","observations":${text(loan.observations)},` +
      `"occurredAt":${text(loan.occurredAt)},"share":{"colender":${text(share.colender)},` +
      `"lender":${text(share.lender)}},${format},"sourceRecordSha256":"${sourceRecordSha256}",${end}`
    const whole =
      unread.length === 0 ? `${body.slice(0, -1)},"unmapped":${allRead}` : rowText({ body, unread }, unmapped)
    return { body, unread, hash: hash('sha256', whole, 'buffer') }
  }
}

function text(value: LoanValues): string {
  return value === null ? 'null' : canonicalize(value)
}
