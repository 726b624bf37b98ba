import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { auditCheck, type CheckOfProject, requireLocked } from './check-changes.ts'
import type { OperationDeps } from './deps.ts'
import { type ChangedRules, storeRules } from './store-rules.ts'

/**
 * Changes what a request names of the rules of a check; null resets to the default. Naming `ping_auth` makes a new secret.
 * @throws ValidationError with the first thing that is wrong, NotFoundError for a policy that the project does not have
 */
export async function changeRules(
  db: Knex,
  actor: Actor,
  { project, uuid, body }: CheckOfProject & { body: JsonObject },
  deps: Pick<OperationDeps, 'secrets' | 'announce'>,
): Promise<ChangedRules> {
  const changed = await transaction(db, async (tx) => {
    const check = await requireLocked(tx, project.id, uuid)
    const stored = await storeRules(tx, check, { body, path: '' }, deps)
    await auditCheck(tx, actor, project, 'check.changed', check, ': rules')
    return stored
  })
  deps.announce({ kind: 'check', uuid, projectId: project.id })
  return changed
}
