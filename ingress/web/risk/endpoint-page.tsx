import { microsOfDate } from '#shared/time.ts'
import { type Delivery, listDeliveries, listNextAttempts } from '#shared/webhooks/delivery-store.ts'
import type { Endpoint } from '#shared/webhooks/endpoint.ts'
import { ButtonForm, Form } from '../forms/form.tsx'
import { CheckBox } from '../forms/inputs.tsx'
import { type Column, FilterChips, Pager, Table } from '../lists/list.tsx'
import { readById } from '../lists/paging.ts'
import { Ago, Crumb, Exact, Fact, SecretOnce } from '../shell/basics.tsx'
import type { Context } from '../shell/context.ts'
import { NextAction } from './actions.tsx'
import { type Console, loadConsole, mayIn, sendConsole } from './console.tsx'
import { DeliveryState, deliveryMeanings, EndpointState, failing, isAboutEndpoint } from './endpoint-states.tsx'
import { eventName, eventsText } from './event-names.ts'
import { Replay } from './replay.tsx'
import { VerifySignature } from './verify-signature.tsx'
import { requireEndpoint } from './webhook-actions.tsx'

const PAGE_SIZE = 50

export async function showEndpoint(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const endpoint = await requireEndpoint(context, console)
  const { db, now } = context.deps
  const state = STATES.find((one) => one === context.query.get('state')) ?? null
  const { rows, pages } = await readById(
    context,
    PAGE_SIZE,
    (before, limit) => listDeliveries(db, endpoint.id, { state, before, limit, readable: null }),
    ({ seq }) => seq,
  )
  const path = `${console.base}/webhooks/${endpoint.id}`
  const next = (await listNextAttempts(db, failing([endpoint]))).get(endpoint.id)
  const mayManage = mayIn(console, 'manage')
  const hasDeliveries = rows.length > 0 || state !== null
  const isSandbox = console.env === 'SANDBOX'
  const isActive = endpoint.state === 'ACTIVE'
  // An endpoint of the sandbox never has a success.
  const isUntried = isActive && (isSandbox ? !hasDeliveries : endpoint.lastSuccessAt === null)
  sendConsole(
    context,
    console,
    { title: 'Webhook endpoint', area: 'webhooks', pollSeconds: 5 },
    <>
      <Crumb href={`${console.base}/webhooks`} label="Webhook endpoints" />
      <div class="page-head">
        <div>
          <h1 class="breakable">{endpoint.url}</h1>
          {endpoint.description !== '' && <p class="muted">{endpoint.description}</p>}
        </div>
        <EndpointState endpoint={endpoint} next={next} now={now()} />
      </div>
      {context.flash.secret !== undefined && (
        <SecretOnce
          what="The signing secret, with which your program verifies each request"
          text={context.flash.secret}
          label="signing secret"
        />
      )}
      {mayManage && !isActive && <SwitchOn context={context} path={path} endpoint={endpoint} />}
      {mayManage && isUntried && <FirstSteps context={context} console={console} path={path} />}
      <EndpointFacts endpoint={endpoint} now={now()} />
      {mayManage && (
        <EndpointActions context={context} endpoint={endpoint} path={path} hasTest={isActive && !isUntried} />
      )}
      <VerifySignature isOpen={context.flash.secret !== undefined} />
      <h2 id="deliveries">Deliveries</h2>
      {!isSandbox && <FilterChips label="State" path={path} name="state" values={STATES} chosen={state} />}
      {rows.length === 0 && (
        <p class="empty">
          {state === null
            ? 'No deliveries yet. Send a test event to see the first one.'
            : `No delivery is ${state.toLowerCase()}.`}
        </p>
      )}
      <Table
        label="Deliveries"
        variant="wide-table stacked"
        columns={deliveryColumns(`${console.base}/deliveries`, now())}
        rows={rows}
      />
      <Pager path={path} filters={{ state }} pages={pages} />
      {isSandbox ? hasDeliveries && <p class="hint">{deliveryMeanings.SUPPRESSED_SANDBOX}</p> : <StateMeanings />}
      {mayManage && isActive && hasDeliveries && !isSandbox && <Replay context={context} path={path} />}
    </>,
  )
}

const STATES = ['PENDING', 'DELIVERED', 'FAILED', 'EXHAUSTED', 'SUPPRESSED'] as const

function StateMeanings() {
  return (
    <details class="more">
      <summary>What do the states mean?</summary>
      <div class="stack">
        <dl class="facts">
          {STATES.map((state) => (
            <Fact key={state} title={state.charAt(0) + state.slice(1).toLowerCase()}>
              {deliveryMeanings[state]}
            </Fact>
          ))}
        </dl>
      </div>
    </details>
  )
}

