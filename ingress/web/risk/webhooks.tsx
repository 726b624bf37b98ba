import { microsOfDate } from '#shared/time.ts'
import { type EndpointRate, listEndpointRates, listNextAttempts } from '#shared/webhooks/delivery-store.ts'
import type { Endpoint } from '#shared/webhooks/endpoint.ts'
import { listEndpoints } from '#shared/webhooks/endpoint-store.ts'
import { EmptyCard } from '../lists/empty-card.tsx'
import type { Column } from '../lists/list.tsx'
import { Ago } from '../shell/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendList } from './console.tsx'
import { showEndpoint } from './endpoint-page.tsx'
import { EndpointState, failing } from './endpoint-states.tsx'
import { eventsText } from './event-names.ts'
import { replayPages } from './replay.tsx'

const MAX_ENDPOINTS = 100

export function webhookPages(pages: Pages): void {
  pages.get(`${CONSOLE}/webhooks`, showEndpoints)
  pages.get(`${CONSOLE}/webhooks/:endpoint`, showEndpoint)
  replayPages(pages)
}

async function showEndpoints(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { organisationId, env } = console
  const { db, now } = context.deps
  const endpoints = await listEndpoints(db, { organisationId, env, after: null, limit: MAX_ENDPOINTS })
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
    intro: (
      <p class="muted">
        An endpoint is a URL of your system. It receives a signed request for each event, for example when a pack is
        ready.{' '}
        {env === 'SANDBOX' &&
          'Events of the sandbox are signed and stored, but never sent: use an endpoint in production to receive them.'}
      </p>
    ),
    variant: 'wide-table stacked',
    columns: endpointColumns(console, { rates, next, now: now() }),
    rows: endpoints,
    empty: endpoints.length === 0 && (
      <NoEndpoints console={console} elsewhere={await countElsewhere(context, console)} />
    ),
  })
}

/** Counts the endpoints of the other environment. */
async function countElsewhere({ deps }: Context, { organisationId, env }: Console): Promise<number> {
  const other = env === 'SANDBOX' ? 'PRODUCTION' : 'SANDBOX'
  return (await listEndpoints(deps.db, { organisationId, env: other, after: null, limit: MAX_ENDPOINTS })).length
}

function NoEndpoints({ console, elsewhere }: { console: Console; elsewhere: number }) {
  const isSandbox = console.env === 'SANDBOX'
  const other = isSandbox ? 'production' : 'sandbox'
  return (
    <EmptyCard
      title={`No endpoints in ${isSandbox ? 'the sandbox' : 'production'} yet`}
      action={mayIn(console, 'manage') && { label: 'Create an endpoint', href: `${console.base}/webhooks/new` }}
    >
      <p>
        With an endpoint, your system learns at once that a pack is ready or an import has finished. Without one, it has
        to poll the API.
      </p>
      {!mayIn(console, 'manage') && <p>Managers and owners of the organisation can create one.</p>}
      {elsewhere > 0 && (
        <p>
          <a href={`${console.base.replace(/[^/]+$/, other)}/webhooks`}>
            {isSandbox ? 'Production' : 'The sandbox'} has {elsewhere} {elsewhere === 1 ? 'endpoint' : 'endpoints'}
          </a>
          . The environments share nothing.
        </p>
      )}
    </EmptyCard>
  )
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

/** `98 % of 120 attempts succeeded, median 84 ms` */
function rateText(rate: EndpointRate | undefined): string {
  if (!rate) return 'no attempts'
  const share = Math.floor((rate.delivered / rate.attempts) * 100)
  const attempts = `${rate.attempts.toLocaleString('en')} ${rate.attempts === 1 ? 'attempt' : 'attempts'}`
  return `${share} % of ${attempts} succeeded${rate.medianMs === null ? '' : `, median ${rate.medianMs} ms`}`
}
