import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { NotFoundError, ValidationError } from '../../errors.ts'
import type { Imported } from '../move-in/imported.ts'
import { deletePlan, findPlan, insertPlan } from '../move-in/store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

const MAX_PLAN_BYTES = 20 * 1024 * 1024

/** Encrypts and stores an import from another monitor until it is confirmed. @returns the id of the plan */
export async function savePlan(
  db: Knex,
  { project, imported }: { project: Project; imported: Imported },
  { secrets }: Pick<OperationDeps, 'secrets'>,
): Promise<string> {
  const text = JSON.stringify(imported)
  if (text.length > MAX_PLAN_BYTES) throw new ValidationError('the import is larger than 20 MiB')
  const id = randomUUID()
  await insertPlan(db, { id, projectId: project.id, sealedPlan: secrets.seal('import-plan', text) })
  return id
}

/** @throws NotFoundError after an hour, or if it was applied */
export async function requirePlan(
  db: Knex,
  { project, id }: { project: Project; id: string },
  { secrets }: Pick<OperationDeps, 'secrets'>,
): Promise<Imported> {
  const sealed = await findPlan(db, project.id, id)
  if (sealed === null) throw new NotFoundError('The plan has expired or was applied. Start the import again.')
  return JSON.parse(secrets.open('import-plan', sealed))
}

export async function discardPlan(db: Knex, { project, id }: { project: Project; id: string }): Promise<void> {
  await deletePlan(db, project.id, id)
}
