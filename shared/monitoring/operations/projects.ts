import type { Knex } from 'knex'
import { ConflictError, NotFoundError, ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { ensureOrganisation } from '../../tenancy/organisations/store.ts'
import { promoteMembersOfCheck } from '../alerting/merge-store.ts'
import { findPolicy, makeIncidentDue } from '../alerting/policy-store.ts'
import { listTags } from '../badges/store.ts'
import { resolveIntegrations } from '../checks/integrations-field.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { type Provisioning, readProvisioning } from '../checks/provisioning.ts'
import { countChecks } from '../checks/store.ts'
import { requireTagCapacity } from '../checks/tags.ts'
import { listIntegrations } from '../integrations/store.ts'
import { lockProvisioning, saveProvisioning } from '../pings/provision-store.ts'
import type { KeyKind } from '../projects/api-key.ts'
import { deleteProject as deleteRows, moveCheck, renameProject as renameRow } from '../projects/changes-store.ts'
import { insertProject, lockProject, type Project } from '../projects/store.ts'
import { reevaluateChildren } from '../rules/parent-store.ts'
import { auditCheck, checkLimitOf, requireLocked } from './check-changes.ts'
import type { OperationDeps } from './deps.ts'
import { storeNewKey } from './keys.ts'
import { retiredOwner } from './retired-uuid.ts'

interface NewProject {
  name: string
  /** an organisation by name is created if it does not exist */
  owner: { organisationId: number } | { organisationName: string }
  /** default: the setting of the installation */
  checkLimit?: number
}

/** The project has a ping key, because its pages show ping URLs with slugs. */
export async function createProject(
  db: Knex,
  actor: Actor,
  input: NewProject,
  deps: Pick<OperationDeps, 'secrets'>,
): Promise<Project> {
  return await transaction(db, async (tx) => {
    const project = await storeProject(tx, actor, input)
    await storeNewKey(tx, project.id, 'ping', deps, { createdBy: auditedActor(actor).actor })
    return project
  })
}

/** The API keys cannot be read again. */
export async function createProjectWithKeys(
  db: Knex,
  actor: Actor,
  input: NewProject,
  deps: Pick<OperationDeps, 'secrets'>,
): Promise<{ project: Project; keys: Record<KeyKind, string> }> {
  return await transaction(db, (tx) => storeProjectWithKeys(tx, actor, input, deps))
}

/** As `createProjectWithKeys`, within a transaction of the caller. */
export async function storeProjectWithKeys(
  tx: Knex.Transaction,
  actor: Actor,
  input: NewProject,
  deps: Pick<OperationDeps, 'secrets'>,
): Promise<{ project: Project; keys: Record<KeyKind, string> }> {
  const project = await storeProject(tx, actor, input)
  const rw = await storeNewKey(tx, project.id, 'rw', deps)
  const ro = await storeNewKey(tx, project.id, 'ro', deps)
  return { project, keys: { rw, ro, ping: await storeNewKey(tx, project.id, 'ping', deps) } }
}

async function storeProject(tx: Knex.Transaction, actor: Actor, { owner, ...settings }: NewProject): Promise<Project> {
  const organisationId =
    'organisationId' in owner ? owner.organisationId : (await ensureOrganisation(tx, owner.organisationName)).id
  const project = await insertProject(tx, { organisationId, ...settings })
  await insertActorAudit(tx, actor, { organisationId, action: 'project.created', target: project.name })
  return project
}

export async function renameProject(
  db: Knex,
  actor: Actor,
  { project, name }: { project: Project; name: string },
  deps: Pick<OperationDeps, 'announce'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    await renameRow(tx, project.id, name)
    const { organisationId } = project
    await insertActorAudit(tx, actor, {
      organisationId,
      action: 'project.renamed',
      target: `${project.name} to ${name}`,
    })
  })
  deps.announce({ kind: 'project', projectId: project.id })
}

export async function deleteProject(
  db: Knex,
  actor: Actor,
  project: Project,
  deps: Pick<OperationDeps, 'announce' | 'secrets'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    const { organisationId, name } = project
    await deleteRows(tx, project.id, (uuid) => retiredOwner(deps.secrets, organisationId, uuid))
    await insertActorAudit(tx, actor, { organisationId, action: 'project.deleted', target: name })
  })
  deps.announce({ kind: 'project', projectId: project.id })
}

/** Existing checks do not change. @throws ValidationError, NotFoundError for a policy of another project */
export async function changeProvisioning(
  db: Knex,
  actor: Actor,
  { project, body }: { project: Pick<Project, 'id' | 'organisationId' | 'name'>; body: JsonObject },
): Promise<Provisioning> {
  return await transaction(db, async (tx) => {
    const provisioning = readProvisioning(body, await lockProvisioning(tx, project.id))
    const integrations = (await listIntegrations(tx, project.id)).map(({ uuid, name }) => ({ id: uuid, name }))
    const choice = provisioning.channels === null ? null : resolveIntegrations(provisioning.channels, integrations)
    if (choice && !choice.ok) throw new ValidationError(choice.error)
    if (provisioning.policy !== null && !(await findPolicy(tx, project.id, provisioning.policy)))
      throw new NotFoundError('')
    await saveProvisioning(tx, project.id, provisioning)
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'project.changed', target: `${name}: provisioning` })
    return provisioning
  })
}

/**
 * Removes its integrations. Its open incident ends; incidents merged into that one stay, because their checks stay. The
 * actor must be allowed to manage both projects.
 * @throws ConflictError at the other project's limit of checks, NotFoundError if the check was deleted
 */
export async function transferCheck(
  db: Knex,
  actor: Actor,
  { uuid, from, to }: { uuid: string; from: Project; to: Project },
  deps: Pick<OperationDeps, 'config' | 'announce'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    await lockProject(tx, to.id)
    if ((await countChecks(tx, to.id)) >= checkLimitOf(to, deps)) {
      throw new ConflictError('That project has reached its limit of checks.')
    }
    const locked = await requireLocked(tx, from.id, uuid)
    const before = await listTags(tx, to.id)
    requireTagCapacity(before, [...before, locked.tags])
    await promoteMembersOfCheck(tx, locked.id)
    await moveCheck(tx, locked.id, to.id)
    await makeIncidentDue(tx, locked.id)
    await reevaluateChildren(tx, [from.id])
    await auditCheck(tx, actor, from, 'check.transferred', locked, ` to ${to.name}`)
    if (to.organisationId !== from.organisationId) {
      await auditCheck(tx, actor, to, 'check.received', locked, ` from ${from.name}`)
    }
  })
  deps.announce({ kind: 'check', uuid, projectId: from.id })
  deps.announce({ kind: 'check', uuid, projectId: to.id })
}
