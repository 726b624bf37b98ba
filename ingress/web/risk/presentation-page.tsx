import { NotFoundError } from '#shared/errors.ts'
import { requestedNames } from '#shared/risk/credentials/select-claims.ts'
import { MAX_REFUSALS, type Presentation, stateAt } from '#shared/risk/identity/presentation.ts'
import { findByHandle } from '#shared/risk/identity/presentation-store.ts'
import { refusalMessages } from '#shared/risk/identity/refusal-messages.ts'
import { authorizationRequest, requestAddresses } from '#shared/risk/identity/request-object.ts'
import { handleDigestOf, handleOfPage } from '#shared/risk/operations/presentations.ts'
import { findOrganisationName } from '#shared/tenancy/organisations/store.ts'
import { microsOfDate, toMillis } from '#shared/time.ts'
import { Exact, QrCode } from '../shell/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { RiskStyle, SandboxBand } from './console.tsx'
import { fieldLabels } from './identity/parts.tsx'

const POLL_SECONDS = 2
/** Pixels; a camera must distinguish about ninety modules per side. */
const QR_SIDE = 320

/** Shows the QR code of a request, then its result: the issuer and the names of the fields, never values. */
export function presentationPages(pages: Pages): void {
  pages.get('/present/:page', show)
}

async function show(context: Context): Promise<void> {
  const { db, now } = context.deps
  context.response.set('X-Robots-Tag', 'noindex, nofollow')
  const page = context.params.page ?? ''
  const handle = handleOfPage(page)
  const presentation = page.length === 43 ? await findByHandle(db, handleDigestOf(handle)) : undefined
  if (!presentation) throw new NotFoundError('There is no such request.')
  const state = stateAt(presentation, toMillis(now()))
  const isOpen = state === 'CREATED' || state === 'REQUEST_FETCHED' || state === 'RECEIVED'
  const jobContext = (await findOrganisationName(db, presentation.organisationId)) ?? ''
  sendPage(
    context,
    { title: 'Present a credential', isPublic: true, ...(isOpen && { pollSeconds: POLL_SECONDS }) },
    <>
      <RiskStyle />
      {presentation.env === 'SANDBOX' && <SandboxBand />}
      <section class="card narrow" data-region="content">
        <Content context={context} presentation={presentation} state={state} handle={handle} />
        <Requested presentation={presentation} jobContext={jobContext} />
        {isOpen && (
          <p>
            <a class="button" href={`/present/${page}`}>
              Reload
            </a>
          </p>
        )}
      </section>
    </>,
  )
}

interface ContentProps {
  context: Context
  presentation: Presentation
  state: Presentation['state']
  handle: string
}

function Content({ context, presentation, state, handle }: ContentProps) {
  switch (state) {
    case 'VERIFIED':
      return <Verified presentation={presentation} />
    case 'REJECTED':
      return (
        <>
          <h1>Refused</h1>
          <Reasons reasons={presentation.reasons} />
          <p>This request has ended. Request a new one.</p>
        </>
      )
    case 'EXPIRED':
      return (
        <>
          <h1>Expired</h1>
          <p>This request was not answered in time. Request a new one.</p>
        </>
      )
    case 'RECEIVED':
      return (
        <>
          <h1>Being verified</h1>
          <p role="status">The wallet has answered.</p>
        </>
      )
    default:
      return <Open context={context} presentation={presentation} state={state} handle={handle} />
  }
}

function Verified({ presentation: { issuer, fields } }: { presentation: Presentation }) {
  return (
    <>
      <h1>VERIFIED</h1>
      <dl class="facts">
        <div>
          <dt>Issuer</dt>
          <dd class="breakable">{issuer}</dd>
        </div>
        <div>
          <dt>Fields</dt>
          <dd class="breakable">{fields.map(fieldLabels).join(', ')}</dd>
        </div>
      </dl>
      <p class="muted">The requesting organisation received the values; this page does not show them.</p>
    </>
  )
}

function Open({ context, presentation, state, handle }: ContentProps) {
  const { clientId, expiresAt, reasons, refusals } = presentation
  const address = authorizationRequest(clientId, requestAddresses(context.deps.config.publicUrl, handle).requestUri)
  return (
    <>
      <h1>Present a credential</h1>
      {state === 'REQUEST_FETCHED' && <p role="status">A wallet has read the request.</p>}
      {reasons.length > 0 && (
        <>
          <Reasons reasons={reasons} />
          <p>Attempts left: {MAX_REFUSALS - refusals}.</p>
        </>
      )}
      <div class="qr">
        <QrCode text={address} title="QR code for the wallet" side={QR_SIDE} />
        <a href={address}>Open a wallet on this device</a>
      </div>
      <p>
        Scan it with your wallet before <Exact at={microsOfDate(expiresAt)} isNamed />.
      </p>
    </>
  )
}

function Reasons({ reasons }: { reasons: readonly string[] }) {
  return (
    <>
      {reasons.map((reason) => (
        <p key={reason} class="problem" role="alert">
          {refusalMessages(reason)} <code>{reason}</code>
        </p>
      ))}
    </>
  )
}

function Requested({
  presentation: { purpose, query },
  jobContext,
}: {
  presentation: Presentation
  jobContext: string
}) {
  return (
    <dl class="facts">
      <div>
        <dt>Requested by</dt>
        <dd class="breakable">{jobContext}</dd>
      </div>
      <div>
        <dt>For</dt>
        <dd class="breakable">{purpose}</dd>
      </div>
      <div>
        <dt>Requested values</dt>
        <dd class="breakable">{requestedNames(query).map(fieldLabels).join(', ')}</dd>
      </div>
    </dl>
  )
}
