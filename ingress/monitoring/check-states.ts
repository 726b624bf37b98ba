import { NotFoundError } from '#shared/errors.ts'
import type { Check, CheckState } from '#shared/monitoring/checks/check.ts'
import type { StatusChange } from '#shared/monitoring/checks/state-machine.ts'
import { type AssignedCheck, deleteCheck, lockCheck, updateState } from '#shared/monitoring/checks/store.ts'
import { insertHistoricFlip } from '#shared/monitoring/flips/store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import type { IngressDeps } from '../deps.ts'

/**
 * Pauses or resumes under the lock of the check, so that no ping comes between. `change` changes the state in place
 * and says what it was; what it throws undoes everything.
 * @throws NotFoundError when the check has vanished meanwhile
 */
export async function changeState(
  projectId: number,
  uuid: string,
  deps: IngressDeps,
  change: (state: CheckState) => StatusChange | null,
): Promise<AssignedCheck> {
  return await transaction(deps.db, async (tx) => {
    const check = await lockCheck(tx, projectId, uuid)
    if (!check) throw new NotFoundError('')
    const flip = change(check)
    if (flip) {
      await updateState(tx, check)
      await insertHistoricFlip(tx, check.id, flip, deps.now())
    }
    return check
  })
}

/**
 * Removes a check under its lock: each ping is either recorded before, and removed with it, or finds no check.
 * @throws NotFoundError when somebody else has removed it
 */
export async function removeCheck(projectId: number, uuid: string, deps: IngressDeps): Promise<Check> {
  return await transaction(deps.db, async (tx) => {
    const check = await lockCheck(tx, projectId, uuid)
    if (!check) throw new NotFoundError('')
    await deleteCheck(tx, check.id)
    return check
  })
}
