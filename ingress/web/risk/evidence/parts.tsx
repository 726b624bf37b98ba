import { words } from '#shared/risk/packs/pdf/figures.ts'
import type { FormField } from '../../forms/fields.tsx'
import { type Column, Table } from '../../lists/list.tsx'
import type { Context } from '../../shell/context.ts'
import type { RiskArea } from '../../shell/navigation.ts'
import { type Console, sendConsole } from '../console.tsx'
import { fieldLabels } from '../identity/parts.tsx'
import { Tier } from '../tiers.tsx'
import type { AnchoredRecord } from './record-anchor.tsx'

/** Sends a page that polls until the worker has finished. */
export function sendPending(context: Context, console: Console, page: { title: string; area: RiskArea }): void {
  sendConsole(
    context,
    console,
    { ...page, pollSeconds: 2 },
    <>
      <h1>{page.title}</h1>
      <p class="notice" role="status">
        The registries are being queried. This page shows the result when it arrives.
      </p>
    </>,
  )
}

const TYPES = [
  { value: 'INV', label: 'Invoice' },
  { value: 'CRN', label: 'Credit note' },
  { value: 'DBN', label: 'Debit note' },
]

export const RECEIVABLE_TYPES: ReadonlyMap<string, string> = new Map(TYPES.map(({ value, label }) => [value, label]))

/** @param prefix of member names, including its dot */
export function receivableFields(prefix = ''): FormField[] {
  return [
    {
      name: `${prefix}supplierGstin`,
      label: 'Supplier (GSTIN)',
      isMono: true,
      isRequired: true,
      demo: '29AAACR5678D1Z5',
    },
    { name: `${prefix}buyerGstin`, label: 'Buyer (GSTIN)', isMono: true, isRequired: true, demo: '27AAACB1234C1ZF' },
    { name: `${prefix}documentType`, label: 'Type', kind: 'select', options: TYPES, value: 'INV' },
    { name: `${prefix}documentNumber`, label: 'Number', isMono: true, isRequired: true, demo: 'INV/001' },
    { name: `${prefix}documentDate`, label: 'Date', kind: 'date', isRequired: true, demo: '2026-05-01' },
    { name: `${prefix}totalInr`, label: 'Amount (₹)', kind: 'number', isRequired: true, demo: '118000' },
  ]
}

export interface Verification extends AnchoredRecord {
  verificationId: string
  vei: string | null
  checks: { key: string; tier: string; result: string; detail: string }[]
}

/** Converts `gstin.legalName` to `GSTIN: legal name`. */
export function checkName(key: string): string {
  const [of = '', what] = key.split('.')
  const subject =
    of === 'ebrc' ? 'e-BRC' : /^(gstin|cin|lei|pan|llpin|udyam|iec)$/.test(of) ? of.toUpperCase() : fieldLabels(of)
  const name = of === 'ebrc' ? subject : subject.charAt(0).toUpperCase() + subject.slice(1)
  return what === undefined ? subject : `${name}: ${fieldLabels(what)}`
}

const CHECK_COLUMNS: Column<Verification['checks'][number]>[] = [
  { title: 'Check', hint: ({ key }) => key, cell: ({ key }) => checkName(key) },
  {
    title: 'Result',
    isLabelled: true,
    cell: ({ result }) => (
      <span class={result === 'MISMATCH' ? 'pill bad' : result === 'MATCH' ? 'pill good' : 'pill'}>
        {result.toLowerCase()}
      </span>
    ),
  },
  { title: 'Tier', isLabelled: true, cell: ({ tier }) => <Tier tier={tier} /> },
  { title: 'Detail', isLabelled: true, cell: ({ detail }) => detailText(detail) },
]

/** `similarity 985 of 1000` becomes a percentage, and codes become words. */
function detailText(detail: string): string {
  const [, permille] = /^similarity ([0-9]+) of 1000$/.exec(detail) ?? []
  if (permille !== undefined) return `${Number(permille) / 10} % similar`
  return detail.replace(/^(registration )?([A-Z][A-Z_]+)$/, (_, before = '', code) => before + words(code))
}

export function Checks({ checks }: Pick<Verification, 'checks'>) {
  return <Table label="Checks" variant="wide-table stacked" columns={CHECK_COLUMNS} rows={checks} />
}
