import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { resume } from '../checks/state-machine.ts'
import { type ChangedState, changeState, type StateDeps } from './change-state.ts'
import type { CheckOfProject } from './check-changes.ts'

/**
 * Resumes a paused check.
 * @throws ConflictError for one that is not paused, NotFoundError when it has vanished meanwhile
 */
export async function resumeCheck(
  db: Knex,
  actor: Actor,
  check: CheckOfProject,
  deps: StateDeps,
): Promise<ChangedState> {
  return await changeState(db, actor, check, deps, {
    action: 'check.resumed',
    change: (state) => {
      const flip = resume(state)
      if (!flip) throw new ConflictError('check is not paused')
      return flip
    },
  })
}
