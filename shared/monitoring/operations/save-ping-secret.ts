import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import type { Secrets } from '../../platform/process/secrets.ts'
import { isPresent } from '../alerting/fields.ts'
import { readPingAuth } from '../alerting/read-policy.ts'
import type { JsonValue } from '../checks/json-body.ts'
import { generatePingSecret } from '../pings/ping-secret.ts'
import { deletePingSecret, savePingSecret } from '../pings/secret-store.ts'

/**
 * Makes a new ping secret where a request names how pings show one, and forgets it where the request says null.
 * @param given `ping_auth` of the request, which was found valid
 * @returns the new secret; null when there is none
 */
export async function storePingSecret(
  tx: Knex,
  checkId: number,
  given: JsonValue | undefined,
  { secrets }: { secrets: Secrets },
): Promise<string | null> {
  if (given === null) await deletePingSecret(tx, checkId)
  if (!isPresent(given)) return null
  const secret = generatePingSecret(randomBytes)
  const { overlap } = readPingAuth(given, 'ping_auth')
  await savePingSecret(tx, checkId, { sealedSecret: secrets.seal('ping-secret', secret), overlapSeconds: overlap })
  return secret
}
