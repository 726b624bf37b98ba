import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import type { Outbox } from '#shared/platform/broker/outbox.ts'
import { createSecrets, type Secrets } from '#shared/platform/process/secrets.ts'
import { microsOfSeconds, nowMicros } from '#shared/time.ts'
import { insertEndpoint, type NewEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { recordEvent } from '#shared/webhooks/events/store.ts'
import { formatSecret } from '#shared/webhooks/signature.ts'
import type { RecordedRequest } from '../../support/http-sink.ts'
import type { Pipeline } from './webhook-pipeline.ts'

export interface TestEndpoint {
  id: string
  organisationId: number
  env: ApiEnv
  /** `whsec_` text */
  secret: string
}

async function addOrganisation(db: Knex): Promise<number> {
  const [row] = await db('organisations').insert({ name: 'Test' }).returning(['id'])
  return Number(row?.id)
}

/** Creates an endpoint of a new organisation, unless `options` names one. */
export async function addEndpoint(
  product: Pipeline,
  url: string,
  options: Partial<Pick<NewEndpoint, 'env' | 'organisationId' | 'ordered' | 'eventTypes'>> = {},
): Promise<TestEndpoint> {
  const secret = formatSecret(randomBytes(32))
  const organisationId = options.organisationId ?? (await addOrganisation(product.db))
  const endpoint = {
    id: randomUUID(),
    organisationId,
    env: 'PRODUCTION' as const,
    url,
    description: '',
    eventTypes: ['*'],
    ordered: false,
    sealedSecret: secretsOf(product).seal('webhook-secret', secret),
    ...options,
  }
  await insertEndpoint(product.db, endpoint)
  return { id: endpoint.id, organisationId, env: endpoint.env, secret }
}

export function secretsOf(product: Pipeline): Secrets {
  return createSecrets(product.config.secretKey)
}

/** Records an event as the product does. @returns its id and canonical body */
export async function emit(
  outbox: Outbox,
  owner: { organisationId: number; env: ApiEnv },
  event: { type?: string; dealId?: string } = {},
): Promise<{ id: string; body: string }> {
  return await outbox.run((tx, enqueue) =>
    recordEvent(tx, enqueue, {
      env: owner.env,
      organisationId: owner.organisationId,
      type: event.type ?? 'risk_signals.pack_ready',
      dealId: event.dealId ?? 'deal-1',
      fields: ['packId'],
      occurredAt: new Date().toISOString(),
    }),
  )
}

export interface DeliveryRow {
  id: string
  event_id: string
  endpoint_id: string
  state: string
  attempts: number
  next_attempt_at: Date
  lease_until: Date | null
}

export async function deliveriesOf(db: Knex, endpointId: string): Promise<DeliveryRow[]> {
  return await db('webhook_deliveries')
    .select(['id', 'event_id', 'endpoint_id', 'state', 'attempts', 'next_attempt_at', 'lease_until'])
    .where({ endpoint_id: endpointId })
    .orderBy('seq')
}

export interface AttemptLogRow {
  event_id: string
  n: number
  started_at: Date
  outcome: string
  status_code: number | null
  failure: string | null
}

/** Returns the attempt log of an endpoint in order of time. */
export async function attemptsOf(db: Knex, endpointId: string): Promise<AttemptLogRow[]> {
  return await db('webhook_attempts as a')
    .join('webhook_deliveries as d', 'd.id', 'a.delivery_id')
    .select(['d.event_id', 'a.n', 'a.started_at', 'a.outcome', 'a.status_code', 'a.failure'])
    .where('d.endpoint_id', endpointId)
    .orderBy(['a.started_at', 'd.seq', 'a.n'])
}

/** Returns a sorted line per request, event and second, for the comparison with `attemptLines`. */
export function requestLines(requests: readonly RecordedRequest[]): string[] {
  return requests.map(({ headers }) => `${headers['webhook-id']} ${headers['webhook-timestamp']}`).toSorted()
}

export function attemptLines(attempts: readonly AttemptLogRow[]): string[] {
  return attempts.map(({ event_id, started_at }) => `${event_id} ${Math.floor(started_at.getTime() / 1000)}`).toSorted()
}

/** Creates a clock of the real time plus an offset that a test changes. */
export function movableClock(): { now: () => number; advance(seconds: number): void } {
  let offset = 0
  return {
    now: () => nowMicros() + offset,
    advance(seconds) {
      offset += Math.ceil(microsOfSeconds(seconds))
    },
  }
}
