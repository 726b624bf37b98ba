import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { ensureOrganisation } from '../../tenancy/organisations/store.ts'
import type { KeyKind } from '../projects/api-key.ts'
import { insertProject, type Project } from '../projects/store.ts'
import { storeNewKey } from './create-key.ts'
import type { OperationDeps } from './deps.ts'

interface NewProject {
  name: string
  /** an organisation that there is, or the name of one that is made when there is none */
  owner: { organisationId: number } | { organisationName: string }
  /** checks it may have; by default the setting of the installation */
  checkLimit?: number
}

/** Creates a project without keys. */
export async function createProject(db: Knex, actor: Actor, input: NewProject): Promise<Project> {
  return await transaction(db, (tx) => storeProject(tx, actor, input))
}

/** Creates a project and one key of each kind. @returns the keys too, which nobody can read again */
export async function createProjectWithKeys(
  db: Knex,
  actor: Actor,
  input: NewProject,
  deps: Pick<OperationDeps, 'secrets'>,
): Promise<{ project: Project; keys: Record<KeyKind, string> }> {
  return await transaction(db, async (tx) => {
    const project = await storeProject(tx, actor, input)
    const rw = await storeNewKey(tx, project.id, 'rw', deps)
    const ro = await storeNewKey(tx, project.id, 'ro', deps)
    return { project, keys: { rw, ro, ping: await storeNewKey(tx, project.id, 'ping', deps) } }
  })
}

async function storeProject(tx: Knex.Transaction, actor: Actor, { owner, ...settings }: NewProject): Promise<Project> {
  const organisationId =
    'organisationId' in owner ? owner.organisationId : (await ensureOrganisation(tx, owner.organisationName)).id
  const project = await insertProject(tx, { organisationId, ...settings })
  await insertActorAudit(tx, actor, { organisationId, action: 'project.created', target: project.name })
  return project
}
