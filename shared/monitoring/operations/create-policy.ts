import type { Knex } from 'knex'
import { ForbiddenError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { alertingChanged, insertPolicy, policiesOf, type StoredPolicy } from '../alerting/policy-store.ts'
import { readPolicy } from '../alerting/read-policy.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { namedIntegrations } from './named-integrations.ts'

/** Policies that a project may have. */
export const MAX_POLICIES = 50

/**
 * Makes a policy.
 * @throws ValidationError with the first thing that is wrong, ForbiddenError when the project has as many as it may
 */
export async function createPolicy(
  db: Knex,
  actor: Actor,
  { project, body }: { project: Pick<Project, 'id' | 'organisationId'>; body: JsonObject },
): Promise<StoredPolicy> {
  return await transaction(db, async (tx) => {
    const fields = readPolicy(body, null, await namedIntegrations(tx, project.id))
    await lockProject(tx, project.id)
    if ((await policiesOf(tx, [project.id])).length >= MAX_POLICIES) throw new ForbiddenError('')
    const policy = await insertPolicy(tx, project.id, fields)
    await alertingChanged(tx, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'policy.created', target: policy.name })
    return policy
  })
}
