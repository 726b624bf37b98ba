import { financingSnapshotDue } from '#shared/contracts/worker-messages.ts'
import { endUnansweredDisputes } from '#shared/risk/first-financing/dispute-store.ts'
import { dropCovered, leftBehind, retireEpochs } from '#shared/risk/first-financing/epoch-store.ts'
import {
  claimExpiring,
  lockExpiredRegistrations,
  lockRegistration,
  setContested,
} from '#shared/risk/first-financing/registration-store.ts'
import { listDueSnapshots } from '#shared/risk/first-financing/snapshot-store.ts'
import { lapsePresented } from '#shared/risk/first-financing/store.ts'
import { instant } from '#shared/risk/operations/deps.ts'
import { lapseRegistration } from '#shared/risk/operations/registrations.ts'
import { recordEvent } from '#shared/webhooks/events/store.ts'
import type { WorkerDeps } from '../../define-worker.ts'
import type { Sweep } from '../sweep.ts'

/**
 * Retires epochs and requests due snapshots. Notifies the owners of registrations that have only fingerprints of a
 * retired epoch: blind requests cannot find these, and get UNRESOLVED.
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

const PAGE = 100

/**
 * Lapses expired registrations, warns owners two weeks before the expiry, and marks unanswered disputes. It skips
 * locked rows, so each owner is notified once.
 */
export const lapsedRegistrations: Sweep = {
  name: 'lapsed-registrations',
  everySeconds: 5,
  work: 'financing',
  async run({ deps }) {
    await untilShort(() => lapsePresented(deps.reserveDb, PAGE))
    await untilShort(() => lapse(deps))
    await untilShort(() => warn(deps))
    await untilShort(() => contest(deps))
  },
}

async function lapse(deps: WorkerDeps): Promise<number> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const ids = await lockExpiredRegistrations(tx, PAGE)
    for (const id of ids) {
      const registration = await lockRegistration(tx, id)
      if (registration) await lapseRegistration(tx, registration, { enqueue, now: deps.now })
    }
    return ids.length
  })
}

async function warn(deps: WorkerDeps): Promise<number> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const expiring = await claimExpiring(tx, PAGE)
    for (const { id, organisationId, env, dealId } of expiring) {
      await recordEvent(tx, enqueue, {
        env,
        organisationId,
        type: 'first_financing.lapsed',
        dealId: dealId ?? id,
        fields: ['registrationId', 'expiresAt'],
        occurredAt: instant(deps.now()),
      })
    }
    return expiring.length
  })
}

async function contest(deps: WorkerDeps): Promise<number> {
  return await deps.outbox.run(async (tx) => {
    const registrations = await endUnansweredDisputes(tx, PAGE)
    for (const id of registrations) await setContested(tx, id)
    return registrations.length
  })
}

async function untilShort(work: () => Promise<number>): Promise<void> {
  while ((await work()) === PAGE);
}
