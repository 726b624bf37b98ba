import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { alertingChanged, deletePolicy as deleteRow, findPolicy, type StoredPolicy } from '../alerting/policy-store.ts'
import type { Project } from '../projects/store.ts'

/**
 * Deletes a policy. Its checks come under the next one that applies, or are told directly; recoveries stay owed.
 * @returns the policy as it was. @throws NotFoundError when the project has no such policy
 */
export async function deletePolicy(
  db: Knex,
  actor: Actor,
  { project, uuid }: { project: Pick<Project, 'id' | 'organisationId'>; uuid: string },
): Promise<StoredPolicy> {
  return await transaction(db, async (tx) => {
    const policy = await findPolicy(tx, project.id, uuid)
    if (!policy || !(await deleteRow(tx, policy.id))) throw new NotFoundError('')
    await alertingChanged(tx, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'policy.deleted', target: policy.name })
    return policy
  })
}
