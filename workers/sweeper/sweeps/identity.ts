import { identityStatusDue } from '#shared/contracts/worker-messages.ts'
import { endUnsettled, expirePresentations, purgeValues } from '#shared/risk/identity/presentation-store.ts'
import { lockExpiredSubjects } from '#shared/risk/identity/subject-store.ts'
import { claimDueStatuses } from '#shared/risk/identity/verification-store.ts'
import { expireSubject } from '#shared/risk/operations/issuers.ts'
import { toMillis } from '#shared/time.ts'
import type { WorkerDeps } from '../../define-worker.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 500
const STATUS_MS = 12 * 3_600_000

/** Skips rows that another process has locked. */
export const identity: Sweep = {
  name: 'identity',
  everySeconds: 5,
  work: 'identities',
  async run({ deps, now }) {
    const at = new Date(toMillis(now))
    await untilShort(() => expirePresentations(deps.reserveDb, at, PAGE))
    await untilShort(() => endUnsettled(deps.reserveDb, at, PAGE))
    await untilShort(() => purgeValues(deps.reserveDb, at, PAGE))
    await untilShort(() => expire(deps, at))
    await untilShort(() => refreshStatuses(deps, at))
  },
}

async function expire(deps: WorkerDeps, at: Date): Promise<number> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const subjects = await lockExpiredSubjects(tx, at, PAGE)
    for (const subject of subjects) {
      await expireSubject(tx, subject, { enqueue, secrets: deps.secrets, now: deps.now })
    }
    return subjects.length
  })
}

async function refreshStatuses(deps: WorkerDeps, at: Date): Promise<number> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const ids = await claimDueStatuses(tx, new Date(at.getTime() - STATUS_MS), at, PAGE)
    for (const verificationId of ids) await enqueue(identityStatusDue, { verificationId })
    return ids.length
  })
}

async function untilShort(work: () => Promise<number>): Promise<void> {
  while ((await work()) === PAGE);
}
