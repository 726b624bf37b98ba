import { NotFoundError } from '#shared/errors.ts'
import { parseWith } from '#shared/parse-with.ts'
import type { AntiDilution } from '#shared/risk/acceptance/anti-dilution.ts'
import { type ListedRequest, listBuyerRequests } from '#shared/risk/acceptance/buyer-request-store.ts'
import { DilutionQuery } from '#shared/risk/acceptance/dilution-query.ts'
import { findTimeline, listRecords } from '#shared/risk/acceptance/store.ts'
import { summaryOf } from '#shared/risk/acceptance/summary.ts'
import { runDilution } from '#shared/risk/operations/acceptance-requests.ts'
import { inrFigure, instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { Table } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { Copyable, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, loadConsole, sendConsole, sendList } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { acceptanceForms } from './acceptance-forms.ts'
import { requireFamily } from './form.tsx'
import { WAIT_MS } from './job-context.ts'
import { sendPending } from './parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchors } from './record-anchor.tsx'

const AREA = { area: 'acceptance' } as const

interface Acceptance extends AnchoredRecord {
  acceptanceId: string
  receivableRef: string
  channel: string
  action: string
  amountAccepted: number | null
  at: string
  tier: string
}

interface Adjustment extends AnchoredRecord {
  adjustmentId: string
  kind: string
  amountInr: number
  at: string
}

export function acceptancePages(pages: Pages): void {
  pages.get(`${CONSOLE}/acceptance`, showList)
  acceptanceForms(pages)
  pages.get(`${CONSOLE}/acceptance/dilution`, showDilution)
  pages.get(`${CONSOLE}/acceptance/receivables/:ref`, showTimeline)
}

async function showList(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { rows, pages } = await readBySeq(context, (before, limit) =>
    listRecords(context.deps.db, console, before, limit),
  )
  const linkTo = (ref: string) => `${console.base}/acceptance/receivables/${encodeURIComponent(ref)}`
  sendList(context, console, {
    ...AREA,
    title: 'Acceptance',
    label: 'Records',
    path: '/acceptance',
    actions: [
      ['/record', 'Record'],
      ['/adjust', 'Adjustment'],
      ['/ask', 'Ask the buyer'],
      ['/measure', 'Dilution of a pair'],
    ],
    columns: [
      {
        title: 'Receivable',
        variant: 'breakable',
        cell: ({ receivableRef }) => <a href={linkTo(receivableRef)}>{receivableRef}</a>,
      },
      { title: 'Answer', cell: ({ action }) => words(action) },
      { title: 'Tier', cell: ({ tier }) => <Tier tier={tier} /> },
      { title: 'At', cell: ({ at }) => instantText(at) },
    ],
    // Stored as we anchored them.
    rows: rows.map(({ body }) => JSON.parse(body) as Acceptance),
    empty: 'Nothing is recorded yet.',
    pages,
  })
}

async function showTimeline(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config } = context.deps
  const ref = context.params.ref ?? ''
  const timeline = await findTimeline(db, console, ref)
  if (!timeline) throw new NotFoundError('Nothing is recorded of this receivable.')
  const requests = await listBuyerRequests(db, console, ref)
  const records = timeline.records.map(({ body }) => JSON.parse(body) as Acceptance)
  const adjustments = timeline.adjustments.map(({ body }) => JSON.parse(body) as Adjustment)
  const summary = summaryOf(timeline)
  const proven = await Promise.all(
    [records.at(-1), adjustments.at(-1)].flatMap((record) => (record ? [proveRecord(db, record)] : [])),
  )
  sendConsole(
    context,
    console,
    { ...AREA, title: 'Receivable' },
    <>
      {context.flash.secret !== undefined && (
        <p class="notice" role="status">
          The sandbox sends no mail. The buyer’s link: <Copyable text={context.flash.secret} label="the buyer’s link" />
        </p>
      )}
      <h1>Receivable</h1>
      <dl class="facts">
        <Fact title="Reference">{ref}</Fact>
        <Fact title="Latest answer">{words(summary.action)}</Fact>
        <Fact title="Tier">{summary.tier === null ? 'missing' : <Tier tier={summary.tier} />}</Fact>
        {summary.conflict && <Fact title="Conflict">{`registry: ${words(summary.registryAction)}`}</Fact>}
        <Fact title="Amount">{inrFigure(summary.amountInr)}</Fact>
        <Fact title="Diluted">{inrFigure(summary.dilutedInr)}</Fact>
        <Fact title="Dilution">{bps(summary.dilutionBps)}</Fact>
        <Fact title="Outstanding">{inrFigure(summary.outstandingInr)}</Fact>
      </dl>
      <Timeline records={records} adjustments={adjustments} requests={requests} />
      <RecordAnchors proven={proven} publicUrl={config.publicUrl} env={console.env} title="Anchor of the newest" />
    </>,
  )
}

