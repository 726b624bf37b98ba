import { financingSnapshotDue } from '#shared/contracts/evidence-requested.ts'
import { dropCovered, leftBehind, retireEpochs } from '#shared/risk/first-financing/epoch-store.ts'
import { listDueSnapshots } from '#shared/risk/first-financing/snapshot-store.ts'
import { instant } from '#shared/risk/operations/deps.ts'
import { recordEvent } from '#shared/webhooks/events/store.ts'
import type { WorkerDeps } from '../../define-worker.ts'
import type { Sweep } from '../sweep.ts'

/**
 * Has the hourly snapshots of the first-financing registry taken, and retires epochs of its keys whose successor is
 * thirty days old. Whoever left a registration in a retired epoch is told: blind answers stay UNRESOLVED by it.
 */
export const financingEpochs: Sweep = {
  name: 'financing-epochs',
  everySeconds: 10,
  async run({ deps }) {
    await retire(deps)
    await deps.outbox.run(async (tx, enqueue) => {
      for (const due of await listDueSnapshots(tx)) await enqueue(financingSnapshotDue, due)
    })
  },
}

async function retire(deps: WorkerDeps): Promise<void> {
  await deps.outbox.run(async (tx, enqueue) => {
    for (const retired of await retireEpochs(tx)) {
      await dropCovered(tx, retired)
      for (const { id, organisationId, env, dealId } of await leftBehind(tx, retired)) {
        await recordEvent(tx, enqueue, {
          env,
          organisationId,
          type: 'first_financing.lapsed',
          dealId: dealId ?? id,
          fields: ['registrationId', 'epoch'],
          occurredAt: instant(deps.now()),
        })
      }
    }
  })
}
