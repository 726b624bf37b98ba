import type { JsonValue } from '#shared/canonical/parse-json.ts'
import { NotFoundError } from '#shared/errors.ts'
import { requestedNames } from '#shared/risk/credentials/select-claims.ts'
import { type Presentation, type PresentationSecrets, stateAt } from '#shared/risk/identity/presentation.ts'
import { findPresentation, listPresentations } from '#shared/risk/identity/presentation-store.ts'
import { refusalMessages } from '#shared/risk/identity/refusal-messages.ts'
import { presentationPageUrl } from '#shared/risk/identity/request-object.ts'
import { readPresentationValues } from '#shared/risk/operations/presentations.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { type Column, Table } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { personOf } from '../../shell/audit.ts'
import { Copyable, Fact } from '../../shell/basics.tsx'
import type { Context, FormContext } from '../../shell/context.ts'
import { NextAction } from '../actions.tsx'
import { type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { requireFamily } from '../evidence/form.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchor } from '../evidence/record-anchor.tsx'
import { Tier } from '../tiers.tsx'
import { dateText, fieldLabels, IdentityCrumb, Lists, REQUEST, StatePill } from './parts.tsx'

const POLL_SECONDS = 2

const STATES: Readonly<Record<Presentation['state'], string>> = {
  CREATED: 'waiting for a wallet',
  REQUEST_FETCHED: 'opened in a wallet',
  RECEIVED: 'being verified',
  VERIFIED: 'verified',
  REJECTED: 'refused',
  EXPIRED: 'expired',
}

export async function showPresentations(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const listed = await readBySeq(context, (before, limit) =>
    listPresentations(db, console, { subjectId: null, before, limit }),
  )
  const ask = { label: REQUEST, href: `${console.base}/identity/ask` }
  sendList(context, console, {
    title: 'Presentations',
    area: 'identity',
    path: '/identity/presentations',
    actionPath: '/identity',
    actions: listed.rows.length > 0 ? [['/ask', REQUEST]] : [],
    intro: <Lists console={console} current="/presentations" />,
    variant: 'wide-table stacked',
    columns: presentationColumns(console, toMillis(now())),
    empty: (
      <EmptyCard title="No presentations yet" action={mayIn(console, 'edit') ? ask : null}>
        <p>
          A person or company shows a credential from a wallet, and Signalbox verifies it: issuer, validity, holder.
        </p>
      </EmptyCard>
    ),
    ...listed,
  })
}

export function presentationColumns(
  console: Console,
  nowMs: number,
): Column<Awaited<ReturnType<typeof listPresentations>>[number]>[] {
  const base = `${console.base}/identity/presentations`
  return [
    { title: 'Purpose', variant: 'breakable', cell: ({ id, purpose }) => <a href={`${base}/${id}`}>{purpose}</a> },
    { title: 'State', isLabelled: true, cell: (one) => <StatePill text={STATES[stateAt(one, nowMs)]} /> },
    { title: 'Requested', isLabelled: true, cell: ({ createdAt }) => dateText(createdAt) },
  ]
}

async function open(context: Context, console: Console): Promise<Presentation> {
  const id = context.params.id ?? ''
  const presentation = isUuid(id) ? await findPresentation(context.deps.db, console, id) : undefined
  if (!presentation) throw new NotFoundError('There is no such presentation.')
  return presentation
}

/** Shows the names of disclosed fields, without values. */
export async function showPresentation(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  await send(context, console, await open(context, console), null)
}

/** Shows the values. The audit log records each access. */
export async function showValues(context: FormContext): Promise<void> {
  const console = await requireFamily(context, 'identity')
  const presentation = await open(context, console)
  const person = personOf(context, console.session)
  const values = await readPresentationValues(context.deps.db, person, console, presentation.id, null, context.deps)
  if (!values) throw new NotFoundError('The values of this presentation are no longer stored.')
  await send(context, console, presentation, values)
}

type Values = readonly { name: string; value: JsonValue }[]

async function send(context: Context, console: Console, presentation: Presentation, values: Values | null) {
  const { db, config, now } = context.deps
  const state = stateAt(presentation, toMillis(now()))
  const isOpen = state === 'CREATED' || state === 'REQUEST_FETCHED' || state === 'RECEIVED'
  const { issuer, tier, fields, subjectId, record, reasons, walletError } = presentation
  const link = isOpen ? walletPage(context.deps, presentation) : ''
  // Anchored by us.
  const proven = record === null ? null : await proveRecord(db, JSON.parse(record) as AnchoredRecord)
  sendConsole(
    context,
    console,
    { title: 'Presentation', area: 'identity', ...(isOpen && { pollSeconds: POLL_SECONDS }) },
    <>
      <IdentityCrumb console={console} path="/presentations" label="Presentations" />
      <h1>
        Presentation <StatePill text={STATES[state]} />
      </h1>
      {isOpen && (
        <NextAction
          context={context}
          text={`Show the QR code to the person with the wallet, or send the link, before ${dateText(presentation.expiresAt)}. This page shows the result when it arrives.`}
          actions={[{ label: 'Open the page with the QR code', href: link }]}
        />
      )}
      {!isOpen && mayIn(console, 'edit') && (
        <Next
          context={context}
          console={console}
          presentation={presentation}
          state={state}
          hasValues={values !== null}
        />
      )}
      <dl class="facts">
        {isOpen && (
          <Fact title="Link">
            <Copyable text={link} label="the link" />
          </Fact>
        )}
        <Fact title="Purpose">{presentation.purpose}</Fact>
        <Fact title="Requested">{requestedNames(presentation.query).map(fieldLabels).join(', ')}</Fact>
        {reasons.length > 0 && <Fact title="Refused because">{reasons.map(refusalMessages).join(' ')}</Fact>}
        {walletError !== null && <Fact title="Answer of the wallet">{walletError}</Fact>}
        {issuer !== null && <Fact title="Issuer">{issuer}</Fact>}
        {tier !== null && (
          <Fact title="Tier">
            <Tier tier={tier} />
          </Fact>
        )}
        {fields.length > 0 && <Fact title="Disclosed">{fields.map(fieldLabels).join(', ')}</Fact>}
        {subjectId !== null && (
          <Fact title="Subject">
            <a href={`${console.base}/identity/subjects/${subjectId}`}>Open the subject</a>
          </Fact>
        )}
      </dl>
      {values && <ValueTable values={values} />}
      {proven && <RecordAnchor proven={proven} publicUrl={config.publicUrl} env={console.env} />}
    </>,
  )
}

/** Returns the address of the page with the QR code. */
function walletPage({ secrets, config }: Context['deps'], { sealedSecrets }: Presentation): string {
  // Encrypted by us, in this form.
  const { page } = JSON.parse(secrets.open('presentation', sealedSecrets)) as PresentationSecrets
  return presentationPageUrl(config.publicUrl, page)
}

function Next(props: {
  context: Context
  console: Console
  presentation: Presentation
  state: Presentation['state']
  hasValues: boolean
}) {
  const { context, console, presentation, state, hasValues } = props
  const { id, subjectId, purpose } = presentation
  const base = `${console.base}/identity`
  if (state !== 'VERIFIED') {
    const query = new URLSearchParams({ purpose, ...(subjectId !== null && { subjectId }) })
    return (
      <NextAction
        context={context}
        text={state === 'EXPIRED' ? 'No wallet answered in time. Create a new request.' : 'Create a new request.'}
        actions={[{ label: 'Request again', href: `${base}/ask?${query}` }]}
      />
    )
  }
  const values = { label: 'Show the values', href: `${base}/presentations/${id}/values`, isForm: true }
  return (
    <NextAction
      context={context}
      text={
        <>
          {subjectId === null
            ? 'Add a subject, then verify it with this presentation. '
            : 'Count this presentation as a verification of the subject. '}
          {!hasValues && <span class="muted">The audit log records who looks at the values.</span>}
        </>
      }
      actions={[
        subjectId === null
          ? { label: 'Add a subject', href: `${base}/subjects/add` }
          : { label: 'Verify the subject with it', href: `${base}/subjects/${subjectId}/verify?presentationId=${id}` },
        ...(hasValues ? [] : [values]),
      ]}
    />
  )
}

function ValueTable({ values }: { values: Values }) {
  return (
    <Table
      label="Values"
      columns={[
        { title: 'Field', cell: ({ name }) => fieldLabels(name) },
        {
          title: 'Value',
          variant: 'breakable',
          cell: ({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)),
        },
      ]}
      rows={values}
    />
  )
}