const bps = (value: number | null) => (value === null ? 'missing' : `${(value / 100).toFixed(2)} %`)

function Timeline(props: { records: Acceptance[]; adjustments: Adjustment[]; requests: ListedRequest[] }) {
  const entries = [
    ...props.records.map(({ at, action, channel, amountAccepted, tier }) => ({
      at,
      what: words(action),
      detail: words(channel),
      amount: amountAccepted,
      tier: <Tier tier={tier} />,
    })),
    ...props.adjustments.map(({ at, kind, amountInr }) => ({
      at,
      what: words(kind),
      detail: '',
      amount: amountInr,
      tier: null,
    })),
    ...props.requests.map(({ state, expiresAt }) => ({
      at: expiresAt,
      what: 'question sent to the buyer; answer due',
      detail: words(state),
      amount: null,
      tier: null,
    })),
  ].toSorted((one, other) => (one.at < other.at ? -1 : 1))
  return (
    <Table
      label="Timeline"
      columns={[
        { title: 'At', cell: ({ at }) => instantText(at) },
        { title: 'Event', cell: ({ what }) => what },
        { title: 'By', cell: ({ detail }) => detail },
        { title: 'Amount', variant: 'figure', cell: ({ amount }) => (amount === null ? '—' : inrFigure(amount)) },
        { title: 'Tier', cell: ({ tier }) => tier ?? '—' },
      ]}
      rows={entries}
    />
  )
}

async function showDilution(context: Context): Promise<void> {
  const console = await requireFamily(context, 'risk-signals')
  const { deps, query } = context
  const page = { ...AREA, title: 'Dilution' }
  const { organisationId, env } = console
  const pair = parseWith(DilutionQuery, Object.fromEntries(query), 'the address')
  const answer = await runDilution({ caller: { organisationId, env }, deps, waitMs: WAIT_MS }, pair)
  if (answer.status === 202) return sendPending(context, console, page)
  // Stored as we answered it.
  const measured = JSON.parse(answer.body) as AntiDilution
  sendConsole(
    context,
    console,
    page,
    <>
      <h1>Dilution</h1>
      <dl class="facts">
        <Fact title="Supplier">{measured.supplierGstin}</Fact>
        <Fact title="Buyer">{measured.buyerGstin}</Fact>
        <Fact title="Tier">
          <Tier tier={measured.tier} />
        </Fact>
        {measured.missingReason !== null && <Fact title="Missing">{words(measured.missingReason)}</Fact>}
        <Fact title="Months known">{measured.monthsKnown ?? 'missing'}</Fact>
        <Fact title="Invoiced">{inrFigure(measured.grossValueInr)}</Fact>
        <Fact title="Credit notes">{inrFigure(measured.creditNoteValueInr)}</Fact>
        <Fact title="Ratio">{bps(measured.creditNoteRatioBps)}</Fact>
        {measured.worstMonth && (
          <Fact title="Worst month">{`${measured.worstMonth.month}: ${bps(measured.worstMonth.ratioBps)}`}</Fact>
        )}
        <Fact title="Disputes">{`${measured.disputes.open} open, ${inrFigure(measured.disputes.valueInr)}`}</Fact>
        <Fact title="Rules">{measured.policyVersion}</Fact>
      </dl>
      <Table
        label="Observations"
        columns={[
          { title: 'Observation', variant: 'mono', cell: ({ code }) => code },
          { title: 'Observed', variant: 'figure', cell: ({ observed }) => observed },
          { title: 'Threshold', variant: 'figure', cell: ({ threshold }) => threshold },
          { title: 'Meaning', cell: ({ text }) => text },
        ]}
        rows={measured.observations}
      />
    </>,
  )
}
