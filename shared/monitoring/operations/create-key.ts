import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { generateKey, type KeyKind, keyKindNames, keyPrefix } from '../projects/api-key.ts'
import { insertProjectKey, type Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

/** Makes one more key for a project. @returns the key, which nobody can read again */
export async function createKey(
  db: Knex,
  actor: Actor,
  { project, kind }: { project: Project; kind: KeyKind },
  deps: Pick<OperationDeps, 'secrets' | 'announce'>,
): Promise<string> {
  const key = await transaction(db, async (tx) => {
    const { organisationId, name } = project
    const target = `${keyKindNames[kind]} key of ${name}`
    await insertActorAudit(tx, actor, { organisationId, action: 'key.created', target })
    return await storeNewKey(tx, project.id, kind, deps)
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
): Promise<string> {
  const key = generateKey(kind, randomBytes)
  await insertProjectKey(tx, {
    projectId,
    kind,
    prefix: keyPrefix(key),
    digest: secrets.digest(key),
    ...(kind === 'ping' && { sealed: secrets.seal('ping-key', key) }),
  })
  return key
}
