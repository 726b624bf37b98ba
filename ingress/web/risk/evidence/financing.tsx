import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import type { CheckStatus } from '#shared/risk/first-financing/check-answer.ts'
import type { Dispute } from '#shared/risk/first-financing/dispute.ts'
import { findDispute } from '#shared/risk/first-financing/dispute-store.ts'
import { listRegistrations } from '#shared/risk/first-financing/registration-store.ts'
import { stateAt } from '#shared/risk/first-financing/states.ts'
import { CHECKS, DISPUTES } from '#shared/risk/operations/financing-requests.ts'
import { dayText, instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { type Column, Table } from '../../lists/list.tsx'
import { readByTime } from '../../lists/paging.ts'
import { Ago, Crumb, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { NextAction } from '../actions.tsx'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { financingForms } from './financing-forms.ts'
import { codeName, monthText } from './names.ts'
import { sendPending } from './parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchor } from './record-anchor.tsx'
import { RELEASE, receivableText, State, showRegistration } from './registration-page.tsx'

const AREA = { area: 'financing' } as const
const CHECK = 'Check a receivable'

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
  const { db, now, secrets } = context.deps
  const nowMs = toMillis(now())
  const listed = await readByTime(
    context,
    (before, limit) => listRegistrations(db, console, before, limit),
    ({ id }) => id,
  )
  sendList(context, console, {
    ...AREA,
    title: 'Financing',
    label: 'Registrations',
    path: '/financing',
    actions: listed.rows.length > 0 ? [['/check', CHECK]] : [],
    more: [
      ['/register', 'Register a receivable'],
      ['/accept', 'Accept a transfer'],
      ['/check-blind', 'Check by fingerprints'],
      ['/dispute', 'Dispute a registration'],
    ],
    variant: 'wide-table stacked',
    columns: [
      {
        title: 'Receivable',
        variant: 'breakable',
        cell: (one) => <a href={`${console.base}/financing/${one.id}`}>{receivableText(one, secrets)}</a>,
      },
      { title: 'Deal', variant: 'breakable', isLabelled: true, cell: ({ dealId }) => dealId ?? '—' },
      {
        title: 'State',
        isLabelled: true,
        cell: (one) => <State registration={{ ...one, state: stateAt(one, nowMs) }} />,
      },
      {
        title: 'Valid until',
        isLabelled: true,
        cell: ({ expiresAt }) => dayText(expiresAt.toISOString().slice(0, 10)),
      },
      { title: 'Registered', isLabelled: true, cell: ({ micros }) => <Ago at={micros} now={now()} /> },
    ],
    empty: (
      <EmptyCard
        title="No registrations yet"
        action={mayIn(console, 'edit') ? { label: CHECK, href: `${console.base}/financing/check` } : null}
      >
        <ol>
          <li>Check whether another organisation has registered the receivable.</li>
          <li>Register it. Only the first registration succeeds; it is valid for seven days.</li>
          <li>Mark it as financed when you have paid, and release it when it is repaid.</li>
        </ol>
      </EmptyCard>
    ),
    ...listed,
  })
}

interface Check {
  status: CheckStatus
  mode: 'FIELDS' | 'BLIND'
  asOf: string
  matches: Match[]
  record: AnchoredRecord | null
}

type Match = { class: string; state: string; ownRegistration: boolean; firstSeenMonth: string; contested: boolean }

const OUTCOMES: Readonly<Record<CheckStatus, readonly [text: string, pill: string]>> = {
  DUPLICATE_FINANCED: ['Another organisation has financed this receivable.', 'bad'],
  DUPLICATE_REGISTERED: ['Another organisation has registered this receivable.', 'bad'],
  POSSIBLE_MATCH: ['Another organisation has registered a similar receivable.', 'late'],
  UNRESOLVED: ['No match, but not every registration could be compared.', 'late'],
  CLEAN: ['No other organisation has registered this receivable.', 'good'],
}

const MATCHES = new Map([
  ['EXACT', 'Same document'],
  ['NEAR', 'Similar number, same parties'],
  ['ECONOMIC', 'Same parties, similar date and amount'],
])

const MATCH_COLUMNS: Column<Match>[] = [
  {
    title: 'Match',
    hint: (match) => match.class,
    cell: (match) => MATCHES.get(match.class) ?? codeName(match.class),
  },
  { title: 'State', isLabelled: true, cell: ({ state }) => codeName(state) },
  {
    title: 'Registered by',
    isLabelled: true,
    cell: ({ ownRegistration }) => (ownRegistration ? 'you' : 'another organisation'),
  },
  { title: 'First seen', isLabelled: true, cell: ({ firstSeenMonth }) => monthText(firstSeenMonth) },
  { title: 'Contested', isLabelled: true, cell: ({ contested }) => (contested ? 'yes' : 'no') },
]

async function showCheck(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { deps, params } = context
  const page = { ...AREA, title: 'Result of the check' }
  const job = { kind: 'financing.check', folder: CHECKS, id: params.id ?? '', what: 'check' } as const
  const answer = await readOutcome(deps, console, job)
  if (answer.status === 202) return sendPending(context, console, page)
  // Stored as we answered it.
  const { status, mode, asOf, matches, record } = JSON.parse(answer.body) as Check
  const proven = record && (await proveRecord(deps.db, record))
  const [outcome, pill] = OUTCOMES[status]
  sendConsole(
    context,
    console,
    page,
    <>
      <Crumb href={`${console.base}/financing`} label="Financing" />
      <h1>
        {page.title} <span class={`pill ${pill}`}>{words(status)}</span>
      </h1>
      <p>
        <strong>{outcome}</strong>
      </p>
      {mayIn(console, 'edit') && <CheckNext context={context} console={console} status={status} matches={matches} />}
      <dl class="facts">
        <Fact title="Compared by">{mode === 'BLIND' ? 'fingerprints only' : 'the fields of the document'}</Fact>
        <Fact title="As of">{instantText(asOf)}</Fact>
      </dl>
      {matches.length === 0 && <p class="empty">No similar receivable is registered.</p>}
      <Table label="Matches" variant="wide-table stacked" columns={MATCH_COLUMNS} rows={matches} />
      {proven && <RecordAnchor proven={proven} publicUrl={deps.config.publicUrl} env={console.env} />}
    </>,
  )
}

function CheckNext(props: { context: Context; console: Console; status: CheckStatus; matches: readonly Match[] }) {
  const { context, console, status, matches } = props
  const at = (path: string, label: string) => ({ href: `${console.base}/financing${path}`, label })
  if (status !== 'CLEAN' && status !== 'UNRESOLVED')
    return (
      <NextAction
        context={context}
        text="Do not finance it before this is clear. If the receivable is yours, dispute the registration: its holder is notified and must answer."
        actions={[at('/dispute', 'Dispute a receivable')]}
        more={[at('/check', 'Check another receivable')]}
      />
    )
  const isRegistered = matches.some((match) => match.ownRegistration && match.class === 'EXACT')
  return isRegistered ? (
    <NextAction
      context={context}
      text="You have registered this receivable already."
      actions={[at('', 'Open your registrations')]}
      more={[at('/check', 'Check another receivable')]}
    />
  ) : (
    <NextAction
      context={context}
      text="Register it, so that no other organisation can register it after you."
      actions={[at('/register', 'Register a receivable')]}
      more={[at('/check', 'Check another receivable')]}
    />
  )
}

const DISPUTE_TEXTS: Readonly<Record<Dispute['state'], readonly [holder: string, other: string]>> = {
  OPEN: [
    'Another organisation claims this receivable. Confirm your claim, or release the receivable.',
    'The holder has been notified. This page shows the answer when it arrives.',
  ],
  CONFIRMED: [
    'You confirmed your claim. The registration stays yours.',
    'The holder confirmed its claim. Both sides have an anchored record.',
  ],
  RELEASED: [
    'You released the receivable. Others can register it.',
    'The holder released the receivable. You can register it now.',
  ],
  UNANSWERED: [
    'The time to answer is over. The registration is shown as contested.',
    'The holder did not answer. The registration is shown as contested.',
  ],
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
  const { state, registrationId, answerBy } = dispute
  const [holderText, otherText] = DISPUTE_TEXTS[state]
  const text = isHolder ? holderText : otherText
  const path = `${console.base}/financing/disputes/${id}`
  const answers = [
    { label: 'Confirm our claim', href: `${path}/confirm`, isForm: true },
    { label: 'Release the receivable', href: `${path}/release`, isForm: true, confirm: RELEASE, isDestructive: true },
  ]
  const isOpen = isHolder && state === 'OPEN'
  const register = { label: 'Register a receivable', href: `${console.base}/financing/register` }
  sendConsole(
    context,
    console,
    page,
    <>
      {isHolder ? (
        <Crumb href={`${console.base}/financing/${registrationId}`} label="Registration" />
      ) : (
        <Crumb href={`${console.base}/financing`} label="Financing" />
      )}
      <h1>
        Dispute <span class={state === 'OPEN' ? 'pill late' : 'pill'}>{words(state)}</span>
      </h1>
      {mayIn(console, 'edit') ? (
        <NextAction
          context={context}
          text={text}
          actions={isOpen ? answers.slice(0, 1) : !isHolder && state === 'RELEASED' ? [register] : []}
          more={isOpen ? answers.slice(1) : []}
        />
      ) : (
        <p>{text}</p>
      )}
      <dl class="facts">
        <Fact title="Your role">{isHolder ? 'you hold the receivable' : 'you dispute the registration'}</Fact>
        <Fact title="Answer by">{instantText(answerBy.toISOString())}</Fact>
      </dl>
      <RecordAnchor proven={proven} publicUrl={deps.config.publicUrl} env={console.env} />
    </>,
  )
}
