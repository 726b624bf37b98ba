import type { Knex } from 'knex'
import { NotFoundError, ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { findPolicy } from '../alerting/policy-store.ts'
import { resolveIntegrations } from '../checks/integrations-field.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { type Provisioning, readProvisioning } from '../checks/provisioning.ts'
import { listIntegrations } from '../integrations/store.ts'
import { lockProvisioning, saveProvisioning } from '../pings/provision-store.ts'
import type { Project } from '../projects/store.ts'

/**
 * Changes what checks are that their first ping makes; those that exist stay as they are.
 * @throws ValidationError with the first thing that is wrong, NotFoundError for a policy that the project does not have
 */
export async function changeProvisioning(
  db: Knex,
  actor: Actor,
  { project, body }: { project: Pick<Project, 'id' | 'organisationId' | 'name'>; body: JsonObject },
): Promise<Provisioning> {
  return await transaction(db, async (tx) => {
    const provisioning = readProvisioning(body, await lockProvisioning(tx, project.id))
    const channels = (await listIntegrations(tx, project.id)).map(({ uuid, name }) => ({ id: uuid, name }))
    const choice = provisioning.channels === null ? null : resolveIntegrations(provisioning.channels, channels)
    if (choice && !choice.ok) throw new ValidationError(choice.error)
    if (provisioning.policy !== null && !(await findPolicy(tx, project.id, provisioning.policy)))
      throw new NotFoundError('')
    await saveProvisioning(tx, project.id, provisioning)
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'project.changed', target: `${name}: provisioning` })
    return provisioning
  })
}
