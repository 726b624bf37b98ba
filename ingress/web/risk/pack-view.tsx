import type { Card, CardEvidence } from '#shared/risk/packs/pdf/card.ts'
import { EVIDENCE_SENTENCE, type PackDocument } from '#shared/risk/packs/pdf/document.ts'
import { instantText } from '#shared/risk/packs/pdf/figures.ts'
import { gradeText, missingText, QUESTION_HINT, sourceName } from '#shared/risk/packs/pdf/labels.ts'
import { tierLabel } from '#shared/risk/packs/pdf/tiers.ts'
import { type Column, Table } from '../lists/list.tsx'
import type { PagePart } from '../shell/basics.tsx'
import { PackValue } from './pack-value.tsx'
import { Tier, TierStrip } from './tiers.tsx'

export function packParts({ cards, flags }: PackDocument): PagePart[] {
  return [
    ...cards.map((card) => ({ id: cardId(card), label: card.title })),
    ...(flags.length > 0 ? [{ id: 'pack-notes', label: 'Notes' }] : []),
  ]
}

/**
 * The order is that of the PDF; the anchor follows it.
 * @param borrower undefined on pages for other organisations, because the pack does not contain it
 */
export function PackView({ document, borrower }: { document: PackDocument; borrower?: string | null }) {
  return (
    <>
      <PackHead document={document} borrower={borrower} />
      <TierStrip tiers={document.tiers} />
      <p class="evidence-sentence">{EVIDENCE_SENTENCE}</p>
      <p class="hint">{QUESTION_HINT}</p>
      <div class="signal-cards">
        {document.cards.map((card) => (
          <SignalCard key={card.key} card={card} />
        ))}
      </div>
      {document.flags.length > 0 && (
        <section class="card" aria-labelledby="pack-notes">
          <h2 id="pack-notes">Notes</h2>
          <ul>
            {document.flags.map((flag) => (
              <li key={flag} class="breakable">
                {flag}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function PackHead({ document, borrower }: { document: PackDocument; borrower: string | null | undefined }) {
  const { packId, generatedAt, isSandbox, level, order } = document
  // A pack uses the value of the order if no subcontract value was declared.
  const subcontract = order.subcontract === order.value ? {} : { note: `subcontracts for ${order.subcontract}` }
  return (
    <>
      <p class={`pack-level is-${level.code.toLowerCase()}`}>
        <strong>{level.code}</strong> — {level.meaning}
      </p>
      <ol class="parties" aria-label="Parties of the order">
        <Party label="Buyer" gstin={order.buyer} note={`orders for ${order.value}`} />
        <Party label="Borrower" gstin={borrower ?? null} {...subcontract} />
        <Party label="Subcontractor" gstin={order.subcontractor} />
      </ol>
      <dl class="facts pack-facts">
        <div>
          <dt>Pack number</dt>
          <dd class="mono breakable">{packId}</dd>
        </div>
        <div>
          <dt>Composed</dt>
          <dd>
            <time dateTime={generatedAt}>{instantText(generatedAt)}</time>
            {isSandbox ? ', in the sandbox' : ''}
          </dd>
        </div>
      </dl>
    </>
  )
}

/** @param gstin null if the page does not know it */
function Party({ label, gstin, note }: { label: string; gstin: string | null; note?: string }) {
  return (
    <li>
      <small>{label}</small>
      {gstin === null ? <span class="muted">not named in the pack</span> : <span class="mono breakable">{gstin}</span>}
      {note !== undefined && <small class="figure">{note}</small>}
    </li>
  )
}

function cardId({ key }: Card): string {
  return `signal-${key.replaceAll('.', '-')}`
}

function SignalCard({ card }: { card: Card }) {
  const id = cardId(card)
  const plain = card.values.filter(({ label }) => !OF_INVOICE.test(label))
  return (
    <article class={card.tier === 'MISSING' ? 'card signal-card is-missing' : 'card signal-card'} aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{card.title}</h2>
        <Tier tier={card.tier} />
      </header>
      {card.detail && <p class="breakable">{card.detail}</p>}
      {plain.length > 0 && (
        <dl class="signal-values">
          {plain.map(({ label, value }) => (
            <div key={label + value}>
              <dt>{label}</dt>
              <dd class={value === 'missing' ? 'figure is-missing' : 'figure'}>
                <PackValue value={value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <Invoices values={card.values} title={card.title} />
      <Table
        label={`Evidence of ${card.title}`}
        frame="scroll"
        variant="evidence stacked"
        columns={EVIDENCE_COLUMNS}
        rows={card.evidence}
      />
      {card.grade && (
        <p class="hint" title={card.grade}>
          Question: {gradeText(card.grade)}
        </p>
      )}
    </article>
  )
}

/** `Invoice 2 value` is the value of the second invoice. */
const OF_INVOICE = /^Invoice (\d+) (.+)$/

/** Omits unknown values. */
function Invoices({ values, title }: { values: Card['values']; title: string }) {
  const cells = values.flatMap(({ label, value }) => {
    const [, n = '', what = ''] = OF_INVOICE.exec(label) ?? []
    return n === '' ? [] : [{ n, what, value }]
  })
  if (cells.length === 0) return null
  const columns = [...new Set(cells.map(({ what }) => what))]
  return (
    <Table
      label={`Invoices of ${title}`}
      frame="scroll invoices"
      variant=""
      columns={[
        { title: 'Invoice', isHeading: true, cell: ([n]) => n },
        ...columns.map((column) => ({
          title: `${column.charAt(0).toUpperCase()}${column.slice(1)}`,
          variant: 'figure',
          cell: ([, own]: [string, typeof cells]) => (
            <PackValue value={own.find(({ what }) => what === column)?.value ?? '—'} />
          ),
        })),
      ]}
      rows={[...Map.groupBy(cells, ({ n }) => n)]}
    />
  )
}

const EVIDENCE_COLUMNS: Column<CardEvidence>[] = [
  { title: 'Value', cell: ({ label }) => label },
  {
    title: 'Tier',
    cell: ({ tier, missingReason }) =>
      tier === 'MISSING' ? <span class="is-missing">{missingText(missingReason ?? null)}</span> : tierLabel(tier),
  },
  { title: 'Source', hint: ({ source }) => source, isLabelled: true, cell: ({ source }) => sourceName(source) },
  {
    title: 'As of (UTC)',
    variant: 'figure',
    isLabelled: true,
    cell: ({ asOf, observedAt }) => instantText(asOf ?? observedAt).replace(/ UTC$/, ''),
  },
  {
    title: 'Consent',
    variant: 'breakable',
    isLabelled: true,
    cell: ({ consent }) => (consent ? consentText(consent) : '—'),
  },
]

function consentText({ handle, expiresAt }: NonNullable<CardEvidence['consent']>): string {
  return expiresAt === null ? handle : `${handle}, until ${instantText(expiresAt)}`
}
