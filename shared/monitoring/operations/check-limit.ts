import type { Knex } from 'knex'
import { ForbiddenError } from '../../errors.ts'
import { countChecks } from '../checks/store.ts'
import { noteCheckLimit } from '../projects/quota-store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

type Limited = Pick<Project, 'id' | 'checkLimit'>
type Limits = Pick<OperationDeps, 'config'>

/** How many checks a project may have: its own limit, else the one of the installation. */
export function checkLimitOf({ checkLimit }: Pick<Project, 'checkLimit'>, { config }: Limits): number {
  return checkLimit ?? config.checkLimit
}

/** For the caller that has locked the project. @throws ForbiddenError when it has as many checks as it may */
export async function requireCapacity(tx: Knex, project: Limited, deps: Limits): Promise<void> {
  if ((await countChecks(tx, project.id)) >= checkLimitOf(project, deps)) {
    throw new ForbiddenError('The project has as many checks as it may.')
  }
}

/** Notes for the project's owners that the limit refused what `work` was to add, after its transaction was undone. */
export async function notingLimit<T>(db: Knex, project: Limited, deps: Limits, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ForbiddenError) await noteCheckLimit(db, project.id, checkLimitOf(project, deps))
    throw error
  }
}
