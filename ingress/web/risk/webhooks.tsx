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
import { paged } from '../../paging.ts'
import { Ago, Exact } from '../components/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole } from './console.tsx'
import { Replay, replayPages } from './replay.tsx'
import { requireEndpoint } from './webhook-actions.tsx'
import { EndpointActions, NewSecret } from './webhook-forms.tsx'

const PAGE_SIZE = 50

/** Where events are sent, and what became of each. */
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
  sendConsole(
    context,
    console,
    { title: 'Webhooks', area: 'webhooks', pollSeconds: 10 },
    <>
      <div class="page-head">
        <h1>Webhook endpoints</h1>
        {mayIn(console, 'manage') && (
          <a class="button primary" href={`${console.base}/webhooks/new`}>
            New endpoint
          </a>
        )}
      </div>
      {env === 'SANDBOX' && <p class="muted">In the sandbox events are signed and stored, and never sent.</p>}
      {endpoints.length === 0 ? (
        <section class="card empty-card">
          <h2>No endpoints yet</h2>
          <p>
            An endpoint is an address of yours that gets a signed request for each event: a pack is ready, a check
            ended.
          </p>
        </section>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section class="card table-card scroll" tabIndex={0} aria-label="Endpoints">
          <EndpointTable console={console} endpoints={endpoints} rates={rates} next={next} now={now()} />
        </section>
      )}
    </>,
  )
}

function EndpointTable(props: {
  console: Console
  endpoints: readonly Endpoint[]
  rates: ReadonlyMap<string, EndpointRate>
  next: ReadonlyMap<string, Date>
  now: number
}) {
  const { console, endpoints, rates, next, now } = props
  return (
    <table class="plain-table wide-table stacked">
      <thead>
        <tr>
          <th scope="col">Endpoint</th>
          <th scope="col">Events</th>
          <th scope="col">Last 24 hours</th>
          <th scope="col">Last success</th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {endpoints.map((endpoint) => (
          <tr key={endpoint.id}>
            <td class="breakable">
              <a href={`${console.base}/webhooks/${endpoint.id}`}>{endpoint.url}</a>
              {endpoint.description !== '' && <small>{endpoint.description}</small>}
            </td>
            <td class="breakable" data-label="Events">
              {eventsText(endpoint.eventTypes)}
            </td>
            <td data-label="Last 24 hours">{rateText(rates.get(endpoint.id))}</td>
            <td data-label="Last success">
              {endpoint.lastSuccessAt ? <Ago at={microsOfDate(endpoint.lastSuccessAt)} now={now} /> : 'never'}
            </td>
            <td>
              <EndpointState endpoint={endpoint} next={next.get(endpoint.id)} now={now} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The filters of an endpoint; a star alone says little to who did not write it. */
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

/** How an endpoint stands; one that fails also when it is tried next. */
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
  const before = Number(context.query.get('before') ?? Number.NaN)
  const page = {
    state: STATES.find((state) => state === context.query.get('state')) ?? null,
    before: Number.isSafeInteger(before) ? before : null,
    limit: PAGE_SIZE + 1,
    readable: null,
  }
  const rows = await listDeliveries(db, endpoint.id, page)
  const { page: deliveries, nextCursor } = paged(rows, PAGE_SIZE, ({ seq }) => seq)
  const path = `${console.base}/webhooks/${endpoint.id}`
  const next = (await listNextAttempts(db, failing([endpoint]))).get(endpoint.id)
  sendConsole(
    context,
    console,
    { title: 'Deliveries', area: 'webhooks', pollSeconds: 5 },
    <>
      <p class="crumb">
        <a href={`${console.base}/webhooks`}>Webhook endpoints</a>
      </p>
      <div class="page-head">
        <div>
          <h1 class="breakable">{endpoint.url}</h1>
          {endpoint.description !== '' && <p class="muted">{endpoint.description}</p>}
        </div>
        <EndpointState endpoint={endpoint} next={next} now={now()} />
      </div>
      {context.flash.secret !== undefined && <NewSecret secret={context.flash.secret} />}
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
      <StateFilter path={path} state={page.state} />
      {deliveries.length === 0 && <p class="empty">Nothing was owed to this endpoint yet.</p>}
      {deliveries.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section class="card table-card scroll" tabIndex={0} aria-label="Deliveries">
          <DeliveryTable deliveries={deliveries} base={console.base} now={now()} />
        </section>
      )}
      <nav class="pager" aria-label="Pages">
        {page.before !== null && <a href={path}>Newest</a>}
        {nextCursor !== null && (
          <a rel="next" href={`${path}?${page.state === null ? '' : `state=${page.state}&`}before=${nextCursor}`}>
            Older
          </a>
        )}
      </nav>
      {mayIn(console, 'manage') && endpoint.state === 'ACTIVE' && <Replay context={context} path={path} />}
    </>,
  )
}

const STATES = ['PENDING', 'DELIVERED', 'FAILED', 'EXHAUSTED', 'SUPPRESSED'] as const

function StateFilter({ path, state }: { path: string; state: Delivery['state'] | null }) {
  return (
    <ul class="chips small" aria-label="State">
      <li>
        <a href={path} aria-current={state === null ? 'true' : undefined}>
          All
        </a>
      </li>
      {STATES.map((one) => (
        <li key={one}>
          <a href={`${path}?state=${one}`} aria-current={state === one ? 'true' : undefined}>
            {one.toLowerCase()}
          </a>
        </li>
      ))}
    </ul>
  )
}

function DeliveryTable(props: { deliveries: readonly Delivery[]; base: string; now: number }) {
  return (
    <table class="plain-table wide-table stacked">
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Deal</th>
          <th scope="col">State</th>
          <th scope="col">Attempts</th>
          <th scope="col">Created</th>
        </tr>
      </thead>
      <tbody>
        {props.deliveries.map((delivery) => (
          <tr key={delivery.id}>
            <td>
              <a href={`${props.base}/deliveries/${delivery.id}`}>{delivery.eventType}</a>
            </td>
            <td class="breakable" data-label="Deal">
              {isAboutEndpoint(delivery) ? '–' : delivery.dealId}
            </td>
            <td>
              <DeliveryState state={delivery.state} />
            </td>
            <td class="figure" data-label="Attempts">
              {delivery.attempts}
            </td>
            <td>
              <Ago at={microsOfDate(delivery.createdAt)} now={props.now} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Events about an endpoint are of no deal: they carry the endpoint's own id in its place. */
const isAboutEndpoint = ({ eventType }: Delivery) => eventType.startsWith('webhook.')

/** How a delivery stands, in words and in colour. */
export function DeliveryState({ state }: { state: Delivery['state'] }) {
  const isBad = state === 'FAILED' || state === 'EXHAUSTED'
  const look = state === 'DELIVERED' ? 'pill good' : isBad ? 'pill bad' : 'pill'
  return <span class={look}>{state === 'SUPPRESSED_SANDBOX' ? 'not sent: sandbox' : words(state)}</span>
}
