import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { findFirstOrganisation, hasProjectNamed, insertDemo } from '../pages/demo-store.ts'
import type { KeyKind } from '../projects/api-key.ts'
import type { Project } from '../projects/store.ts'
import { storeProjectWithKeys } from './projects.ts'

interface CreatedDemo {
  project: Project
  keys: Record<KeyKind, string>
  checks: number
  flips: number
  incidents: number
}

/**
 * Creates a project with sample data in the oldest organisation, or in a new one that has the name of the project.
 * @throws ConflictError if that organisation has a project of this name
 */
export async function createDemo(
  db: Knex,
  actor: Actor,
  { name }: { name: string },
  { secrets, config }: { secrets: Secrets; config: Pick<Config, 'pingLogLimit'> },
): Promise<CreatedDemo> {
  return await transaction(db, async (tx) => {
    const organisationId = await findFirstOrganisation(tx)
    if (organisationId !== null && (await hasProjectNamed(tx, organisationId, name)))
      throw new ConflictError(`The project “${name}” exists. Delete it in its settings, or use another --name.`)
    const owner = organisationId === null ? { organisationName: name } : { organisationId }
    const { project, keys } = await storeProjectWithKeys(tx, actor, { name, owner }, { secrets })
    const filled = await insertDemo(tx, project.id, { secrets, logLimit: config.pingLogLimit })
    await insertActorAudit(tx, actor, {
      organisationId: project.organisationId,
      action: 'project.demo',
      target: project.name,
    })
    return { project, keys, ...filled }
  })
}
