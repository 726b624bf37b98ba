import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { alertingChanged, changePolicy, findPolicy, type StoredPolicy } from '../alerting/policy-store.ts'
import { readPolicy } from '../alerting/read-policy.ts'
import type { JsonObject } from '../checks/json-body.ts'
import type { Project } from '../projects/store.ts'
import { namedIntegrations } from './named-integrations.ts'

/**
 * Changes what a request names of a policy; the rest stays. The change counts from now.
 * @throws ValidationError with the first thing that is wrong, NotFoundError when the project has no such policy
 */
export async function updatePolicy(
  db: Knex,
  actor: Actor,
  { project, uuid, body }: { project: Pick<Project, 'id' | 'organisationId'>; uuid: string; body: JsonObject },
): Promise<StoredPolicy> {
  return await transaction(db, async (tx) => {
    const current = await findPolicy(tx, project.id, uuid)
    if (!current) throw new NotFoundError('')
    const fields = readPolicy(body, current, await namedIntegrations(tx, project.id))
    const policy = await changePolicy(tx, current.id, fields)
    if (!policy) throw new NotFoundError('')
    await alertingChanged(tx, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'policy.changed', target: policy.name })
    return policy
  })
}
