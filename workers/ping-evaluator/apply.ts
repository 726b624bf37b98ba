import type { Knex } from 'knex'
import { settleRun } from '#shared/checks/late-signal.ts'
import { lockChecks, saveStates } from '#shared/checks/lock-store.ts'
import type { PingBatch } from '#shared/contracts/ping-batch.ts'
import { recordFlips } from '#shared/flips/record-store.ts'
import { advanceStreams, lockStreams, recordPings, signalsSincePause } from '#shared/pings/record-store.ts'
import type { OutboxRow } from '#shared/platform/outbox.ts'
import { nextOccurrence } from '#shared/schedules/schedule.ts'
import { evaluate, withinLog } from './evaluate.ts'

export interface Applied {
  /** pings recorded by this call; those of messages that were applied before do not count */
  applied: number
  dropped: number
  flips: string[]
  /** messages to publish once the transaction has committed */
  outbox: OutboxRow[]
}

/**
 * Applies batches of one shard in the caller's transaction: exactly once each, whatever the broker repeats.
 * The position of each stream is the first lock taken, the checks in the order of their ids the second.
 */
export async function applyBatches(
  tx: Knex,
  shard: number,
  batches: readonly PingBatch[],
  logLimit: number,
): Promise<Applied> {
  const positions = await lockStreams(tx, shard, [...new Set(batches.map((batch) => batch.stream))].sort())
  const fresh = batches.filter((batch) => {
    if (batch.seq <= (positions.get(batch.stream) ?? 0)) return false
    positions.set(batch.stream, batch.seq)
    return true
  })
  if (fresh.length === 0) return { applied: 0, dropped: 0, flips: [], outbox: [] }

  const pings = fresh.flatMap((batch) => batch.pings)
  const ids = [...new Set(pings.map((ping) => ping.checkId))].sort((a, b) => a - b)
  const checks = new Map((await lockChecks(tx, ids)).map((check) => [check.id, check]))
  const evaluation = evaluate(checks, pings, nextOccurrence)
  await recordPings(tx, withinLog(evaluation, logLimit), logLimit)
  for (const check of evaluation.late) settleRun(check, await signalsSincePause(tx, check.id), nextOccurrence)
  await saveStates(tx, evaluation.changed)
  const outbox = await recordFlips(tx, evaluation.flips)
  await advanceStreams(tx, shard, positions)
  return {
    applied: evaluation.pings.length,
    dropped: evaluation.dropped,
    flips: evaluation.flips.map((flip) => flip.to),
    outbox,
  }
}
