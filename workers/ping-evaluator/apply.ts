import { settleRun } from '#shared/checks/late-signal.ts'
import { type LockedCheck, lockChecks, saveStates } from '#shared/checks/lock-store.ts'
import type { PingType } from '#shared/checks/state-machine.ts'
import type { AcceptedPing, PingBatch } from '#shared/contracts/ping-batch.ts'
import { recordFlips } from '#shared/flips/record-store.ts'
import { readStoredText } from '#shared/pings/mail-store.ts'
import { lockStreams, recordPings, type StreamPosition, signalsSincePause } from '#shared/pings/record-store.ts'
import type { OutboxRow } from '#shared/platform/outbox.ts'
import type { RunPrepared } from '#shared/platform/prepared.ts'
import { nextOccurrence } from '#shared/schedules/schedule.ts'
import { classifyMail, evaluate, withinLog } from './evaluate.ts'

/** A batch and the shard whose queue it came from. */
export interface ShardBatch {
  shard: number
  batch: PingBatch
}

export interface Applied {
  /** pings recorded by this call; those of messages that were applied before do not count */
  applied: number
  /** pings whose check was deleted meanwhile */
  dropped: number
  /** the new status of each flip */
  flips: string[]
  /** checks whose state changed */
  changed: number[]
  /** messages to publish once the transaction has committed */
  outbox: OutboxRow[]
}

/**
 * Applies batches in the caller's transaction: exactly once each, whatever the broker repeats. The positions of the
 * streams are the first locks taken, the checks in the order of their ids the second.
 */
export async function applyBatches(
  run: RunPrepared,
  batches: readonly ShardBatch[],
  logLimit: number,
): Promise<Applied> {
  const { fresh, positions } = await unappliedOf(run, batches)
  if (fresh.length === 0) return { applied: 0, dropped: 0, flips: [], changed: [], outbox: [] }

  const pings = fresh.flatMap(({ batch }) => batch.pings)
  const ids = [...new Set(pings.map((ping) => ping.checkId))].sort((a, b) => a - b)
  const checks = new Map((await lockChecks(run, ids)).map((check) => [check.id, check]))
  const evaluation = evaluate(checks, pings, nextOccurrence, await classifyLargeMails(run, checks, pings))
  await recordPings(run, withinLog(evaluation, logLimit), logLimit, positions)
  for (const check of evaluation.late) settleRun(check, await signalsSincePause(run, check.id), nextOccurrence)
  await saveStates(run, evaluation.changed)
  const outbox = await recordFlips(run, evaluation.flips)
  return {
    applied: evaluation.pings.length,
    dropped: evaluation.dropped,
    flips: evaluation.flips.map((flip) => flip.to),
    changed: evaluation.changed.map((check) => check.id),
    outbox,
  }
}

/** Texts that were too large for a message are read one at a time, and only where the check looks at them. */
async function classifyLargeMails(
  run: RunPrepared,
  checks: ReadonlyMap<number, LockedCheck>,
  pings: readonly AcceptedPing[],
): Promise<Map<AcceptedPing, PingType>> {
  const types = new Map<AcceptedPing, PingType>()
  for (const ping of pings) {
    if (!ping.mail?.storedBody || ping.mail.text !== null) continue
    const check = checks.get(ping.checkId)
    if (!check || !(check.filterSubject || check.filterBody)) continue
    types.set(ping, classifyMail(check, await readStoredText(run, ping.mail.storedBody)))
  }
  return types
}

/** The batches that were not applied before, and where their streams stand after them. */
async function unappliedOf(run: RunPrepared, batches: readonly ShardBatch[]) {
  const streams = new Map(batches.map(({ shard, batch }) => [keyOf(shard, batch), { stream: batch.stream, shard }]))
  const locked = await lockStreams(run, [...streams.values()])
  const positions = new Map<string, StreamPosition>(
    locked.map((position) => [`${position.stream}:${position.shard}`, position]),
  )
  const fresh = batches.filter(({ shard, batch }) => {
    const position = positions.get(keyOf(shard, batch))
    if (!position || batch.seq <= position.lastSeq) return false
    position.lastSeq = batch.seq
    return true
  })
  return { fresh, positions: [...positions.values()] }
}

function keyOf(shard: number, batch: PingBatch): string {
  return `${batch.stream}:${shard}`
}
