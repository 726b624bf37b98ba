import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import type { Dispute } from '#shared/risk/first-financing/dispute.ts'
import { listDisputes } from '#shared/risk/first-financing/dispute-store.ts'
import type { Registration } from '#shared/risk/first-financing/receivable.ts'
import { findRegistration, listSightings } from '#shared/risk/first-financing/registration-store.ts'
import { type FinancingAction, stateAfter, stateAt } from '#shared/risk/first-financing/states.ts'
import { decryptedReceivable, registrationView } from '#shared/risk/first-financing/view.ts'
import { REGISTRATIONS } from '#shared/risk/operations/financing-requests.ts'
import { dayText, inrFigure, instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate, toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { Table } from '../../lists/list.tsx'
import { Ago, Crumb, Fact, SecretOnce } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { NextAction } from '../actions.tsx'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { codeName } from './names.ts'
import { RECEIVABLE_TYPES, sendPending } from './parts.tsx'
import { proveRecord, RecordAnchor } from './record-anchor.tsx'

export function State({
  registration: { state, contested },
}: {
  registration: Pick<Registration, 'state' | 'contested'>
}) {
  return (
    <>
      <span class={state === 'FINANCED' || state === 'REGISTERED' ? 'pill good' : 'pill'}>{words(state)}</span>{' '}
      {contested && <span class="pill bad">contested</span>}
    </>
  )
}

type ListedDispute = Pick<Dispute, 'id' | 'state' | 'openedAt' | 'answerBy'>
type Fields = NonNullable<ReturnType<typeof decryptedReceivable>>['fields']

const documentText = ({ documentType, documentNumber }: NonNullable<Fields>) =>
  `${RECEIVABLE_TYPES.get(documentType) ?? documentType} ${documentNumber}`

/** Without the fields, for example of a blind registration, the text has the beginning of its id. */
export function receivableText(registration: Registration, secrets: Parameters<typeof decryptedReceivable>[1]): string {
  const fields = decryptedReceivable(registration, secrets)?.fields
  if (!fields) return `Fingerprints ${registration.id.slice(0, 8)}`
  return `${documentText(fields)} of ${fields.supplierGstin}, ${inrFigure(fields.totalInr)}`
}

/** @returns null until the worker has finished @throws NotFoundError */
async function findRegistrationOf(context: Context, console: Console): Promise<Registration | null> {
  const { deps } = context
  const id = context.params.id ?? ''
  const registration = isUuid(id) ? await findRegistration(deps.db, console, id) : undefined
  if (registration) return registration
  for (const kind of ['financing.registration', 'financing.acceptance'] as const) {
    try {
      await readOutcome(deps, console, { kind, folder: REGISTRATIONS, id, what: 'registration' })
      return null
    } catch (error) {
      if (!(error instanceof NotFoundError) || kind === 'financing.acceptance') throw error
    }
  }
  return null
}

export async function showRegistration(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, secrets, config, now } = context.deps
  const page = { area: 'financing', title: 'Registration' } as const
  const registration = await findRegistrationOf(context, console)
  if (!registration) return sendPending(context, console, page)
  const nowMs = toMillis(now())
  const view = registrationView(registration, nowMs)
  const [sightings, disputes, proven] = await Promise.all([
    listSightings(db, registration.id),
    listDisputes(db, registration.id),
    proveRecord(db, view.record),
  ])
  const fields = decryptedReceivable(registration, secrets)?.fields
  sendConsole(
    context,
    console,
    page,
    <>
      {context.flash.secret !== undefined && (
        <SecretOnce
          what="The transfer token"
          text={context.flash.secret}
          label="transfer token"
          more=", works once and for 72 hours"
        />
      )}
      <Crumb href={`${console.base}/financing`} label="Financing" />
      <h1>
        {fields ? documentText(fields) : 'Registration'} <State registration={view} />
      </h1>
      {mayIn(console, 'edit') && (
        <Next context={context} console={console} registration={registration} disputes={disputes} nowMs={nowMs} />
      )}
      <dl class="facts">
        <Fact title="Valid until">{instantText(view.expiresAt)}</Fact>
        <Fact title="Registered">
          <Ago at={microsOfDate(registration.createdAt)} now={now()} />
        </Fact>
        {view.dealId !== null && <Fact title="Deal">{view.dealId}</Fact>}
        {view.dueDate !== null && <Fact title="Due">{dayText(view.dueDate)}</Fact>}
        {view.financedOn !== null && <Fact title="Financed">{dayText(view.financedOn)}</Fact>}
        {fields && (
          <>
            <Fact title="Document date">{dayText(fields.documentDate)}</Fact>
            <Fact title="Amount">{inrFigure(fields.totalInr)}</Fact>
            <Fact title="Supplier">{fields.supplierGstin}</Fact>
            <Fact title="Buyer">{fields.buyerGstin}</Fact>
          </>
        )}
      </dl>
      {disputes.length > 0 && <h2>Disputes</h2>}
      <Table
        label="Disputes"
        variant="wide-table stacked"
        columns={[
          {
            title: 'Opened',
            cell: ({ id, openedAt }) => (
              <a href={`${console.base}/financing/disputes/${id}`}>{instantText(openedAt.toISOString())}</a>
            ),
          },
          { title: 'State', isLabelled: true, cell: ({ state }) => codeName(state) },
          { title: 'Answer by', isLabelled: true, cell: ({ answerBy }) => instantText(answerBy.toISOString()) },
        ]}
        rows={disputes}
      />
      {sightings.length > 0 && <h2>Checks by others</h2>}
      <Table
        label="Checks by others"
        columns={[
          { title: 'Day', cell: ({ date }) => dayText(date) },
          { title: 'Checks', variant: 'figure', cell: ({ count }) => count },
        ]}
        rows={sightings}
      />
      <RecordAnchor proven={proven} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

export const RELEASE = 'Release this receivable? Others can register it then.'
const CANCEL = 'Cancel this registration? Others can register the receivable then.'
/** A financed registration that ends within this time has its extension as the next step. */
const SOON_MS = 30 * 86_400_000

/** Actions that give the receivable up are last. */
const LABELS: readonly { action: FinancingAction; label: string; confirm?: string }[] = [
  { action: 'finance', label: 'Mark as financed' },
  { action: 'renew', label: 'Extend' },
  { action: 'transfer', label: 'Offer a transfer' },
  { action: 'release', label: 'Release the receivable', confirm: RELEASE },
  { action: 'cancel', label: 'Cancel the registration', confirm: CANCEL },
]

function Next(props: {
  context: Context
  console: Console
  registration: Registration
  disputes: readonly ListedDispute[]
  nowMs: number
}) {
  const { context, console, registration, disputes, nowMs } = props
  const offered = LABELS.filter(({ action }) => stateAfter(registration, action, nowMs) !== null).map(
    ({ action, label, confirm }) => ({
      action,
      label,
      href: `${console.base}/financing/${registration.id}/${action}`,
      isForm: true,
      ...(confirm !== undefined && { confirm, isDestructive: true }),
    }),
  )
  const { text, next } = nextOf(registration, disputes, nowMs)
  const chosen =
    typeof next === 'object'
      ? [{ ...next, href: console.base + next.href }]
      : offered.filter(({ action }) => action === next)
  return (
    <NextAction context={context} text={text} actions={chosen} more={offered.filter(({ action }) => action !== next)} />
  )
}

/** Releasing gives the receivable up, so it is never the highlighted action. */
function nextOf(
  registration: Registration,
  disputes: readonly ListedDispute[],
  nowMs: number,
): { text: string; next?: FinancingAction | { label: string; href: string } } {
  const open = disputes.find(({ state }) => state === 'OPEN')
  const until = instantText(registration.expiresAt.toISOString())
  const state = stateAt(registration, nowMs)
  if (open && (state === 'REGISTERED' || state === 'FINANCED'))
    return {
      text: `Another organisation disputes this registration. Without an answer by ${instantText(open.answerBy.toISOString())} it is shown as contested.`,
      next: { label: 'Answer the dispute', href: `/financing/disputes/${open.id}` },
    }
  if (state === 'REGISTERED')
    return { text: `Mark it as financed when you have paid. Otherwise it lapses on ${until}.`, next: 'finance' }
  if (state === 'FINANCED' && registration.expiresAt.getTime() - nowMs < SOON_MS)
    return { text: `The registration ends on ${until}. Extend it if the receivable is not repaid yet.`, next: 'renew' }
  if (state === 'FINANCED')
    return { text: `Nothing is due now. Release the receivable when it is repaid. The registration ends on ${until}.` }
  return {
    text: 'This registration has ended, so others can register the receivable.',
    next: { label: 'Check a receivable', href: '/financing/check' },
  }
}
