import type { Knex } from 'knex'
import { ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import {
  alertingChanged,
  changePolicy,
  deletePolicy as deleteRow,
  findPolicy,
  insertPolicy,
  policiesOf,
  type StoredPolicy,
} from '../alerting/policy-store.ts'
import { readPolicy, type StepNames } from '../alerting/read-policy.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { listSchedules } from '../on-call/schedule-store.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { namedIntegrations } from './check-changes.ts'

export const MAX_POLICIES = 50

/** Loads the objects that the steps of the project's policies may name. */
export async function stepNames(db: Knex, project: Pick<Project, 'id' | 'organisationId'>): Promise<StepNames> {
  const schedules = await listSchedules(db, project)
  return {
    integrations: await namedIntegrations(db, project.id),
    schedules: new Set(schedules.map(({ uuid }) => uuid)),
  }
}

/** @throws ValidationError for the first invalid member, ForbiddenError beyond MAX_POLICIES */
export async function createPolicy(
  db: Knex,
  actor: Actor,
  { project, body }: { project: Pick<Project, 'id' | 'organisationId'>; body: JsonObject },
): Promise<StoredPolicy> {
  return await transaction(db, async (tx) => {
    const fields = readPolicy(body, null, await stepNames(tx, project))
    await lockProject(tx, project.id)
    if ((await policiesOf(tx, [project.id])).length >= MAX_POLICIES)
      throw new ForbiddenError(`The project has reached its limit of ${MAX_POLICIES} policies.`)
    const policy = await insertPolicy(tx, project.id, fields)
    await alertingChanged(tx, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'policy.created', target: policy.name })
    return policy
  })
}

/** Open incidents continue with the changed plan. @throws ValidationError, NotFoundError */
export async function updatePolicy(
  db: Knex,
  actor: Actor,
  { project, uuid, body }: { project: Pick<Project, 'id' | 'organisationId'>; uuid: string; body: JsonObject },
): Promise<StoredPolicy> {
  return await transaction(db, async (tx) => {
    const current = await findPolicy(tx, project.id, uuid)
    if (!current) throw new NotFoundError('')
    const fields = readPolicy(body, current, await stepNames(tx, project))
    const policy = await changePolicy(tx, current.id, fields)
    if (!policy) throw new NotFoundError('')
    await alertingChanged(tx, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'policy.changed', target: policy.name })
    return policy
  })
}

/** Notified integrations still get the recovery. @throws NotFoundError */
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
