import { NotFoundError } from '#shared/errors.ts'
import { parseWith } from '#shared/parse-with.ts'
import type { AntiDilution } from '#shared/risk/acceptance/anti-dilution.ts'
import { type ListedRequest, listBuyerRequests } from '#shared/risk/acceptance/buyer-request-store.ts'
import { DilutionQuery } from '#shared/risk/acceptance/dilution-query.ts'
import { findTimeline, listRecords } from '#shared/risk/acceptance/store.ts'
import { summaryOf } from '#shared/risk/acceptance/summary.ts'
import { runDilution } from '#shared/risk/operations/acceptance-requests.ts'
import { inrFigure, instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { paged, sealCursor, unsealCursor } from '../../../paging.ts'
import { Fact } from '../../components/basics.tsx'
import { Copyable } from '../../components/form.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { acceptanceForms } from './acceptance-forms.ts'
import { requireFamily } from './form.tsx'
import { WAIT_MS } from './job-context.ts'
import { ListHead, Pager, Pending, Said, Table } from './parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchors } from './record-anchor.tsx'

const PAGE_SIZE = 50
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

/** What buyers said of receivables, what became of them, and the dilution of a pair. */
export function acceptancePages(pages: Pages): void {
  pages.get(`${CONSOLE}/acceptance`, showList)
  acceptanceForms(pages)
  pages.get(`${CONSOLE}/acceptance/dilution`, showDilution)
  pages.get(`${CONSOLE}/acceptance/receivables/:ref`, showTimeline)
}

async function showList(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, secrets } = context.deps
  const cursor = unsealCursor(context.query.get('cursor') ?? undefined, secrets)
  const rows = await listRecords(db, console, cursor, PAGE_SIZE + 1)
  const { page, nextCursor } = paged(rows, PAGE_SIZE, ({ seq }) => sealCursor(seq, secrets))
  const base = `${console.base}/acceptance`
  // Stored as we anchored them.
  const records = page.map(({ body }) => JSON.parse(body) as Acceptance)
  sendConsole(
    context,
    console,
    { ...AREA, title: 'Acceptance' },
    <>
      <ListHead
        title="Acceptance"
        actions={
          mayIn(console, 'edit')
            ? [
                { href: `${base}/record`, label: 'Record' },
                { href: `${base}/adjust`, label: 'Adjustment' },
                { href: `${base}/ask`, label: 'Ask the buyer' },
                { href: `${base}/measure`, label: 'Dilution of a pair' },
              ]
            : []
        }
      />
      {records.length === 0 ? (
        <p class="empty">Nothing is recorded yet.</p>
      ) : (
        <Table label="Records" columns={['Receivable', 'Said', 'Tier', 'At']}>
          {records.map(({ acceptanceId, receivableRef, action, tier, at }) => (
            <tr key={acceptanceId}>
              <td class="breakable">
                <a href={`${base}/receivables/${encodeURIComponent(receivableRef)}`}>{receivableRef}</a>
              </td>
              <td>{words(action)}</td>
              <td>
                <Tier tier={tier} />
              </td>
              <td>{instantText(at)}</td>
            </tr>
          ))}
        </Table>
      )}
      <Pager base={base} isFirst={cursor === null} nextCursor={nextCursor} />
    </>,
  )
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
      <Said context={context} />
      {context.flash.secret !== undefined && (
        <p class="notice" role="status">
          The sandbox sends no mail. The buyer’s link: <Copyable text={context.flash.secret} label="the buyer’s link" />
        </p>
      )}
      <h1>Receivable</h1>
      <dl class="facts">
        <Fact title="Reference">{ref}</Fact>
        <Fact title="Said last">{words(summary.action)}</Fact>
        <Fact title="Tier">{summary.tier === null ? 'missing' : <Tier tier={summary.tier} />}</Fact>
        {summary.conflict && <Fact title="Conflict">{`the registry says ${words(summary.registryAction)}`}</Fact>}
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
    ...props.records.map(({ acceptanceId, at, action, channel, amountAccepted, tier }) => ({
      key: acceptanceId,
      at,
      what: words(action),
      detail: words(channel),
      amount: amountAccepted,
      tier: <Tier tier={tier} />,
    })),
    ...props.adjustments.map(({ adjustmentId, at, kind, amountInr }) => ({
      key: adjustmentId,
      at,
      what: words(kind),
      detail: '',
      amount: amountInr,
      tier: null,
    })),
    ...props.requests.map(({ requestId, state, expiresAt }) => ({
      key: requestId,
      at: expiresAt,
      what: 'buyer asked; the answer is due',
      detail: words(state),
      amount: null,
      tier: null,
    })),
  ].toSorted((one, other) => (one.at < other.at ? -1 : 1))
  return (
    <Table label="Timeline" columns={['At', 'What', 'By', 'Amount', 'Tier']}>
      {entries.map(({ key, at, what, detail, amount, tier }) => (
        <tr key={key}>
          <td>{instantText(at)}</td>
          <td>{what}</td>
          <td>{detail}</td>
          <td class="figure">{amount === null ? '—' : inrFigure(amount)}</td>
          <td>{tier ?? '—'}</td>
        </tr>
      ))}
    </Table>
  )
}

async function showDilution(context: Context): Promise<void> {
  const console = await requireFamily(context, 'risk-signals')
  const { deps, query } = context
  const page = { ...AREA, title: 'Dilution' }
  const { organisationId, env } = console
  const pair = parseWith(DilutionQuery, Object.fromEntries(query), 'the address')
  const answer = await runDilution({ caller: { organisationId, env }, deps, waitMs: WAIT_MS }, pair)
  if (answer.status === 202) {
    return sendConsole(context, console, { ...page, pollSeconds: 2 }, <Pending title="Dilution" />)
  }
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
      {measured.observations.length > 0 && (
        <Table label="Observations" columns={['Observation', 'Observed', 'Threshold', 'Meaning']}>
          {measured.observations.map(({ code, observed, threshold, text }) => (
            <tr key={code}>
              <td class="mono">{code}</td>
              <td class="figure">{observed}</td>
              <td class="figure">{threshold}</td>
              <td>{text}</td>
            </tr>
          ))}
        </Table>
      )}
    </>,
  )
}
