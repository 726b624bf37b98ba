import type { ComponentChildren } from 'preact'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import type { Context } from '../../shell/context.ts'
import { fieldLabels } from '../identity/parts.tsx'
import { Tier } from '../tiers.tsx'
import type { FormField } from './form.tsx'
import type { AnchoredRecord } from './record-anchor.tsx'

/** The heading of a list, and what who may edit can begin there: the first of it is what most come for. */
export function ListHead(props: { title: string; actions: readonly { href: string; label: string }[] }) {
  return (
    <div class="page-head">
      <h1>{props.title}</h1>
      {props.actions.length > 0 && (
        <p class="row">
          {props.actions.map(({ href, label }, index) => (
            <a key={href} class={index === 0 ? 'button primary' : 'button'} href={href}>
              {label}
            </a>
          ))}
        </p>
      )}
    </div>
  )
}

/** The way to the newest page of a list, and to the one after this. @param base the list's address */
export function Pager(props: { base: string; isFirst: boolean; nextCursor: string | null }) {
  const { base, isFirst, nextCursor } = props
  return (
    <nav class="pager" aria-label="Pages">
      {!isFirst && <a href={base}>Newest</a>}
      {nextCursor !== null && (
        <a rel="next" href={`${base}?cursor=${nextCursor}`}>
          Older
        </a>
      )}
    </nav>
  )
}

/** A table that scrolls by itself where it is wider than the window. */
export function Table({
  label,
  columns,
  children,
}: {
  label: string
  columns: readonly string[]
  children: ComponentChildren
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="card table-card scroll" tabIndex={0} aria-label={label}>
      <table class="plain-table wide-table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

/** What the request before left to say. */
export function Said({ context }: { context: Context }) {
  return context.flash.notice === undefined ? null : (
    <p class="notice" role="status">
      {context.flash.notice}
    </p>
  )
}

/** While a worker is at it; the page looks again by itself. */
export function Pending({ title }: { title: string }) {
  return (
    <>
      <h1>{title}</h1>
      <p class="notice" role="status">
        The registries are being asked. This page shows the result as soon as it is there.
      </p>
    </>
  )
}

const TYPES = [
  { value: 'INV', label: 'Invoice' },
  { value: 'CRN', label: 'Credit note' },
  { value: 'DBN', label: 'Debit note' },
]

/** The members of a receivable. @param prefix of their names, with its dot */
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
    { name: `${prefix}documentDate`, label: 'Date', hint: 'YYYY-MM-DD', isRequired: true, demo: '2026-05-01' },
    { name: `${prefix}totalInr`, label: 'Amount (₹)', kind: 'number', isRequired: true, demo: '118000' },
  ]
}

/** A verification of a business, as it was anchored. */
export interface Verification extends AnchoredRecord {
  verificationId: string
  vei: string | null
  checks: { key: string; tier: string; result: string; detail: string }[]
}

/** `gstin.legalName` as people read it: `GSTIN: legal name`. */
function checkName(key: string): string {
  const [of = '', what] = key.split('.')
  const subject = /^(gstin|cin|lei|pan|llpin|udyam)$/.test(of) ? of.toUpperCase() : fieldLabels(of)
  return what === undefined ? subject : `${subject.charAt(0).toUpperCase()}${subject.slice(1)}: ${fieldLabels(what)}`
}

/** What each check of a verification found. */
export function Checks({ checks }: Pick<Verification, 'checks'>) {
  return (
    <Table label="Checks" columns={['Check', 'Result', 'Tier', 'Detail']}>
      {checks.map(({ key, result, tier, detail }) => (
        <tr key={key}>
          <td title={key}>{checkName(key)}</td>
          <td>
            <span class={result === 'MISMATCH' ? 'pill bad' : result === 'MATCH' ? 'pill good' : 'pill'}>
              {result.toLowerCase()}
            </span>
          </td>
          <td>
            <Tier tier={tier} />
          </td>
          <td>{/^[A-Z][A-Z_]+$/.test(detail) ? words(detail) : detail}</td>
        </tr>
      ))}
    </Table>
  )
}
