import type { AcceptedPing, PingBatch } from '#shared/contracts/ping-batch.ts'
import { makeFailuresCount } from '#shared/monitoring/alerting/failure-store.ts'
import { settleRun } from '#shared/monitoring/checks/late-signal.ts'
import { type LockedCheck, lockChecks, saveStates, saveUntouched } from '#shared/monitoring/checks/lock-store.ts'
import { hasRules } from '#shared/monitoring/checks/rule-bits.ts'
import type { PingType } from '#shared/monitoring/checks/state-machine.ts'
import { recordFlips } from '#shared/monitoring/flips/store.ts'
import { keepFailures } from '#shared/monitoring/pings/kept-failure-store.ts'
import { readStoredText } from '#shared/monitoring/pings/mail-store.ts'
import {
  advanceStreams,
  lockStreams,
  moveStreams,
  readDatabaseClock,
  recordPings,
  type StreamMove,
  signalsSincePause,
  type Writer,
} from '#shared/monitoring/pings/record-store.ts'
import { type RuleState, ruleDeadline } from '#shared/monitoring/rules/rule-state.ts'
import { readFacts, saveFacts } from '#shared/monitoring/rules/rule-state-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import type { OutboxRow } from '#shared/platform/broker/outbox-store.ts'
import type { RunPrepared } from '#shared/platform/database/prepared.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { classifyMail, type Evaluation, evaluate, withinLog } from './evaluate.ts'
import type { KnownCheck } from './known-checks.ts'

/** Maximum error of the arrival times of a ready listener. */
const MAX_AHEAD: Micros = microsOfSeconds(2)

export interface ShardBatch {
  shard: number
  batch: PingBatch
}

export interface Applied {
  /** number of pings, without those of redelivered messages */
  applied: number
  dropped: number
  /** slices of 10 ms that the evaluation took */
  slices: number
  /** number of pings with an arrival in the future, which was corrected */
  restamped: number
  flips: string[]
  changed: number[]
  outbox: OutboxRow[]
  /** null if no check was stored */
  stored: { checks: readonly LockedCheck[]; writer: Writer } | null
}

interface Options {
  logLimit: number
  /** failures that are kept per check beside the log */
  keptFailures: number
  /** the database's time, as this process knows it */
  now: Micros
}

/** Applies pings exactly once, even after a redelivery. Locks streams first, then checks in the order of their ids. */
export async function applyBatches(
  run: RunPrepared,
  batches: readonly ShardBatch[],
  { logLimit, keptFailures, now }: Options,
): Promise<Applied> {
  const ids = checkIdsOf(batches)
  // In one round trip; the server takes the locks in this order.
  const [{ fresh, positions }, locked] = await Promise.all([unappliedOf(run, batches), lockChecks(run, ids)])
  if (fresh.length === 0)
    return { applied: 0, dropped: 0, restamped: 0, slices: 0, flips: [], changed: [], outbox: [], stored: null }

  const pings = fresh.flatMap(({ batch }) => batch.pings)
  const restamped = await restamp(run, pings, now)
  const checks = new Map(locked.map((check) => [check.id, check]))
  const ruleState = await readRuleStates(run, locked, pings)
  const evaluation = await evaluate(
    checks,
    pings,
    nextOccurrence,
    await classifyLargeMails(run, checks, pings),
    ruleState,
  )
  moveStreams(run, positions)
  recordPings(run, withinLog(evaluation, logLimit), { logLimit })
  keepFailures(run, evaluation.pings, { limit: keptFailures, logLimit })
  for (const check of evaluation.late) {
    settleRun(check, await signalsSincePause(run, check.id), nextOccurrence)
    const facts = ruleState.get(check.id)
    if (facts) check.alertAfter = ruleDeadline(check, facts, nextOccurrence)
  }
  saveFacts(run, [...ruleState.values()])
  saveStates(run, evaluation.changed)
  const [writer] = positions
  return {
    ...(await recordChanges(run, evaluation)),
    restamped,
    stored: writer ? { checks: evaluation.changed, writer } : null,
  }
}

/**
 * Applies pings to cached checks without reading them. Returns null if the transaction must not commit: another process
 * has changed a check, or the batch needs more data than the checks. May also fail with `isSlotTaken`. In both cases the
 * entries of `known` have changed, so the caller must drop them.
 * @param known all checks of the batches, in the order of their ids
 */
