import { countUncovered } from '#shared/monitoring/on-call/shift-store.ts'
import { recordDueShifts } from '#shared/monitoring/operations/record-shifts.ts'
import { sendShiftNotices } from '../shift-notices.ts'
import type { Sweep } from '../sweep.ts'

/** Records each change of the person on call with its exact instant, and sends notices about it (docs/on-call.md#rules). */
export const dueShifts: Sweep = {
  name: 'due-shifts',
  everySeconds: 30,
  async run({ deps, now }) {
    await recordDueShifts(deps.reserveDb, now)
    deps.metrics.schedulesUncovered.set(await countUncovered(deps.reserveDb))
    await sendShiftNotices(deps, now)
  },
}
