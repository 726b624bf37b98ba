import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { type KeyScope, settleKey } from '../../tenancy/idempotency/store.ts'
import { findPack, type PackOutcome } from '../packs/store.ts'

/** How often we look ourselves, should the composer's reply be lost. */
const POLL_EVERY_MS = 1_000

/**
 * Waits for the composer of a pack, which also stores it as the answer under the key. At the deadline the provisional
 * answer becomes the answer, unless the composer was faster: only one of them can be, so a repetition gets the same.
 * @param wait resolves at the composer's reply or after the time
 * @returns null when the pack is not finished
 */
export async function awaitPack(
  db: Knex,
  { packId, owner, scope }: { packId: string; owner: { organisationId: number; env: ApiEnv }; scope: KeyScope },
  waitMs: number,
  wait: (packId: string, timeoutMs: number) => Promise<unknown>,
): Promise<PackOutcome | null> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const left = deadline - performance.now()
    await wait(packId, Math.max(0, Math.min(left, POLL_EVERY_MS)))
    const outcome = await findPack(db, owner, packId)
    if (outcome && outcome.state !== 'QUEUED') return outcome
    if (performance.now() < deadline) continue
    if (await settleKey(db, scope)) return null
    return (await findPack(db, owner, packId)) ?? null
  }
}
