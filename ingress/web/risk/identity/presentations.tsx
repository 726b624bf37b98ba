import type { JsonValue } from '#shared/canonical/parse-json.ts'
import { NotConfiguredError, NotFoundError } from '#shared/errors.ts'
import { requestedNames } from '#shared/risk/credentials/select-claims.ts'
import {
  type Presentation,
  type PresentationSecrets,
  RESPONSE_MODES,
  stateAt,
} from '#shared/risk/identity/presentation.ts'
import { findPresentation, listPresentations } from '#shared/risk/identity/presentation-store.ts'
import { refusalMessages } from '#shared/risk/identity/refusal-messages.ts'
import { presentationPageUrl } from '#shared/risk/identity/request-object.ts'
import { PresentationBody } from '#shared/risk/identity/requests.ts'
import { readPresentationValues, requestPresentation } from '#shared/risk/operations/presentations.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate, toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { Form } from '../../forms/form.tsx'
import { type Column, Table } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { personOf } from '../../shell/audit.ts'
import { Copyable, Exact, Fact } from '../../shell/basics.tsx'
import type { Context, FormContext, Pages } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { evidenceForm, jsonOf, requireFamily } from '../evidence/form.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchor } from '../evidence/record-anchor.tsx'
import { Tier } from '../tiers.tsx'
import { change, common, ownerOf } from './change.ts'
import { fieldLabels, Lists } from './parts.tsx'

const POLL_SECONDS = 2

export async function showPresentations(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  sendList(context, console, {
    title: 'Presentations',
    area: 'identity',
    path: '/identity/presentations',
    intro: <Lists console={console} current="/presentations" />,
    columns: presentationColumns(console, toMillis(now())),
    empty: 'No presentation has been requested from a wallet yet.',
    ...(await readBySeq(context, (before, limit) =>
      listPresentations(db, console, { subjectId: null, before, limit }),
    )),
  })
}

export function presentationColumns(
  console: Console,
  nowMs: number,
): Column<Awaited<ReturnType<typeof listPresentations>>[number]>[] {
  const base = `${console.base}/identity/presentations`
  return [
    { title: 'Purpose', variant: 'breakable', cell: ({ id, purpose }) => <a href={`${base}/${id}`}>{purpose}</a> },
    { title: 'State', cell: (one) => words(stateAt(one, nowMs)) },
    { title: 'Requested at', cell: ({ createdAt }) => <Exact at={microsOfDate(createdAt)} isNamed /> },
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
  // Anchored by us.
  const proven = record === null ? null : await proveRecord(db, JSON.parse(record) as AnchoredRecord)
  sendConsole(
    context,
    console,
    { title: 'Presentation', area: 'identity', ...(isOpen && { pollSeconds: POLL_SECONDS }) },
    <>
      <h1>Presentation</h1>
      {isOpen && <PageLink context={context} presentation={presentation} />}
      <dl class="facts">
        <Fact title="State">{words(state)}</Fact>
        <Fact title="Purpose">{presentation.purpose}</Fact>
        <Fact title="Requested">{requestedNames(presentation.query).map(fieldLabels).join(', ')}</Fact>
        {reasons.length > 0 && (
          <Fact title="Refused">{reasons.map((reason) => `${refusalMessages(reason)} (${reason})`).join(' ')}</Fact>
        )}
        {walletError !== null && <Fact title="Answer of the wallet">{walletError}</Fact>}
        {issuer !== null && <Fact title="Issuer">{issuer}</Fact>}
        {tier !== null && (
          <Fact title="Tier">
            <Tier tier={tier} />
          </Fact>
        )}
        {fields.length > 0 && <Fact title="Fields">{fields.join(', ')}</Fact>}
        {subjectId !== null && (
          <Fact title="Subject">
            <a href={`${console.base}/identity/subjects/${subjectId}`}>its page</a>
          </Fact>
        )}
      </dl>
      {values && <ValueTable values={values} />}
      {!values && state === 'VERIFIED' && mayIn(console, 'edit') && (
        <Form context={context} action={`${console.base}/identity/presentations/${presentation.id}/values`}>
          <p class="row">
            <button type="submit">Show the values</button>
            <span class="muted">The audit log records this access.</span>
          </p>
        </Form>
      )}
      {proven && <RecordAnchor proven={proven} publicUrl={config.publicUrl} env={console.env} />}
    </>,
  )
}

function PageLink({ context, presentation }: { context: Context; presentation: Presentation }) {
  const { secrets, config } = context.deps
  // Encrypted by us, in this form.
  const { page } = JSON.parse(secrets.open('presentation', presentation.sealedSecrets)) as PresentationSecrets
  const address = presentationPageUrl(config.publicUrl, page)
  return (
    <p class="notice">
      <a href={address}>The page with its QR code</a>, for the person with the wallet:{' '}
      <Copyable text={address} label="the address of the page" />
    </p>
  )
}

function ValueTable({ values }: { values: Values }) {
  return (
    <Table
      label="Values"
      columns={[
        { title: 'Field', cell: ({ name }) => name },
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

export function presentationForm(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/identity/ask',
    title: 'Ask a wallet',
    intro:
      'The request is valid for five minutes; its page shows the QR code. Default query: legal name and GSTIN of a company.',
    button: 'Ask',
    fields: [
      { name: 'purpose', label: 'Purpose', isRequired: true, demo: 'opening an account' },
      { name: 'query', label: 'Query', kind: 'lines', hint: 'DCQL, as JSON', parse: jsonOf },
      { name: 'responseMode', label: 'Answer', kind: 'select', options: modes, value: 'direct_post.jwt' },
      { name: 'retainHours', label: 'Keep values for hours', kind: 'number', value: '24' },
      { name: 'subjectId', label: 'Subject', isMono: true },
      { name: 'dealId', label: 'Deal', hint: 'your own number for it' },
    ],
    schema: PresentationBody,
    complete: (body) => ('query' in body ? body : { ...body, template: 'company-basic' }),
    async submit(sent) {
      const { context, console, body } = sent
      const { config, risk } = context.deps
      const signer = await risk.requestSigner(console.env)
      if (!signer) throw new NotConfiguredError('requests to wallets are not configured')
      return await change(sent, 'presentation.requested', async (tx, deps) => {
        const given = { ...deps, clientId: signer.clientId, publicUrl: config.publicUrl }
        const { presentationId } = await requestPresentation(tx, ownerOf(sent), body, given)
        return { next: `/identity/presentations/${presentationId}`, target: presentationId }
      })
    },
  })
}

const modes = RESPONSE_MODES.map((value) => ({ value, label: value.endsWith('jwt') ? 'encrypted' : 'in the clear' }))
