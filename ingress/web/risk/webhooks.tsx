import { NotFoundError } from '#shared/errors.ts'
import { microsOfDate } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Delivery, listDeliveries, REPLAYABLE } from '#shared/webhooks/delivery-store.ts'
import type { Endpoint } from '#shared/webhooks/endpoint.ts'
import { findEndpoint, listEndpoints } from '#shared/webhooks/endpoint-store.ts'
import { replayEndpoint } from '#shared/webhooks/operations/replay-endpoint.ts'
import { paged } from '../../paging.ts'
import { CheckBox, Form } from '../components/form.tsx'
import { Ago } from '../components/time.tsx'
import { personOf } from '../frame/audit.ts'
import { type Context, type FormContext, type Pages, redirect } from '../frame/context.ts'
import { leaveFlash } from '../frame/flash.ts'
import { CONSOLE, type Console, mayIn, openConsole, sendConsole } from './console.tsx'

const PAGE_SIZE = 50
/** Deliveries of one replay from the page. */
const REPLAY_LIMIT = 10_000

/** Where events are sent, and what became of each. */
export function webhookPages(pages: Pages): void {
  pages.get(`${CONSOLE}/webhooks`, showEndpoints)
  pages.get(`${CONSOLE}/webhooks/:endpoint`, showEndpoint)
  pages.post(`${CONSOLE}/webhooks/:endpoint/replay`, replay)
}

async function showEndpoints(context: Context): Promise<void> {
  const console = await openConsole(context, 'view')
  const { organisationId, env } = console
  const endpoints = await listEndpoints(context.deps.db, { organisationId, env, after: null, limit: 100 })
  sendConsole(
    context,
    console,
    { title: 'Webhooks', tab: 'webhooks', pollSeconds: 10 },
    <>
      <h1>Webhook endpoints</h1>
      {env === 'SANDBOX' && <p class="muted">In the sandbox events are signed and stored, and never sent.</p>}
      {endpoints.length === 0 && (
        <p class="empty">
          No endpoint yet. <code>POST /v1/webhooks/endpoints</code> registers one.
        </p>
      )}
      {endpoints.map((endpoint) => (
        <section class="card" key={endpoint.id} aria-label={endpoint.url}>
          <div class="card-head">
            <h2 class="breakable">
              <a href={`${console.base}/webhooks/${endpoint.id}`}>{endpoint.url}</a>
            </h2>
            <EndpointState endpoint={endpoint} />
          </div>
          <p class="muted breakable">
            {[endpoint.description, endpoint.eventTypes.join(', ')].filter(Boolean).join(' · ')}
          </p>
        </section>
      ))}
    </>,
  )
}

function EndpointState({ endpoint: { state, reason, failures } }: { endpoint: Endpoint }) {
  const text = state.toLowerCase().replaceAll('_', ' ')
  if (state === 'ACTIVE' && failures > 0) return <span class="pill bad">failing, {failures} in a row</span>
  return (
    <span class={state === 'ACTIVE' ? 'pill good' : 'pill bad'}>
      {reason ? `${text}: ${reason.toLowerCase()}` : text}
    </span>
  )
}

/** @throws NotFoundError for unknown endpoints and those of others alike */
async function openEndpoint(context: Context, console: Console): Promise<Endpoint> {
  const id = context.params.endpoint ?? ''
  const endpoint = isUuid(id) ? await findEndpoint(context.deps.db, console, id) : undefined
  if (!endpoint) throw new NotFoundError('There is no such endpoint, or it is not one of yours.')
  return endpoint
}

async function showEndpoint(context: Context): Promise<void> {
  const console = await openConsole(context, 'view')
  const endpoint = await openEndpoint(context, console)
  const { db, now } = context.deps
  const before = Number(context.query.get('before') ?? Number.NaN)
  const page = {
    state: null,
    before: Number.isSafeInteger(before) ? before : null,
    limit: PAGE_SIZE + 1,
    readable: null,
  }
  const rows = await listDeliveries(db, endpoint.id, page)
  const { page: deliveries, nextCursor } = paged(rows, PAGE_SIZE, ({ seq }) => seq)
  const path = `${console.base}/webhooks/${endpoint.id}`
  sendConsole(
    context,
    console,
    { title: 'Deliveries', tab: 'webhooks', pollSeconds: 5 },
    <>
      <p class="crumb">
        <a href={`${console.base}/webhooks`}>Webhook endpoints</a>
      </p>
      <div class="page-head">
        <h1 class="breakable">{endpoint.url}</h1>
        <EndpointState endpoint={endpoint} />
      </div>
      <p class="muted">
        {endpoint.eventTypes.join(', ')}
        {endpoint.ordered && ' · in order per deal'}
        {endpoint.failures > 0 &&
          ` · ${endpoint.failures} failed ${endpoint.failures === 1 ? 'attempt' : 'attempts'} since the last success`}
      </p>
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
          <a rel="next" href={`${path}?before=${nextCursor}`}>
            Older
          </a>
        )}
      </nav>
      {mayIn(console, 'manage') && endpoint.state === 'ACTIVE' && (
        <section class="card" aria-labelledby="replay">
          <h2 id="replay">Replay</h2>
          <p class="muted">Sends the same events with the same bodies once more, in order, at most 50 a second.</p>
          <Form context={context} action={`${path}/replay`} class="stack">
            <fieldset>
              <legend>Deliveries that are</legend>
              {REPLAYABLE.map((state) => (
                <CheckBox
                  key={state}
                  name="state"
                  value={state}
                  label={state.toLowerCase()}
                  isChecked={state !== 'DELIVERED'}
                />
              ))}
            </fieldset>
            <p>
              <button type="submit">Replay</button>
            </p>
          </Form>
        </section>
      )}
    </>,
  )
}

function DeliveryTable(props: { deliveries: readonly Delivery[]; base: string; now: number }) {
  return (
    <table class="plain-table wide-table">
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
            <td class="breakable">{delivery.dealId}</td>
            <td>
              <DeliveryState state={delivery.state} />
            </td>
            <td class="figure">{delivery.attempts}</td>
            <td>
              <Ago at={microsOfDate(delivery.createdAt)} now={props.now} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** How a delivery stands, in words and in colour. */
export function DeliveryState({ state }: { state: Delivery['state'] }) {
  const isBad = state === 'FAILED' || state === 'EXHAUSTED'
  const look = state === 'DELIVERED' ? 'pill good' : isBad ? 'pill bad' : 'pill'
  return <span class={look}>{state.toLowerCase().replaceAll('_', ' ')}</span>
}

async function replay(context: FormContext): Promise<void> {
  const console = await openConsole(context, 'manage')
  const { id } = await openEndpoint(context, console)
  const wanted = new Set(context.form.getAll('state'))
  const states = REPLAYABLE.filter((state) => wanted.has(state))
  const what = { scope: console, endpointId: id, from: null, to: null, states, limit: REPLAY_LIMIT }
  const count = await context.deps.outbox.run((tx, enqueue) =>
    replayEndpoint(tx, personOf(context, console.session), what, { enqueue }),
  )
  const path = `${console.base}/webhooks/${id}`
  const notice =
    count === 0
      ? 'Nothing matched: there is no such delivery to send again.'
      : `${count} ${count === 1 ? 'delivery is' : 'deliveries are'} sent again.`
  leaveFlash(context, path, { notice })
  redirect(context, path)
}
