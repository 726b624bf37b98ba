import type { ColumnRule, FileMapping, RowTarget } from '#shared/risk/colending/imports/file-mapping.ts'
import { sampleCells } from '#shared/risk/colending/imports/sample.ts'
import { BUREAU_MAPPINGS, TAPE_MAPPINGS } from '#shared/risk/colending/mappings/registry.ts'
import { Table } from '../lists/list.tsx'

const NAMES: Readonly<Record<string, string>> = {
  'consumer-notes-csv': 'Consumer notes (CSV)',
  'in-loan-tape': 'Co-lent loans (CSV)',
  'segment-tlv-accounts': 'Bureau file, tagged segments',
  'fixed-record-accounts': 'Bureau file, fixed positions',
}

/** The name for people of a mapping or, before the header was read, of a style. */
export function formatName(mapping: string | null): string {
  if (mapping === null) return 'Loan tape (CSV)'
  return NAMES[mapping.replace(/@\d+$/, '')] ?? mapping
}

export const FORMATS = [
  { value: '', label: 'Loan tape (CSV), recognised by its header' },
  ...[...TAPE_MAPPINGS, ...BUREAU_MAPPINGS].map(({ id }) => ({ value: id, label: formatName(id) })),
]

const MEANINGS: Readonly<Record<RowTarget, string>> = {
  loanRef: 'Loan account',
  occurredAt: 'Date of the loan',
  'amounts.principal': 'Principal (₹)',
  'amounts.interest': 'Interest (₹)',
  'amounts.outstanding': 'Outstanding (₹)',
  dpd: 'Days past due',
  'share.lender': 'Share of the lender (%)',
  'share.colender': 'Share of the co-lender (%)',
  'facts.assetClass': 'Asset class',
  'facts.fundedAmount': 'Funded amount (₹)',
  'facts.interestRateBps': 'Interest rate (%)',
  'facts.principalRepaid': 'Principal repaid (₹)',
  'facts.reportedOn': 'Reported on',
  'facts.status': 'Status',
  'facts.termMonths': 'Term in months',
}

/** The columns of each format, with samples. */
export function ExpectedColumns({ base, chosen }: { base: string; chosen: string }) {
  return (
    <section aria-labelledby="columns">
      <h2 id="columns">Expected columns</h2>
      <p class="muted">
        Columns may be in any order, and other columns may be present. Text before the header and lines of totals are
        skipped.
      </p>
      {[...TAPE_MAPPINGS, ...BUREAU_MAPPINGS].map((mapping, index) => (
        <details key={mapping.id} class="more" open={chosen === '' ? index === 0 : chosen === mapping.id}>
          <summary>{formatName(mapping.id)}</summary>
          <Columns mapping={mapping} />
          {mapping.kind === 'TAPE' && (
            <p>
              <a href={`${base}/samples/${mapping.id}`}>Download a sample file (CSV)</a>
            </p>
          )}
        </details>
      ))}
    </section>
  )
}

function Columns({ mapping }: { mapping: FileMapping }) {
  const { columns, recognisedBy } = mapping
  const read = columns.filter(({ personal }) => !personal)
  const dropped = columns.filter(({ personal }) => personal).map(({ from }) => from)
  return (
    <>
      <Table
        label={`Columns of ${formatName(mapping.id)}`}
        variant="stacked"
        columns={[
          { title: mapping.kind === 'TAPE' ? 'Column' : 'Field', variant: 'mono', cell: ({ from }) => from },
          { title: 'Contains', isLabelled: true, cell: ({ target }) => target !== null && MEANINGS[target] },
          { title: 'Required', isLabelled: true, cell: (column) => requirement(column, recognisedBy) },
          { title: 'Sample', variant: 'mono', isLabelled: true, cell: (column) => sampleCells(column)?.[0] },
        ]}
        rows={read}
      />
      <p class="hint">Never read, because they are about persons: {dropped.join(', ')}.</p>
    </>
  )
}

function requirement({ from, required }: ColumnRule, recognisedBy: readonly string[]): string {
  if (required) return 'yes'
  return recognisedBy.includes(from) ? 'the column; cells may be empty' : 'no'
}
