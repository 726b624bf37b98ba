import type { Knex } from 'knex'
import type { Actor } from '../../tenancy/actor.ts'
import { pause } from '../checks/state-machine.ts'
import { type ChangedState, changeState, type StateDeps } from './change-state.ts'
import type { CheckOfProject } from './check-changes.ts'

/** Pauses a check; one that is paused stays so. @throws NotFoundError when it has vanished meanwhile */
export async function pauseCheck(
  db: Knex,
  actor: Actor,
  check: CheckOfProject,
  deps: StateDeps,
): Promise<ChangedState> {
  return await changeState(db, actor, check, deps, { action: 'check.paused', change: pause })
}
