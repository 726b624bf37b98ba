import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Endpoint } from '../endpoint.ts'
import { type EndpointScope, rotateEndpointSecret } from '../endpoint-store.ts'
import { formatSecret, SECRET_BYTES } from '../signing-secret.ts'
import { lockEndpointOf } from './lock-endpoint.ts'
import { note } from './note.ts'

/**
 * Gives an endpoint a new signing secret; the old one signs beside it for the overlap, 0 ends it at once.
 * @returns the endpoint with the secret, which is never shown again
 * @throws NotFoundError
 */
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
