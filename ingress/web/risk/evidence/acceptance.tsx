import { NotFoundError } from '#shared/errors.ts'
import { type ListedRequest, listBuyerRequests } from '#shared/risk/acceptance/buyer-request-store.ts'
import { findTimeline, listRecords } from '#shared/risk/acceptance/store.ts'
import { summaryOf } from '#shared/risk/acceptance/summary.ts'
import { inrFigure, instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { Table } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { Copyable, Crumb, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { NextAction } from '../actions.tsx'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { acceptanceForms } from './acceptance-forms.ts'
import { showDilution } from './dilution-page.tsx'
import { codeName, percentText } from './names.ts'
import { type AnchoredRecord, proveRecord, RecordAnchors } from './record-anchor.tsx'

const AREA = { area: 'acceptance' } as const
const RECORD = 'Record an answer'
const ASK = 'Ask the buyer'

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
    actions: rows.length > 0 ? [['/record', RECORD]] : [],
    more: [
      ['/ask', ASK],
      ['/adjust', 'Record an adjustment'],
      ['/measure', 'Measure the dilution of a pair'],
    ],
    variant: 'wide-table stacked',
    columns: [
      {
        title: 'Receivable',
        variant: 'breakable',
        cell: ({ receivableRef }) => <a href={linkTo(receivableRef)}>{receivableRef}</a>,
      },
      { title: 'Answer', isLabelled: true, cell: ({ action }) => <Answer action={action} /> },
      {
        title: 'Amount',
        isLabelled: true,
        variant: 'figure',
        cell: ({ amountAccepted }) => (amountAccepted === null ? '—' : inrFigure(amountAccepted)),
      },
      { title: 'Source', isLabelled: true, cell: ({ channel }) => codeName(channel) },
      { title: 'Tier', isLabelled: true, cell: ({ tier }) => <Tier tier={tier} /> },
      { title: 'Answered', isLabelled: true, cell: ({ at }) => instantText(at) },
    ],
    // Stored as we anchored them.
    rows: rows.map(({ body }) => JSON.parse(body) as Acceptance),
    empty: (
      <EmptyCard
        title="No answers of buyers yet"
        action={mayIn(console, 'edit') ? { label: ASK, href: `${console.base}/acceptance/ask` } : null}
      >
        <ol>
          <li>Ask the buyer by e-mail, or record an answer that you have.</li>
          <li>Record credit notes, deductions and disputes as they come in.</li>
          <li>See how much of the receivable is left, and who confirmed it.</li>
        </ol>
      </EmptyCard>
    ),
    pages,
  })
}

/** @param action null before the first answer */
function Answer({ action }: { action: string | null }) {
  if (action === null) return <span class="pill">no answer</span>
  const isGood = action === 'ACCEPTED' || action === 'DEEMED_ACCEPTED'
  return <span class={isGood ? 'pill good' : action === 'REJECTED' ? 'pill bad' : 'pill'}>{words(action)}</span>
}

async function showTimeline(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config } = context.deps
  const ref = context.params.ref ?? ''
  const timeline = await findTimeline(db, console, ref)
  if (!timeline) throw new NotFoundError('Nothing is recorded about this receivable.')
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
      <Crumb href={`${console.base}/acceptance`} label="Acceptance" />
      <h1>
        Receivable {ref} <Answer action={summary.action} />
      </h1>
      {mayIn(console, 'edit') && (
        <Next
          context={context}
          console={console}
          receivableRef={ref}
          isAnswered={records.some(({ action }) => action !== 'PENDING')}
          requests={requests}
        />
      )}
      <dl class="facts">
        <Fact title="Tier of the answer">{summary.tier === null ? 'no answer yet' : <Tier tier={summary.tier} />}</Fact>
        {summary.conflict && (
          <Fact title="Conflict">
            <span class="pill bad">registry: {words(summary.registryAction)}</span>
          </Fact>
        )}
        {summary.amountInr === null ? (
          <Fact title="Amount">unknown. Record an answer with its invoice to compute the dilution.</Fact>
        ) : (
          <>
            <Fact title="Amount">{inrFigure(summary.amountInr)}</Fact>
            <Fact title="Diluted">{`${inrFigure(summary.dilutedInr)} (${percentText(summary.dilutionBps)})`}</Fact>
            <Fact title="Outstanding">{inrFigure(summary.outstandingInr)}</Fact>
          </>
        )}
      </dl>
      <h2>Timeline</h2>
      <Timeline records={records} adjustments={adjustments} requests={requests} />
      <RecordAnchors proven={proven} publicUrl={config.publicUrl} env={console.env} title="Newest anchor: " />
    </>,
  )
}

function Next(props: {
  context: Context
  console: Console
  receivableRef: string
  isAnswered: boolean
  requests: readonly ListedRequest[]
}) {
  const { context, console, receivableRef, isAnswered, requests } = props
  const at = (path: string, label: string) => ({
    href: `${console.base}/acceptance/${path}?${new URLSearchParams({ receivableRef })}`,
    label,
  })
  const record = at('record', RECORD)
  const adjust = at('adjust', 'Record an adjustment')
  if (isAnswered)
    return (
      <NextAction
        context={context}
        text="Record credit notes, deductions and disputes as they come in."
        actions={[adjust]}
        more={[record, at('ask', ASK)]}
      />
    )
  const open = requests.find(({ state }) => state === 'OPEN')
  if (open)
    return (
      <NextAction
        context={context}
        text={`The buyer can answer until ${instantText(open.expiresAt)}. Record the answer yourself if it comes another way.`}
        actions={[record]}
        more={[adjust, at('ask', 'Ask the buyer again')]}
      />
    )
  return (
    <NextAction
      context={context}
      text="The buyer has not answered. Ask by e-mail, or record an answer that you have."
      actions={[at('ask', ASK), record]}
      more={[adjust]}
    />
  )
}

function Timeline(props: { records: Acceptance[]; adjustments: Adjustment[]; requests: ListedRequest[] }) {
  const entries = [
    ...props.records.map(({ at, action, channel, amountAccepted, tier }) => ({
      at,
      what: codeName(action),
      detail: codeName(channel),
      amount: amountAccepted,
      tier: <Tier tier={tier} />,
    })),
    ...props.adjustments.map(({ at, kind, amountInr }) => ({
      at,
      what: codeName(kind),
      detail: '',
      amount: amountInr,
      tier: null,
    })),
    ...props.requests.map(({ state, expiresAt }) => ({
      at: expiresAt,
      what: 'Answer of the buyer due',
      detail: `Question by e-mail: ${words(state)}`,
      amount: null,
      tier: null,
    })),
  ].toSorted((one, other) => (one.at < other.at ? -1 : 1))
  return (
    <Table
      label="Timeline"
      variant="wide-table stacked"
      columns={[
        { title: 'Date', cell: ({ at }) => instantText(at) },
        { title: 'Event', isLabelled: true, cell: ({ what }) => what },
        { title: 'Source', isLabelled: true, cell: ({ detail }) => detail || '—' },
        {
          title: 'Amount',
          isLabelled: true,
          variant: 'figure',
          cell: ({ amount }) => (amount === null ? '—' : inrFigure(amount)),
        },
        { title: 'Tier', isLabelled: true, cell: ({ tier }) => tier ?? '—' },
      ]}
      rows={entries}
    />
  )
}
