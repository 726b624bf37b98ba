import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { makeIncidentDue } from '../alerting/policy-store.ts'
import type { CheckState } from '../checks/check.ts'
import type { StatusChange } from '../checks/state-machine.ts'
import { type AssignedCheck, updateState } from '../checks/store.ts'
import { insertHistoricFlip } from '../flips/store.ts'
import { setNotifyUnknown } from '../projects/changes-store.ts'
import type { Project } from '../projects/store.ts'
import { reevaluateChildren } from '../rules/parent-store.ts'
import { auditCheck, type CheckOfProject, requireLocked } from './check-changes.ts'
import type { OperationDeps } from './deps.ts'
import { abandonRuns } from './rule-deadline.ts'

export type StateDeps = Pick<OperationDeps, 'barrier' | 'announce' | 'now'>

export interface ChangedState {
  check: AssignedCheck
  /** above 0 if the latest pings may be missing */
  lagMs: number
}

/**
 * The lock prevents pings in between. `change` changes the state in place and returns the flip; an error rolls
 * everything back. @throws NotFoundError if the check was deleted
 */
export async function changeState(
  db: Knex,
  actor: Actor,
  { project, id, uuid }: CheckOfProject,
  deps: StateDeps,
  { action, change }: { action: `check.${string}`; change: (state: CheckState) => StatusChange | null },
): Promise<ChangedState> {
  const lagMs = await deps.barrier.pass([id])
  const check = await transaction(db, async (tx) => {
    const locked = await requireLocked(tx, project.id, uuid)
    const flip = change(locked)
    if (flip) {
      await updateState(tx, locked)
      await abandonRuns(tx, locked)
      await insertHistoricFlip(tx, locked.id, flip, deps.now())
      await makeIncidentDue(tx, locked.id)
      await reevaluateChildren(tx, [project.id])
    }
    await auditCheck(tx, actor, project, action, locked)
    return locked
  })
  deps.announce({ kind: 'check', uuid, projectId: project.id })
  return { check, lagMs }
}

export async function notifyUnknown(
  db: Knex,
  actor: Actor,
  { project, isWanted }: { project: Project; isWanted: boolean },
): Promise<void> {
  await transaction(db, async (tx) => {
    await setNotifyUnknown(tx, project.id, isWanted)
    await insertActorAudit(tx, actor, {
      organisationId: project.organisationId,
      action: 'project.unknown-notices',
      target: isWanted ? 'on' : 'off',
    })
  })
}
