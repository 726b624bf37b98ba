import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { ConflictError, ValidationError } from '../../errors.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import { checkTarget, type Resolve, targetCode, targetProblemTexts } from '../../platform/http/target-policy.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { lockOrganisation } from '../../tenancy/accounts/store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Micros, toIsoMillis } from '../../time.ts'
import { replayDeliveries } from '../delivery-store.ts'
import type { Endpoint } from '../endpoint.ts'
import {
  changeEndpoint,
  closeEndpoint,
  countEndpoints,
  type EndpointChange,
  type EndpointScope,
  enableEndpoint,
  insertEndpoint,
  type NewEndpoint,
  rotateEndpointSecret,
} from '../endpoint-store.ts'
import { TEST_EVENT } from '../event-types.ts'
import { recordEvent } from '../events/store.ts'
import { scheduleDelivery } from '../fan-out-store.ts'
import { formatSecret, SECRET_BYTES } from '../signature.ts'
import { REPLAY_LIMIT, REPLAY_PER_SECOND } from './deliveries.ts'
import { lockEndpointOf, requireActive } from './lock-endpoint.ts'
import { note } from './note.ts'

const MAX_ENDPOINTS = 100

/** The caller has checked the address (`examineTarget`). @throws ConflictError at the maximum number */
export async function registerEndpoint(
  tx: Knex,
  actor: Actor,
  input: Omit<NewEndpoint, 'id' | 'sealedSecret'>,
  { secrets }: { secrets: Secrets },
): Promise<{ endpoint: Endpoint; secret: string }> {
  await lockOrganisation(tx, input.organisationId)
  if ((await countEndpoints(tx, input)) >= MAX_ENDPOINTS) {
    const message = `an organisation has at most ${MAX_ENDPOINTS} endpoints`
    throw new ConflictError(message, [{ path: 'url', code: 'TOO_MANY', message }])
  }
  const secret = formatSecret(randomBytes(SECRET_BYTES))
  const endpoint = await insertEndpoint(tx, {
    ...input,
    id: randomUUID(),
    sealedSecret: secrets.seal('webhook-secret', secret),
  })
  await note(tx, actor, input.organisationId, 'webhook.registered', endpoint.url)
  return { endpoint, secret }
}

/** The caller has checked a new address with `examineTarget`. @throws NotFoundError */
export async function editEndpoint(
  tx: Knex,
  actor: Actor,
  input: { scope: EndpointScope; endpointId: string; change: EndpointChange },
): Promise<Endpoint> {
  const { id } = await lockEndpointOf(tx, input.scope, input.endpointId)
  const changed = await changeEndpoint(tx, id, input.change)
  await note(tx, actor, input.scope.organisationId, 'webhook.changed', changed.url)
  return changed
}

/** Cancels its open deliveries. @throws NotFoundError */
export async function removeEndpoint(
  tx: Knex,
  actor: Actor,
  { scope, endpointId }: { scope: EndpointScope; endpointId: string },
  { now }: { now(): Micros },
): Promise<void> {
  const endpoint = await lockEndpointOf(tx, scope, endpointId)
  await closeEndpoint(tx, endpoint.id, 'DELETED', now())
  await note(tx, actor, scope.organisationId, 'webhook.deleted', endpoint.url)
}

/** The address is checked. `releasePaused` sends its stored events. @throws NotFoundError */
export async function switchOnEndpoint(
  tx: Knex,
  actor: Actor,
  { scope, endpointId, releasePaused }: { scope: EndpointScope; endpointId: string; releasePaused: boolean },
  { enqueue }: { enqueue: Enqueue },
): Promise<Endpoint> {
  const endpoint = await lockEndpointOf(tx, scope, endpointId)
  await enableEndpoint(tx, endpoint.id)
  if (releasePaused) {
    const paused = { endpointId, from: null, to: null, states: ['SUPPRESSED'] } as const
    await replayDeliveries(tx, enqueue, { ...paused, perSecond: REPLAY_PER_SECOND, limit: REPLAY_LIMIT })
  }
  await note(tx, actor, scope.organisationId, 'webhook.enabled', endpoint.url)
  return { ...endpoint, state: 'ACTIVE', reason: null, failures: 0 }
}

/** Events for it are stored and can be replayed. @throws NotFoundError */
export async function switchOffEndpoint(
  tx: Knex,
  actor: Actor,
  { scope, endpointId }: { scope: EndpointScope; endpointId: string },
  { now }: { now(): Micros },
): Promise<Endpoint> {
  const endpoint = await lockEndpointOf(tx, scope, endpointId)
  await closeEndpoint(tx, endpoint.id, 'DISABLED', now())
  await note(tx, actor, scope.organisationId, 'webhook.disabled', endpoint.url)
  return { ...endpoint, state: 'DISABLED', reason: null }
}

/** The old secret also signs until the overlap ends. @throws NotFoundError */
export async function rotateSecret(
  tx: Knex,
  actor: Actor,
  input: { scope: EndpointScope; endpointId: string; overlapSeconds: number },
  { secrets }: { secrets: Secrets },
): Promise<{ endpoint: Endpoint; secret: string }> {
  const { id, url } = await lockEndpointOf(tx, input.scope, input.endpointId)
  const secret = formatSecret(randomBytes(SECRET_BYTES))
  const endpoint = await rotateEndpointSecret(tx, id, secrets.seal('webhook-secret', secret), input.overlapSeconds)
  await note(tx, actor, input.scope.organisationId, 'webhook.secret-rotated', url)
  return { endpoint, secret }
}

/** Sends to this endpoint only. @throws NotFoundError; ConflictError while it is not active */
export async function testEndpoint(
  tx: Knex.Transaction,
  actor: Actor,
  { scope, endpointId }: { scope: EndpointScope; endpointId: string },
  { enqueue, now }: { enqueue: Enqueue; now(): Micros },
): Promise<{ eventId: string; deliveryId: string }> {
  const { id, url } = requireActive(await lockEndpointOf(tx, scope, endpointId))
  const occurredAt = toIsoMillis(now())
  const { organisationId, env } = scope
  const event = { env, organisationId, type: TEST_EVENT, dealId: id, fields: ['endpointId'], occurredAt }
  const { id: eventId } = await recordEvent(tx, enqueue, event)
  const deliveryId = randomUUID()
  await scheduleDelivery(tx, enqueue, { id: deliveryId, endpointId: id, eventId })
  await note(tx, actor, organisationId, 'webhook.tested', url)
  return { eventId, deliveryId }
}

/** Each connection checks it again (docs/spec/transparency.md#webhook-endpoints). Null if permitted. */
export async function urlRefusal(
  url: string,
  env: ApiEnv,
  { config, resolve }: { config: Pick<Config, 'allowPrivateTargets'>; resolve: Resolve },
): Promise<ValidationError | null> {
  const result = await checkTarget(
    url,
    { allowPrivate: config.allowPrivateTargets, plainHttp: 'allowed-networks' },
    resolve,
  )
  if (result.ok || (result.reason === 'unresolvable' && env === 'SANDBOX')) return null
  const message = `url ${targetProblemTexts[result.reason]}`
  return new ValidationError(message, [{ path: 'url', code: targetCode(result.reason), message }])
}
