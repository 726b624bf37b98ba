import { z } from 'zod'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { findDispute } from '#shared/risk/first-financing/dispute-store.ts'
import { listRegistrations } from '#shared/risk/first-financing/registration-store.ts'
import { stateAt } from '#shared/risk/first-financing/states.ts'
import { CHECKS, DISPUTES } from '#shared/risk/operations/financing-requests.ts'
import { dayText, instantText } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { decodeCursor, encodeCursor, paged } from '../../../paging.ts'
import { Ago, Fact } from '../../components/basics.tsx'
import { Form } from '../../components/form.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { financingForms } from './financing-forms.ts'
import { ListHead, Pager, Pending, Said, Table } from './parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchor } from './record-anchor.tsx'
import { State, showRegistration } from './registration-page.tsx'

const PAGE_SIZE = 50
const Cursor = z.tuple([z.int(), z.uuid()])
const AREA = { area: 'financing' } as const

/** The first-financing registry: own registrations, checks and disputes. */
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
  const cursor = decodeCursor(context.query.get('cursor') ?? undefined, Cursor)
  const rows = await listRegistrations(db, console, cursor && { micros: cursor[0], id: cursor[1] }, PAGE_SIZE + 1)
  const { page, nextCursor } = paged(rows, PAGE_SIZE, ({ micros, id }) => encodeCursor([micros, id]))
  const base = `${console.base}/financing`
  sendConsole(
    context,
    console,
    { ...AREA, title: 'Financing' },
    <>
      <ListHead
        title="Financing"
        actions={
          mayIn(console, 'edit')
            ? [
                { href: `${base}/check`, label: 'Check' },
                { href: `${base}/check-blind`, label: 'Check blind' },
                { href: `${base}/register`, label: 'Register' },
                { href: `${base}/accept`, label: 'Accept a transfer' },
                { href: `${base}/dispute`, label: 'Dispute' },
              ]
            : []
        }
      />
      {page.length === 0 ? (
        <p class="empty">Nothing is registered yet.</p>
      ) : (
        <Table label="Registrations" columns={['Registration', 'Deal', 'State', 'Until', 'Made']}>
          {page.map((one) => (
            <tr key={one.id}>
              <td>
                <a class="mono" href={`${base}/${one.id}`}>
                  {one.id}
                </a>
              </td>
              <td class="breakable">{one.dealId ?? '—'}</td>
              <td>
                <State registration={{ ...one, state: stateAt(one, nowMs) }} />
              </td>
              <td>{dayText(one.expiresAt.toISOString().slice(0, 10))}</td>
              <td>
                <Ago at={one.micros} now={now()} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Pager base={base} isFirst={cursor === null} nextCursor={nextCursor} />
    </>,
  )
}

interface Check {
  status: string
  mode: 'FIELDS' | 'BLIND'
  asOf: string
  matches: { class: string; state: string; requireRegistration: boolean; firstSeenMonth: string; contested: boolean }[]
  record: AnchoredRecord | null
}

async function showCheck(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { deps, params } = context
  const page = { ...AREA, title: 'Check' }
  const job = { kind: 'financing.check', folder: CHECKS, id: params.id ?? '', what: 'check' } as const
  const answer = await readOutcome(deps, console, job)
  if (answer.status === 202)
    return sendConsole(context, console, { ...page, pollSeconds: 2 }, <Pending title="Check" />)
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
        <Fact title="Asked">{mode === 'BLIND' ? 'blind, by fingerprints alone' : 'by its fields'}</Fact>
        <Fact title="As of">{asOf}</Fact>
      </dl>
      {matches.length === 0 ? (
        <p class="empty">Nothing like it is registered.</p>
      ) : (
        <Table label="Matches" columns={['Match', 'State', 'Whose', 'First seen', 'Contested']}>
          {matches.map((match) => (
            <tr key={`${match.class} ${match.state} ${match.requireRegistration}`}>
              <td>{match.class.toLowerCase()}</td>
              <td>{match.state.toLowerCase()}</td>
              <td>{match.requireRegistration ? 'your own' : 'another organisation’s'}</td>
              <td>{match.firstSeenMonth}</td>
              <td>{match.contested ? 'yes' : 'no'}</td>
            </tr>
          ))}
        </Table>
      )}
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
    return sendConsole(context, console, { ...page, pollSeconds: 2 }, <Pending title="Dispute" />)
  }
  const proven = await proveRecord(deps.db, JSON.parse(dispute.record))
  const isHolder = dispute.holderId === console.organisationId
  sendConsole(
    context,
    console,
    page,
    <>
      <Said context={context} />
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