function EndpointFacts({ endpoint, now }: { endpoint: Endpoint; now: number }) {
  const { eventTypes, ordered, failures, lastSuccessAt, previousSecretExpiresAt } = endpoint
  return (
    <dl class="facts card">
      <Fact title="Receives">
        {eventsText(eventTypes)}
        {ordered && ', in order per deal'}
        {!eventTypes.includes('*') && <small class="mono codes">{eventTypes.join(', ')}</small>}
      </Fact>
      <Fact title="Last success">
        {lastSuccessAt ? <Ago at={microsOfDate(lastSuccessAt)} now={now} /> : 'none yet'}
        {failures > 0 && `, then ${failures} failed ${failures === 1 ? 'attempt' : 'attempts'}`}
      </Fact>
      {previousSecretExpiresAt && (
        <Fact title="Secret">
          the old secret is valid until <Exact at={microsOfDate(previousSecretExpiresAt)} isNamed />
        </Fact>
      )}
    </dl>
  )
}

/** Shown until the first event was accepted. */
function FirstSteps({ context, console, path }: { context: Context; console: Console; path: string }) {
  const isSandbox = console.env === 'SANDBOX'
  return (
    <NextAction
      context={context}
      text={
        isSandbox ? (
          <>
            A test event shows what your system would receive. It is signed and stored, but not sent: read it with{' '}
            <a href="/docs/readSandboxInbox">
              <code>GET /v1/sandbox/webhook-inbox</code>
            </a>
            .
          </>
        ) : (
          'Send a test event, and check that your system accepts it. Then let your system verify the signature.'
        )
      }
      actions={[{ label: 'Send test event', href: `${path}/test`, isForm: true }]}
    />
  )
}

function SwitchOn({ context, path, endpoint }: { context: Context; path: string; endpoint: Endpoint }) {
  return (
    <NextAction
      context={context}
      text={`${endpoint.state === 'DISABLED' ? 'Switch it on.' : 'Repair the endpoint or change its URL, then switch it on.'} Events since it was switched off are kept for 90 days, and can be sent now or replayed later.`}
    >
      <Form context={context} action={`${path}/enable`} class="stack">
        <CheckBox name="release" isChecked={false} label="Also send the events that were not sent while it was off" />
        <div>
          <button type="submit" class="primary">
            Switch on
          </button>
        </div>
      </Form>
    </NextAction>
  )
}

function deliveryColumns(path: string, now: number): Column<Delivery>[] {
  return [
    {
      title: 'Event',
      cell: ({ id, eventType }) => (
        <>
          <a href={`${path}/${id}`}>{eventName(eventType)}</a>
          <small class="mono">{eventType}</small>
        </>
      ),
    },
    {
      title: 'Deal',
      variant: 'breakable',
      isLabelled: true,
      cell: (delivery) => (isAboutEndpoint(delivery) ? '–' : delivery.dealId),
    },
    { title: 'State', cell: (delivery) => <DeliveryState {...delivery} /> },
    {
      title: 'Attempts',
      variant: 'figure',
      isLabelled: true,
      cell: ({ attempts, nextAttemptAt }) => (
        <>
          {attempts}
          {nextAttemptAt && attempts > 0 && (
            <small>
              next{' '}
              {microsOfDate(nextAttemptAt) > now ? <Ago at={microsOfDate(nextAttemptAt)} now={now} /> : 'in a moment'}
            </small>
          )}
        </>
      ),
    },
    { title: 'Created', cell: ({ createdAt }) => <Ago at={microsOfDate(createdAt)} now={now} /> },
  ]
}

/** @param hasTest shows the button that sends a test event */
function EndpointActions(props: { context: Context; endpoint: Endpoint; path: string; hasTest: boolean }) {
  const { context, endpoint, path, hasTest } = props
  return (
    <div class="row endpoint-actions">
      {hasTest && <ButtonForm context={context} action={`${path}/test`} label="Send test event" variant="primary" />}
      <a class="button" href={`${path}/edit`}>
        Edit
      </a>
      <ButtonForm
        context={context}
        action={`${path}/rotate`}
        confirm={`Create a new signing secret for ${endpoint.url}? The old one stays valid for 24 hours.`}
        yes="Rotate"
        label="Rotate the secret"
      />
      {endpoint.state === 'ACTIVE' && <ButtonForm context={context} action={`${path}/disable`} label="Switch off" />}
      <ButtonForm
        context={context}
        action={`${path}/delete`}
        confirm={`Delete ${endpoint.url}? Its pending deliveries are cancelled, and its secret is lost.`}
        yes="Delete endpoint"
        label="Delete"
        variant="danger"
      />
    </div>
  )
}
