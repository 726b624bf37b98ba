import type { AcceptedPing, PingBatch } from '#shared/contracts/ping-batch.ts'
import { makeFailuresCount } from '#shared/monitoring/alerting/failure-store.ts'
import { settleRun } from '#shared/monitoring/checks/late-signal.ts'
import { type LockedCheck, lockChecks, saveStates } from '#shared/monitoring/checks/lock-store.ts'
import { isRuled } from '#shared/monitoring/checks/rule-bits.ts'
import type { PingType } from '#shared/monitoring/checks/state-machine.ts'
import { recordFlips } from '#shared/monitoring/flips/record-store.ts'
import { readStoredText } from '#shared/monitoring/pings/mail-store.ts'
import {
  lockStreams,
  readDatabaseClock,
  recordPings,
  type StreamPosition,
  signalsSincePause,
} from '#shared/monitoring/pings/record-store.ts'
import { readFacts, saveFacts } from '#shared/monitoring/ruled/fact-store.ts'
import { type RuledFacts, ruledDeadline } from '#shared/monitoring/ruled/ruled.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import type { OutboxRow } from '#shared/platform/broker/outbox-store.ts'
import type { RunPrepared } from '#shared/platform/database/prepared.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { classifyMail, type Evaluation, evaluate, withinLog } from './evaluate.ts'

/** Listeners stamp with the database's time, and none is so far off while it says that it is ready. */
const MAX_AHEAD: Micros = microsOfSeconds(2)

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
  /** pings whose stated arrival was not possible */
  restamped: number
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
 * @param options.now this process's idea of the database's time
 */
export async function applyBatches(
  run: RunPrepared,
  batches: readonly ShardBatch[],
  { logLimit, now }: { logLimit: number; now: Micros },
): Promise<Applied> {
  const ids = [...new Set(batches.flatMap(({ batch }) => batch.pings.map((ping) => ping.checkId)))].sort(
    (a, b) => a - b,
  )
  // In one round trip; the server takes the locks in this order.
  const [{ fresh, positions }, locked] = await Promise.all([unappliedOf(run, batches), lockChecks(run, ids)])
  if (fresh.length === 0) return { applied: 0, dropped: 0, restamped: 0, flips: [], changed: [], outbox: [] }

  const pings = fresh.flatMap(({ batch }) => batch.pings)
  const restamped = await restamp(run, pings, now)
  const checks = new Map(locked.map((check) => [check.id, check]))
  const ruled = await readRuled(run, locked, pings)
  const evaluation = evaluate(checks, pings, nextOccurrence, await classifyLargeMails(run, checks, pings), ruled)
  recordPings(run, withinLog(evaluation, logLimit), logLimit, positions)
  for (const check of evaluation.late) {
    settleRun(check, await signalsSincePause(run, check.id), nextOccurrence)
    const facts = ruled.get(check.id)
    if (facts) check.alertAfter = ruledDeadline(check, facts, nextOccurrence)
  }
  saveFacts(run, [...ruled.values()])
  saveStates(run, evaluation.changed)
  makeFailuresCount(run, failedAgain(evaluation))
  const outbox = await recordFlips(run, evaluation.flips)
  return {
    applied: evaluation.pings.length,
    dropped: evaluation.dropped,
    restamped,
    flips: evaluation.flips.map((flip) => flip.to),
    changed: evaluation.changed.map((check) => check.id),
    outbox,
  }
}

/** What the rules of those checks need that are not plain; nothing is read where there are none. */
async function readRuled(run: RunPrepared, locked: readonly LockedCheck[], pings: readonly AcceptedPing[]) {
  const ids = locked.filter(isRuled).map(({ id }) => id)
  if (ids.length === 0) return new Map<number, RuledFacts>()
  const rids = pings.flatMap(({ checkId, rid }) => (rid !== null && ids.includes(checkId) ? [rid] : []))
  return await readFacts(run, ids, rids)
}

/** Checks that failed once more without a change: a policy may wait for so many failures. */
function failedAgain({ pings, flips }: Evaluation): number[] {
  const failed = pings.filter(({ type }) => type === 'fail').map(({ checkId }) => checkId)
  return failed.length === 0 ? [] : failed.filter((id) => !flips.some(({ checkId }) => checkId === id))
}

/**
 * A ping from the future would make its check deaf until then: it arrived now. The database is asked only when there
 * seems to be one. @returns how many there were
 */
async function restamp(run: RunPrepared, pings: readonly AcceptedPing[], now: Micros): Promise<number> {
  if (!pings.some((ping) => ping.receivedAt > now + MAX_AHEAD)) return 0
  const databaseNow = await readDatabaseClock(run)
  const ahead = pings.filter((ping) => ping.receivedAt > databaseNow + MAX_AHEAD)
  for (const ping of ahead) ping.receivedAt = databaseNow
  return ahead.length
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
  const streams = new Map<string, { stream: string; shard: number; isNew: boolean }>()
  for (const { shard, batch } of batches) {
    const key = keyOf(shard, batch)
    const isNew = batch.seq === 1 || (streams.get(key)?.isNew ?? false)
    streams.set(key, { stream: batch.stream, shard, isNew })
  }
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
