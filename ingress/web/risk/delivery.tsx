import { NotFoundError } from '#shared/errors.ts'
import { microsOfDate } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Attempt, type Delivery, findDelivery, listAttempts } from '#shared/webhooks/delivery-store.ts'
import { findEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { isRetryable, retryDelivery } from '#shared/webhooks/operations/deliveries.ts'
import { ButtonForm } from '../forms/form.tsx'
import { personOf } from '../shell/audit.ts'
import { Ago, CodeBlock, Crumb, Exact } from '../shell/basics.tsx'
import { type Context, type FormContext, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole } from './console.tsx'
import { curlOf } from './curl.ts'
import { DeliveryState, deliveryMeanings, isAboutEndpoint } from './endpoint-states.tsx'
import { eventName } from './event-names.ts'

export function deliveryPages(pages: Pages): void {
  pages.get(`${CONSOLE}/deliveries/:delivery`, showDelivery)
  pages.post(`${CONSOLE}/deliveries/:delivery/resend`, resend)
}

/** @throws NotFoundError alike for unknown deliveries and those of other organisations */
async function requireDelivery(context: Context, console: Console): Promise<Delivery & { body: string }> {
  const id = context.params.delivery ?? ''
  const delivery = isUuid(id) ? await findDelivery(context.deps.db, console, id, null) : undefined
  if (!delivery) throw new NotFoundError('There is no such delivery, or it is not one of yours.')
  return delivery
}

async function showDelivery(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const delivery = await requireDelivery(context, console)
  const { db, now } = context.deps
  const [attempts, endpoint] = await Promise.all([
    listAttempts(db, delivery.id),
    findEndpoint(db, console, delivery.endpointId),
  ])
  const path = `${console.base}/deliveries/${delivery.id}`
  sendConsole(
    context,
    console,
    { title: 'Delivery', area: 'webhooks', pollSeconds: 5 },
    <>
      <Crumb href={`${console.base}/webhooks/${delivery.endpointId}`} label={endpoint?.url ?? 'A deleted endpoint'} />
      <div class="page-head">
        <div>
          <h1>
            {eventName(delivery.eventType)} <DeliveryState {...delivery} />
          </h1>
          <p class="muted breakable">
            <code>{delivery.eventType}</code>
            {!isAboutEndpoint(delivery) && (
              <>
                {' '}
                of deal <code>{delivery.dealId}</code>
              </>
            )}
          </p>
        </div>
        {mayIn(console, 'edit') && isRetryable(delivery) && endpoint?.state === 'ACTIVE' && (
          <ButtonForm context={context} action={`${path}/resend`} label="Resend now" variant="primary" />
        )}
      </div>
      <p>{deliveryMeanings[delivery.state]}</p>
      <Timeline delivery={delivery} attempts={attempts} now={now()} />
      <div class="side-by-side">
        <section class="card" aria-labelledby="request">
          <h2 id="request">Request</h2>
          <p class="breakable">
            <code>POST {endpoint?.url ?? ''}</code>
          </p>
          <h3>Headers</h3>
          <CodeBlock
            text={`content-type: application/json\nwebhook-id: ${delivery.eventId}\nwebhook-timestamp: <time of the attempt, in seconds>\nwebhook-signature: <v1,… made with the secret of the endpoint>`}
            label="headers"
          />
          <h3>Body</h3>
          <CodeBlock text={JSON.stringify(JSON.parse(delivery.body), null, 2)} label="payload" />
        </section>
        <Response attempt={attempts.at(-1)} />
      </div>
      {endpoint && (
        <section class="card" aria-labelledby="curl">
          <h2 id="curl">As curl</h2>
          <p class="muted">
            Sends the exact body without a signature. An endpoint that verifies signatures refuses it.
          </p>
          <CodeBlock text={curlOf(endpoint.url, delivery)} label="curl command" />
        </section>
      )}
    </>,
  )
}

/** Omits the body of the response, because the server may belong to another owner. */
function Response({ attempt }: { attempt: Attempt | undefined }) {
  return (
    <section class="card" aria-labelledby="response">
      <h2 id="response">Response</h2>
      {attempt === undefined ? (
        <p class="muted">No attempt yet.</p>
      ) : (
        <dl class="facts">
          <div>
            <dt>Status</dt>
            <dd>{attempt.statusCode === null ? 'no response' : `HTTP ${attempt.statusCode}`}</dd>
          </div>
          <div>
            <dt>Result</dt>
            <dd>{resultText(attempt)}</dd>
          </div>
          <div>
            <dt>Took</dt>
            <dd>{attempt.durationMs === null ? '–' : `${attempt.durationMs} ms`}</dd>
          </div>
          <div>
            <dt>Attempt</dt>
            <dd>
              {attempt.n}, at <Exact at={microsOfDate(attempt.startedAt)} isNamed />
            </dd>
          </div>
        </dl>
      )}
      <p class="hint foot">The response body is not shown, because the server may belong to another owner.</p>
    </section>
  )
}

function failureText(failure: string): string {
  return failureLabels[failure] ?? failure
}

const failureLabels: Readonly<Record<string, string>> = {
  config: 'the settings of the endpoint allow no attempt',
  blocked: 'its address is not allowed',
  dns: 'the host name was not found',
  connect: 'the connection failed',
  tls: 'the TLS certificate was not accepted',
  timeout: 'timeout: no response in time',
  reset: 'the connection was reset',
  protocol: 'the response could not be read',
  status: 'the status is not 2xx',
  refused: 'the endpoint refused it',
  limit: 'a limit was reached',
  internal: 'an error on our side',
}

function resultText({ outcome, failure }: Attempt): string {
  return failure === null ? outcome : `${outcome}: ${failureText(failure)}`
}

function Timeline({ delivery, attempts, now }: { delivery: Delivery; attempts: readonly Attempt[]; now: number }) {
  return (
    <section class="card" aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      <ol class="attempts">
        <li>
          <span class="pill">created</span> <Ago at={microsOfDate(delivery.createdAt)} now={now} />
        </li>
        {attempts.map((attempt) => (
          <li key={attempt.n} class={attempt.outcome}>
            <span class={attempt.outcome === 'delivered' ? 'pill good' : 'pill bad'}>
              {attempt.n}. {attempt.outcome}
            </span>{' '}
            <Ago at={microsOfDate(attempt.startedAt)} now={now} />
            <small class="breakable">
              {[
                attempt.statusCode === null ? null : `HTTP ${attempt.statusCode}`,
                attempt.statusCode === null && attempt.failure !== null ? failureText(attempt.failure) : null,
                attempt.durationMs === null ? null : `${attempt.durationMs} ms`,
              ]
                .filter((part) => part !== null)
                .join(' · ')}
            </small>
          </li>
        ))}
        {delivery.nextAttemptAt && (
          <li>
            <span class="pill">next attempt</span>{' '}
            {microsOfDate(delivery.nextAttemptAt) > now ? (
              <Ago at={microsOfDate(delivery.nextAttemptAt)} now={now} />
            ) : (
              'is due. While the endpoint fails, only one attempt runs at a time.'
            )}
          </li>
        )}
        {delivery.finishedAt && (
          <li>
            <DeliveryState {...delivery} /> <Ago at={microsOfDate(delivery.finishedAt)} now={now} />
          </li>
        )}
      </ol>
    </section>
  )
}

async function resend(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'edit')
  const { id } = await requireDelivery(context, console)
  const wanted = { scope: console, deliveryId: id, readable: null }
  await context.deps.outbox.run((tx, enqueue) =>
    retryDelivery(tx, personOf(context, console.session), wanted, { enqueue }),
  )
  const path = `${console.base}/deliveries/${id}`
  setFlash(context, path, { notice: 'The event is being sent again. The attempt appears below.' })
  redirect(context, path)
}
