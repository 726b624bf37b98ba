import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { generateKey, type KeyKind, keyKindNames, keyPrefix } from '../projects/api-key.ts'
import { insertProjectKey, type Project } from '../projects/store.ts'
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
