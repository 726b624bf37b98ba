import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { isPresent } from '../alerting/fields.ts'
import { readPingAuth } from '../alerting/read-policy.ts'
import type { JsonValue } from '../checks/json-body.ts'
import { generatePingSecret } from '../pings/ping-secret.ts'
import { deletePingSecret, savePingSecret } from '../pings/secret-store.ts'
import { generateKey, type KeyKind, keyKindNames, keyPrefix } from '../projects/api-key.ts'
import { insertProjectKey, type Project, revokeProjectKey } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

const MAX_NAME = 100

/**
 * Makes one more key for a project.
 * @param input.name what it is for, cut to what a list shows
 * @returns the key, which nobody can read again
 */
export async function createKey(
  db: Knex,
  actor: Actor,
  { project, kind, name = '' }: { project: Project; kind: KeyKind; name?: string },
  deps: Pick<OperationDeps, 'secrets' | 'announce'>,
): Promise<string> {
  const key = await transaction(db, async (tx) => {
    const { organisationId } = project
    const named = name.slice(0, MAX_NAME)
    const target = `${keyKindNames[kind]} key ${named === '' ? '' : `“${named}” `}of ${project.name}`
    await insertActorAudit(tx, actor, { organisationId, action: 'key.created', target })
    return await storeNewKey(tx, project.id, kind, deps, { name: named, createdBy: auditedActor(actor).actor })
  })
  deps.announce({ kind: 'project', projectId: project.id })
  return key
}

/** Makes a key and stores its digest. A ping key is kept readable too, sealed: pages show it inside ping URLs. */
export async function storeNewKey(
  tx: Knex,
  projectId: number,
  kind: KeyKind,
  { secrets }: Pick<OperationDeps, 'secrets'>,
  said: { name?: string; createdBy?: string } = {},
): Promise<string> {
  const key = generateKey(kind, randomBytes)
  await insertProjectKey(tx, {
    projectId,
    kind,
    prefix: keyPrefix(key),
    digest: secrets.digest(key),
    ...said,
    ...(kind === 'ping' && { sealed: secrets.seal('ping-key', key) }),
  })
  return key
}

/**
 * Revokes a key of a project; it stops working within seconds.
 * @throws NotFoundError when the project has no such key, or it is revoked
 */
export async function revokeKey(
  db: Knex,
  actor: Actor,
  { project, keyId }: { project: Project; keyId: number },
  deps: Pick<OperationDeps, 'announce'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    const isRevoked = Number.isSafeInteger(keyId) && (await revokeProjectKey(tx, project.id, keyId))
    if (!isRevoked) throw new NotFoundError('There is no such key.')
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'key.revoked', target: `${name} #${keyId}` })
  })
  deps.announce({ kind: 'project', projectId: project.id })
}

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
