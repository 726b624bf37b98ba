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
import { insertProjectKey, type Project, replaceProjectKey, revokeProjectKey } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

const MAX_NAME = 100

/** The name is cut to MAX_NAME characters. Pages show the key only now, unless it is a ping key. */
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

/** A ping key is also stored sealed, because pages show it inside ping URLs. */
export async function storeNewKey(
  tx: Knex,
  projectId: number,
  kind: KeyKind,
  { secrets }: Pick<OperationDeps, 'secrets'>,
  attributes: { name?: string; createdBy?: string } = {},
): Promise<string> {
  const key = generateKey(kind, randomBytes)
  await insertProjectKey(tx, {
    projectId,
    kind,
    prefix: keyPrefix(key),
    digest: secrets.digest(key),
    ...attributes,
    ...(kind === 'ping' && {
      foldedDigest: secrets.digest(key.toLowerCase()),
      sealed: secrets.seal('ping-key', key),
    }),
  })
  return key
}

/**
 * Creates a key with the name and kind of another one, which works until it is revoked.
 * @throws NotFoundError for a missing, revoked or replaced key
 */
export async function rotateKey(
  db: Knex,
  actor: Actor,
  { project, keyId }: { project: Project; keyId: number },
  deps: Pick<OperationDeps, 'secrets' | 'announce'>,
): Promise<{ kind: KeyKind; key: string }> {
  const rotated = await transaction(db, async (tx) => {
    const old = Number.isSafeInteger(keyId) ? await replaceProjectKey(tx, project.id, keyId) : null
    if (!old) throw new NotFoundError('The key does not exist, or is revoked or replaced already.')
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'key.rotated', target: `${name} #${keyId}` })
    const attributes = { name: old.name, createdBy: auditedActor(actor).actor }
    return { kind: old.kind, key: await storeNewKey(tx, project.id, old.kind, deps, attributes) }
  })
  deps.announce({ kind: 'project', projectId: project.id })
  return rotated
}

/** The key stops working within seconds. @throws NotFoundError for a missing or revoked key */
export async function revokeKey(
  db: Knex,
  actor: Actor,
  { project, keyId }: { project: Project; keyId: number },
  deps: Pick<OperationDeps, 'announce'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    const isRevoked = Number.isSafeInteger(keyId) && (await revokeProjectKey(tx, project.id, keyId))
    if (!isRevoked) throw new NotFoundError('The key does not exist or is revoked already.')
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'key.revoked', target: `${name} #${keyId}` })
  })
  deps.announce({ kind: 'project', projectId: project.id })
}

/** Deletes the secret if `ping_auth` is null; it must be valid. Returns the new secret or null. */
export async function storePingSecret(
  tx: Knex,
  checkId: number,
  pingAuth: JsonValue | undefined,
  { secrets }: { secrets: Secrets },
): Promise<string | null> {
  if (pingAuth === null) await deletePingSecret(tx, checkId)
  if (!isPresent(pingAuth)) return null
  const secret = generatePingSecret(randomBytes)
  const { overlap } = readPingAuth(pingAuth, 'ping_auth')
  await savePingSecret(tx, checkId, { sealedSecret: secrets.seal('ping-secret', secret), overlapSeconds: overlap })
  return secret
}