export async function applyToKnown(
  run: RunPrepared,
  batches: readonly ShardBatch[],
  known: readonly KnownCheck[],
  { logLimit, keptFailures, now }: Options,
): Promise<Applied | null> {
  const moves = movesOf(batches)
  const pings = batches.flatMap(({ batch }) => batch.pings)
  if (!moves || pings.some((ping) => ping.receivedAt > now + MAX_AHEAD || ping.mail?.storedBody)) return null
  const checks = known.map(({ check }) => check)
  const evaluation = await evaluate(new Map(checks.map((check) => [check.id, check])), pings, nextOccurrence)
  if (evaluation.late.length > 0) return null
  const xids = known.map(({ xid }) => xid)
  // In one round trip; the server takes the locks in this order.
  const [writer, saved] = await Promise.all([advanceStreams(run, moves), saveUntouched(run, checks, xids)])
  if (!writer || saved < checks.length) return null
  recordPings(run, withinLog(evaluation, logLimit), { logLimit, expectFree: true })
  keepFailures(run, evaluation.pings, { limit: keptFailures, logLimit })
  return { ...(await recordChanges(run, evaluation)), restamped: 0, stored: { checks, writer } }
}

/** Returns each id once, in locking order. */
export function checkIdsOf(batches: readonly ShardBatch[]): number[] {
  const ids = new Set<number>()
  for (const { batch } of batches) for (const { checkId } of batch.pings) ids.add(checkId)
  return [...ids].sort((a, b) => a - b)
}

/** The caller has stored the checks. */
async function recordChanges(run: RunPrepared, evaluation: Evaluation): Promise<Omit<Applied, 'restamped' | 'stored'>> {
  makeFailuresCount(run, failedAgain(evaluation))
  const outbox = await recordFlips(run, evaluation.flips)
  return {
    applied: evaluation.pings.length,
    dropped: evaluation.dropped,
    slices: evaluation.slices,
    flips: evaluation.flips.map((flip) => flip.to),
    changed: evaluation.changed.map((check) => check.id),
    outbox,
  }
}

/** Returns null unless the messages of each stream are in ascending order. */
function movesOf(batches: readonly ShardBatch[]): StreamMove[] | null {
  const moves = new Map<string, StreamMove>()
  for (const { shard, batch } of batches) {
    const key = keyOf(shard, batch)
    const move = moves.get(key)
    if (!move) moves.set(key, { stream: batch.stream, shard, first: batch.seq, last: batch.seq })
    else if (batch.seq > move.last) move.last = batch.seq
    else return null
  }
  return [...moves.values()]
}

/** Runs no query without checks that have rules. */
async function readRuleStates(run: RunPrepared, locked: readonly LockedCheck[], pings: readonly AcceptedPing[]) {
  const ids = locked.filter(hasRules).map(({ id }) => id)
  if (ids.length === 0) return new Map<number, RuleState>()
  const rids = pings.flatMap(({ checkId, rid }) => (rid !== null && ids.includes(checkId) ? [rid] : []))
  return await readFacts(run, ids, rids)
}

/** Returns the checks that failed without a flip, because a policy may wait for a number of failures. */
function failedAgain({ pings, flips }: Evaluation): number[] {
  const failed = pings
    .filter(({ type, ignored }) => type === 'fail' && ignored !== 'source')
    .map(({ checkId }) => checkId)
  return failed.length === 0 ? [] : failed.filter((id) => !flips.some(({ checkId }) => checkId === id))
}

/**
 * Corrects arrival times in the future, because later pings would be ignored otherwise. Reads the database's time only
 * if needed. Returns the number of corrected pings.
 */
async function restamp(run: RunPrepared, pings: readonly AcceptedPing[], now: Micros): Promise<number> {
  if (!pings.some((ping) => ping.receivedAt > now + MAX_AHEAD)) return 0
  const databaseNow = await readDatabaseClock(run)
  const ahead = pings.filter((ping) => ping.receivedAt > databaseNow + MAX_AHEAD)
  for (const ping of ahead) ping.receivedAt = databaseNow
  return ahead.length
}

/** Reads one text at a time, and only if the check searches it. */
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

/** Returns the batches that are not yet applied, and the positions of the streams after them. */
async function unappliedOf(run: RunPrepared, batches: readonly ShardBatch[]) {
  const streams = new Map<string, { stream: string; shard: number; isNew: boolean }>()
  for (const { shard, batch } of batches) {
    const key = keyOf(shard, batch)
    const isNew = batch.seq === 1 || (streams.get(key)?.isNew ?? false)
    streams.set(key, { stream: batch.stream, shard, isNew })
  }
  const locked = await lockStreams(run, [...streams.values()])
  const positions = new Map(locked.map((position) => [`${position.stream}:${position.shard}`, position]))
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
