import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { listDisputes } from '#shared/risk/first-financing/dispute-store.ts'
import type { Registration } from '#shared/risk/first-financing/receivable.ts'
import { findRegistration, listSightings } from '#shared/risk/first-financing/registration-store.ts'
import { type FinancingAction, stateAfter } from '#shared/risk/first-financing/states.ts'
import { decryptedReceivable, registrationView } from '#shared/risk/first-financing/view.ts'
import { REGISTRATIONS } from '#shared/risk/operations/financing-requests.ts'
import { dayText, inrFigure, instantText } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate, toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { Form } from '../../forms/form.tsx'
import { MonoLink, Table } from '../../lists/list.tsx'
import { Ago, Fact, SecretOnce } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { sendPending } from './parts.tsx'
import { proveRecord, RecordAnchor } from './record-anchor.tsx'

export function State({
  registration: { state, contested },
}: {
  registration: Pick<Registration, 'state' | 'contested'>
}) {
  return (
    <>
      <span class={state === 'FINANCED' || state === 'REGISTERED' ? 'pill good' : 'pill'}>{state.toLowerCase()}</span>{' '}
      {contested && <span class="pill bad">contested</span>}
    </>
  )
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
      <h1>Registration</h1>
      <dl class="facts">
        <Fact title="State">
          <State registration={view} />
        </Fact>
        <Fact title="Until">{view.expiresAt}</Fact>
        <Fact title="Made">
          <Ago at={microsOfDate(registration.createdAt)} now={now()} />
        </Fact>
        {view.dealId !== null && <Fact title="Deal">{view.dealId}</Fact>}
        {view.dueDate !== null && <Fact title="Due">{dayText(view.dueDate)}</Fact>}
        {view.financedOn !== null && <Fact title="Financed">{dayText(view.financedOn)}</Fact>}
        {fields && (
          <>
            <Fact title="Document">{`${fields.documentType} ${fields.documentNumber}, ${dayText(fields.documentDate)}`}</Fact>
            <Fact title="Amount">{inrFigure(fields.totalInr)}</Fact>
            <Fact title="Supplier">{fields.supplierGstin}</Fact>
            <Fact title="Buyer">{fields.buyerGstin}</Fact>
          </>
        )}
      </dl>
      {mayIn(console, 'edit') && (
        <Actions context={context} console={console} registration={registration} nowMs={nowMs} />
      )}
      <Table
        label="Checks by others"
        columns={[
          { title: 'Day', cell: ({ date }) => dayText(date) },
          { title: 'Checks by others', variant: 'figure', cell: ({ count }) => count },
        ]}
        rows={sightings}
      />
      <Table
        label="Disputes"
        columns={[
          {
            title: 'Dispute',
            cell: ({ id }) => <MonoLink href={`${console.base}/financing/disputes/${id}`} text={id} />,
          },
          { title: 'State', cell: ({ state }) => state.toLowerCase() },
          { title: 'Answer by', cell: ({ answerBy }) => instantText(answerBy.toISOString()) },
        ]}
        rows={disputes}
      />
      <RecordAnchor proven={proven} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

const LABELS: readonly { action: FinancingAction; label: string; confirm?: string }[] = [
  { action: 'finance', label: 'It is financed' },
  { action: 'renew', label: 'Hold it longer' },
  { action: 'transfer', label: 'Offer a transfer' },
  { action: 'release', label: 'Release', confirm: 'Release this receivable? Others may register it then.' },
  { action: 'cancel', label: 'Cancel', confirm: 'Give up this registration? Others may register the receivable then.' },
]

function Actions(props: { context: Context; console: Console; registration: Registration; nowMs: number }) {
  const { context, console, registration, nowMs } = props
  const offered = LABELS.filter(({ action }) => stateAfter(registration, action, nowMs) !== null)
  return (
    <div class="row">
      {offered.map(({ action, label, confirm }) => (
        <Form
          key={action}
          context={context}
          action={`${console.base}/financing/${registration.id}/${action}`}
          {...(confirm === undefined ? {} : { confirm })}
        >
          <button type="submit" class={confirm === undefined ? '' : 'danger'}>
            {label}
          </button>
        </Form>
      ))}
    </div>
  )
}
