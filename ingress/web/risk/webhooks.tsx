import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate } from '#shared/time.ts'
import {
  type Delivery,
  type EndpointRate,
  listDeliveries,
  listEndpointRates,
  listNextAttempts,
} from '#shared/webhooks/delivery-store.ts'
import type { Endpoint } from '#shared/webhooks/endpoint.ts'
import { listEndpoints } from '#shared/webhooks/endpoint-store.ts'
import { ButtonForm, Form } from '../forms/form.tsx'
import { CheckBox } from '../forms/inputs.tsx'
import { type Column, FilterChips, Pager, Table } from '../lists/list.tsx'
import { readById } from '../lists/paging.ts'
import { Ago, Crumb, Exact, SecretOnce } from '../shell/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole, sendList } from './console.tsx'
import { Replay, replayPages } from './replay.tsx'
import { requireEndpoint } from './webhook-actions.tsx'

const PAGE_SIZE = 50

export function webhookPages(pages: Pages): void {
  pages.get(`${CONSOLE}/webhooks`, showEndpoints)
  pages.get(`${CONSOLE}/webhooks/:endpoint`, showEndpoint)
  replayPages(pages)
}

async function showEndpoints(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { organisationId, env } = console
  const { db, now } = context.deps
  const endpoints = await listEndpoints(db, { organisationId, env, after: null, limit: 100 })
  const ids = endpoints.map(({ id }) => id)
  const [rates, next] = await Promise.all([listEndpointRates(db, ids), listNextAttempts(db, failing(endpoints))])
  sendList(context, console, {
    title: 'Webhooks',
    heading: 'Webhook endpoints',
    label: 'Endpoints',
    area: 'webhooks',
    pollSeconds: 10,
    path: '/webhooks',
    right: 'manage',
    actions: [['/new', 'New endpoint']],
    intro: env === 'SANDBOX' && <p class="muted">In the sandbox events are signed and stored, and never sent.</p>,
    variant: 'wide-table stacked',
    columns: endpointColumns(console, { rates, next, now: now() }),
    rows: endpoints,
    empty: (
      <section class="card empty-card">
        <h2>No endpoints yet</h2>
        <p>
          An endpoint is a URL of yours that receives a signed request for each event: a pack is ready, a check ended.
        </p>
      </section>
    ),
  })
}

function endpointColumns(
  console: Console,
  known: { rates: ReadonlyMap<string, EndpointRate>; next: ReadonlyMap<string, Date>; now: number },
): Column<Endpoint>[] {
  const { rates, next, now } = known
  return [
    {
      title: 'Endpoint',
      variant: 'breakable',
      cell: ({ id, url, description }) => (
        <>
          <a href={`${console.base}/webhooks/${id}`}>{url}</a>
          {description !== '' && <small>{description}</small>}
        </>
      ),
    },
    { title: 'Events', variant: 'breakable', isLabelled: true, cell: ({ eventTypes }) => eventsText(eventTypes) },
    { title: 'Last 24 hours', isLabelled: true, cell: ({ id }) => rateText(rates.get(id)) },
    {
      title: 'Last success',
      isLabelled: true,
      cell: ({ lastSuccessAt }) => (lastSuccessAt ? <Ago at={microsOfDate(lastSuccessAt)} now={now} /> : 'never'),
    },
    {
      title: 'State',
      cell: (endpoint) => <EndpointState endpoint={endpoint} next={next.get(endpoint.id)} now={now} />,
    },
  ]
}

function eventsText(filters: readonly string[]): string {
  return filters.includes('*') ? 'all events' : filters.join(', ')
}

/** `98 % of 120 attempts, 84 ms` */
function rateText(rate: EndpointRate | undefined): string {
  if (!rate) return 'no attempts'
  const share = Math.floor((rate.delivered / rate.attempts) * 100)
  const attempts = `${rate.attempts.toLocaleString('en')} ${rate.attempts === 1 ? 'attempt' : 'attempts'}`
  return `${share} % of ${attempts}${rate.medianMs === null ? '' : `, ${rate.medianMs} ms`}`
}

const failing = (endpoints: readonly Endpoint[]) =>
  endpoints.filter(({ state, failures }) => state === 'ACTIVE' && failures > 0).map(({ id }) => id)

/** A failing endpoint also shows its next attempt. */
function EndpointState(props: { endpoint: Endpoint; next: Date | undefined; now: number }) {
  const { endpoint, next, now } = props
  const { state, reason, failures } = endpoint
  if (state === 'ACTIVE' && failures > 0) {
    return (
      <span>
        <span class="pill bad">failing, {failures} in a row</span>{' '}
        {next && (
          <small>
            next attempt {microsOfDate(next) > now ? <Ago at={microsOfDate(next)} now={now} /> : 'in a moment'}
          </small>
        )}
      </span>
    )
  }
  return (
    <span>
      <span class={state === 'ACTIVE' ? 'pill good' : 'pill bad'}>{stateLabels[state]}</span>{' '}
      {reason && <small>{reasonLabels[reason]}</small>}
    </span>
  )
}

