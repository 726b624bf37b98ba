import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { findDispute } from '#shared/risk/first-financing/dispute-store.ts'
import { listRegistrations } from '#shared/risk/first-financing/registration-store.ts'
import { stateAt } from '#shared/risk/first-financing/states.ts'
import { CHECKS, DISPUTES } from '#shared/risk/operations/financing-requests.ts'
import { dayText, instantText } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { Form } from '../../forms/form.tsx'
import { MonoLink, Table } from '../../lists/list.tsx'
import { readByTime } from '../../lists/paging.ts'
import { Ago, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { financingForms } from './financing-forms.ts'
import { sendPending } from './parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchor } from './record-anchor.tsx'
import { State, showRegistration } from './registration-page.tsx'

const AREA = { area: 'financing' } as const

export function financingPages(pages: Pages): void {
  pages.get(`${CONSOLE}/financing`, showList)
  // Before the page whose parameter would take `check` for a registration.
  financingForms(pages)
  pages.get(`${CONSOLE}/financing/checks/:id`, showCheck)
  pages.get(`${CONSOLE}/financing/disputes/:id`, showDispute)
  pages.get(`${CONSOLE}/financing/:id`, showRegistration)
}

async function showList(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const nowMs = toMillis(now())
  sendList(context, console, {
    ...AREA,
    title: 'Financing',
    label: 'Registrations',
    path: '/financing',
    actions: [
      ['/check', 'Check'],
      ['/check-blind', 'Check blind'],
      ['/register', 'Register'],
      ['/accept', 'Accept a transfer'],
      ['/dispute', 'Dispute'],
    ],
    columns: [
      { title: 'Registration', cell: ({ id }) => <MonoLink href={`${console.base}/financing/${id}`} text={id} /> },
      { title: 'Deal', variant: 'breakable', cell: ({ dealId }) => dealId ?? '—' },
      { title: 'State', cell: (one) => <State registration={{ ...one, state: stateAt(one, nowMs) }} /> },
      { title: 'Until', cell: ({ expiresAt }) => dayText(expiresAt.toISOString().slice(0, 10)) },
      { title: 'Registered', cell: ({ micros }) => <Ago at={micros} now={now()} /> },
    ],
    empty: 'Nothing is registered yet.',
    ...(await readByTime(
      context,
      (before, limit) => listRegistrations(db, console, before, limit),
      ({ id }) => id,
    )),
  })
}

interface Check {
  status: string
  mode: 'FIELDS' | 'BLIND'
  asOf: string
  matches: { class: string; state: string; ownRegistration: boolean; firstSeenMonth: string; contested: boolean }[]
  record: AnchoredRecord | null
}

async function showCheck(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { deps, params } = context
  const page = { ...AREA, title: 'Check' }
  const job = { kind: 'financing.check', folder: CHECKS, id: params.id ?? '', what: 'check' } as const
  const answer = await readOutcome(deps, console, job)
  if (answer.status === 202) return sendPending(context, console, page)
  // Stored as we answered it.
  const { status, mode, asOf, matches, record } = JSON.parse(answer.body) as Check
  const proven = record && (await proveRecord(deps.db, record))
  sendConsole(
    context,
    console,
    page,
    <>
      <h1>Check</h1>
      <dl class="facts">
        <Fact title="Status">{status.replaceAll('_', ' ').toLowerCase()}</Fact>
        <Fact title="Mode">{mode === 'BLIND' ? 'blind, by fingerprints only' : 'by its fields'}</Fact>
        <Fact title="As of">{asOf}</Fact>
      </dl>
      {matches.length === 0 && <p class="empty">Nothing like it is registered.</p>}
      <Table
        label="Matches"
        columns={[
          { title: 'Match', cell: (match) => match.class.toLowerCase() },
          { title: 'State', cell: ({ state }) => state.toLowerCase() },
          { title: 'Owner', cell: ({ ownRegistration }) => (ownRegistration ? 'you' : 'another organisation') },
          { title: 'First seen', cell: ({ firstSeenMonth }) => firstSeenMonth },
          { title: 'Contested', cell: ({ contested }) => (contested ? 'yes' : 'no') },
        ]}
        rows={matches}
      />
      {proven && <RecordAnchor proven={proven} publicUrl={deps.config.publicUrl} env={console.env} />}
    </>,
  )
}

async function showDispute(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { deps, params } = context
  const id = params.id ?? ''
  const page = { ...AREA, title: 'Dispute' }
  const dispute = isUuid(id) ? await findDispute(deps.db, console, id) : undefined
  if (!dispute) {
    await readOutcome(deps, console, { kind: 'financing.dispute', folder: DISPUTES, id, what: 'dispute' })
    return sendPending(context, console, page)
  }
  const proven = await proveRecord(deps.db, JSON.parse(dispute.record))
  const isHolder = dispute.holderId === console.organisationId
  sendConsole(
    context,
    console,
    page,
    <>
      <h1>Dispute</h1>
      <dl class="facts">
        <Fact title="State">{dispute.state.toLowerCase()}</Fact>
        <Fact title="You">{isHolder ? 'hold the receivable' : 'dispute it'}</Fact>
        <Fact title="Answer by">{instantText(dispute.answerBy.toISOString())}</Fact>
      </dl>
      {isHolder && dispute.state === 'OPEN' && mayIn(console, 'edit') && (
        <div class="row">
          <Answer context={context} console={console} id={id} answer="confirm" />
          <Answer context={context} console={console} id={id} answer="release" />
        </div>
      )}
      <RecordAnchor proven={proven} publicUrl={deps.config.publicUrl} env={console.env} />
    </>,
  )
}

function Answer(props: { context: Context; console: Console; id: string; answer: 'confirm' | 'release' }) {
  const { context, console, id, answer } = props
  const isRelease = answer === 'release'
  return (
    <Form
      context={context}
      action={`${console.base}/financing/disputes/${id}/${answer}`}
      {...(isRelease ? { confirm: 'Release this receivable? Others may register it then.' } : {})}
    >
      <button type="submit" class={isRelease ? 'danger' : 'primary'}>
        {isRelease ? 'Release it' : 'We hold it rightly'}
      </button>
    </Form>
  )
}
