import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { lockOrganisation } from '../../tenancy/accounts/store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Endpoint } from '../endpoint.ts'
import { countEndpoints, insertEndpoint, type NewEndpoint } from '../endpoint-store.ts'
import { formatSecret, SECRET_BYTES } from '../signing-secret.ts'
import { note } from './note.ts'

/** Endpoints of an organisation and environment. */
const MAX_ENDPOINTS = 100

/**
 * Registers an endpoint whose address was examined before.
 * @returns it with its signing secret, which is stored sealed and never shown again
 * @throws ConflictError when the organisation has as many endpoints as it may
 */
export async function registerEndpoint(
  tx: Knex,
  actor: Actor,
  input: Omit<NewEndpoint, 'id' | 'sealedSecret'>,
  { secrets }: { secrets: Secrets },
): Promise<{ endpoint: Endpoint; secret: string }> {
  await lockOrganisation(tx, input.organisationId)
  if ((await countEndpoints(tx, input)) >= MAX_ENDPOINTS) {
    throw new ConflictError(`an organisation has at most ${MAX_ENDPOINTS} endpoints`)
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