const stateLabels = {
  ACTIVE: 'active',
  DISABLED: 'switched off',
  DISABLED_FAILING: 'switched off by us',
  BLOCKED: 'switched off by us',
} as const
const reasonLabels = {
  FAILING: 'every attempt failed for five days',
  GONE: 'it answered 410 Gone',
  ADDRESS: 'its address may not be connected to',
} as const

async function showEndpoint(context: Context): Promise<void> {
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
  sendConsole(
    context,
    console,
    { title: 'Deliveries', area: 'webhooks', pollSeconds: 5 },
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
        <SecretOnce what="The signing secret" text={context.flash.secret} label="signing secret" />
      )}
      <p class="muted breakable">
        {eventsText(endpoint.eventTypes)}
        {endpoint.ordered && ' · in order per deal'}
        {endpoint.failures > 0 &&
          ` · ${endpoint.failures} failed ${endpoint.failures === 1 ? 'attempt' : 'attempts'} since the last success`}
        {endpoint.previousSecretExpiresAt && (
          <>
            {' '}
            · the old secret signs too, until <Exact at={microsOfDate(endpoint.previousSecretExpiresAt)} isNamed />
          </>
        )}
      </p>
      {mayIn(console, 'manage') && <EndpointActions context={context} endpoint={endpoint} path={path} />}
      <FilterChips label="State" path={path} name="state" values={STATES} chosen={state} />
      {rows.length === 0 && <p class="empty">No event was due for this endpoint yet.</p>}
      <Table
        label="Deliveries"
        variant="wide-table stacked"
        columns={deliveryColumns(`${console.base}/deliveries`, now())}
        rows={rows}
      />
      <Pager path={path} filters={{ state }} pages={pages} />
      {mayIn(console, 'manage') && endpoint.state === 'ACTIVE' && <Replay context={context} path={path} />}
    </>,
  )
}

const STATES = ['PENDING', 'DELIVERED', 'FAILED', 'EXHAUSTED', 'SUPPRESSED'] as const

function deliveryColumns(path: string, now: number): Column<Delivery>[] {
  return [
    { title: 'Event', cell: ({ id, eventType }) => <a href={`${path}/${id}`}>{eventType}</a> },
    {
      title: 'Deal',
      variant: 'breakable',
      isLabelled: true,
      cell: (delivery) => (isAboutEndpoint(delivery) ? '–' : delivery.dealId),
    },
    { title: 'State', cell: ({ state }) => <DeliveryState state={state} /> },
    { title: 'Attempts', variant: 'figure', isLabelled: true, cell: ({ attempts }) => attempts },
    { title: 'Created', cell: ({ createdAt }) => <Ago at={microsOfDate(createdAt)} now={now} /> },
  ]
}

/** Events about an endpoint contain its id in place of a deal. */
const isAboutEndpoint = ({ eventType }: Delivery) => eventType.startsWith('webhook.')

export function DeliveryState({ state }: { state: Delivery['state'] }) {
  const isBad = state === 'FAILED' || state === 'EXHAUSTED'
  const look = state === 'DELIVERED' ? 'pill good' : isBad ? 'pill bad' : 'pill'
  return <span class={look}>{state === 'SUPPRESSED_SANDBOX' ? 'not sent: sandbox' : words(state)}</span>
}

function EndpointActions({ context, endpoint, path }: { context: Context; endpoint: Endpoint; path: string }) {
  const isActive = endpoint.state === 'ACTIVE'
  return (
    <div class="row endpoint-actions">
      {isActive ? (
        <>
          <ButtonForm context={context} action={`${path}/test`} label="Send a test" variant="primary" />
          <ButtonForm context={context} action={`${path}/disable`} label="Disable" />
        </>
      ) : (
        <Form context={context} action={`${path}/enable`} class="row">
          <button type="submit" class="primary">
            Enable
          </button>
          <CheckBox name="release" isChecked={false} label="and send the events that were held back" />
        </Form>
      )}
      <a class="button" href={`${path}/edit`}>
        Edit
      </a>
      <ButtonForm
        context={context}
        action={`${path}/rotate`}
        confirm={`Make a new signing secret for ${endpoint.url}? The old one stays valid for another day.`}
        yes="Rotate"
        label="Rotate the secret"
      />
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
