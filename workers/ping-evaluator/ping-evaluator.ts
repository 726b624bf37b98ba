import { setTimeout as sleep } from 'node:timers/promises'
import { BARRIER_TYPE } from '#shared/contracts/barrier.ts'
import { decodePingBatch, MalformedBatchError, type PingBatch, pingQueue } from '#shared/contracts/ping-batch.ts'
import type { Delivery } from '#shared/platform/broker/consumer.ts'
import { MAX_STARTS, wasRedelivered } from '#shared/platform/broker/redelivery-guard.ts'
import { forgetStarts, recordStart } from '#shared/platform/broker/redelivery-store.ts'
import { countWaiting } from '#shared/platform/broker/waiting.ts'
import { deadLetter } from '#shared/platform/broker/worker.ts'
import { preparedTransaction } from '#shared/platform/database/prepared.ts'
import { isMessagesFault, schemaMatches } from '#shared/platform/database/whose-fault.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { applyBatches } from './apply.ts'
import { createGathering } from './gathering.ts'

/** Messages taken from each queue ahead of the work. */
const PREFETCH = 300
/** Pings in one transaction: larger ones gain nothing and hold locks longer. */
const MAX_PINGS = 2_000
/** Milliseconds between the starts of two transactions while pings are dense: half of what a small one costs is its own. */
const GATHER_MS = 8
/** So many messages need no more company. */
const ENOUGH_MESSAGES = 50
const RETRY_MS = { first: 100, longest: 3_000 }
/** What an outage of the database may take before the process counts as not ready, because pings wait in its hand. */
const MAY_WAIT_SECONDS = 15
/** Tries of a message that fails alone, before it is given up. */
const TRIES_ALONE = 3

interface Arrival {
  shard: number
  delivery: Delivery
  /** monotonic milliseconds */
  at: number
}

interface Taken extends Omit<Arrival, 'at'> {
  batch: PingBatch
}

/**
 * Applies pings, shard by shard in the order in which the queues hold them. The shards that one process has share its
 * transactions: what is there is applied together, and while it is, more arrives. Any number of processes share the
 * shards.
 */
export const pingEvaluator: Worker = {
  name: 'ping-evaluator',
  start: (deps) => startEvaluator(deps),
}

function startEvaluator(deps: WorkerDeps): AsyncDisposable[] {
  const { log } = deps
  let arrived: Arrival[] = []
  /** taken and not settled yet */
  let inWork: readonly Arrival[] = []
  let loop: Promise<void> | null = null
  let isStopping = false
  const gathering = createGathering(GATHER_MS)

  deps.metrics.unappliedAge.read((gauge) => gauge.set(waitingSeconds()))
  deps.readiness.add(() => {
    const seconds = Math.round(waitingSeconds())
    return seconds > MAY_WAIT_SECONDS ? [`pings: the oldest in hand waits for ${seconds} s to be applied`] : []
  })

  return Array.from({ length: deps.config.pingShards }, (_, shard) =>
    deps.broker.consume({
      queue: pingQueue(shard),
      prefetch: PREFETCH,
      inOrder: true,
      onDelivery(delivery) {
        arrived.push({ shard, delivery, at: performance.now() })
        if (isUrgent(delivery) || arrived.length >= ENOUGH_MESSAGES) gathering.hurry()
        loop ??= drain().finally(() => (loop = null))
      },
      async settled() {
        isStopping = true
        gathering.hurry()
        await loop
      },
    }),
  )

  function waitingSeconds(): number {
    const [oldest] = [...inWork, ...arrived]
    return oldest ? (performance.now() - oldest.at) / 1000 : 0
  }

  /** Takes what is there. Only a dense stream is let gather, and never while somebody waits for a barrier's answer. */
  async function drain(): Promise<void> {
    // What one read of the socket brought is delivered in one turn: let it gather.
    await new Promise(setImmediate)
    while (arrived.length > 0 && !isStopping) {
      if (arrived.length >= ENOUGH_MESSAGES || arrived.some(({ delivery }) => isUrgent(delivery))) gathering.hurry()
      await gathering.turn()
      inWork = takeSome().filter(({ delivery }) => delivery.isLive())
      if (inWork.length > 0) await settle(inWork)
      inWork = []
    }
  }

  function takeSome(): Arrival[] {
    // A message that may be what kills the process is handled alone, so that no other is held responsible for it.
    const guarded = arrived.findIndex(({ delivery }) => wasRedelivered(delivery) && !isBarrier(delivery))
    const count = guarded === 0 ? 1 : guarded > 0 ? guarded : arrived.length
    const taken = arrived.slice(0, count)
    arrived = arrived.slice(count)
    return taken
  }

  async function settle(arrivals: readonly Arrival[]): Promise<void> {
    const taken: Taken[] = []
    for (const { shard, delivery } of arrivals) {
      if (isBarrier(delivery)) continue
      if (wasRedelivered(delivery) && !(await begin(shard, delivery))) return
      const batch = decode(delivery)
      if (batch instanceof MalformedBatchError) await deadLetter(deps, pingQueue(shard), delivery, batch.code, null)
      else taken.push({ shard, delivery, batch })
    }
    deps.crashPoint('after-receive')
    for (const group of groupsOf(taken)) {
      if (await applyTogether(group)) continue
      // They did not kill us: what comes next is not held responsible for this start.
      for (const { shard, delivery } of taken) if (wasRedelivered(delivery)) await end(shard, delivery)
      return
    }
    deps.crashPoint('before-ack')
    for (const { shard, delivery } of taken) if (wasRedelivered(delivery)) await end(shard, delivery)
    // Everything taken is settled, and what came through one channel came in order: the last of each stands for all.
    const open = arrivals.filter(({ delivery }) => !delivery.isSettled)
    const last = new Map(open.map(({ shard, delivery }) => [shard, delivery]))
    for (const delivery of last.values()) delivery.ackUpTo()
    for (const { delivery } of arrivals) if (isBarrier(delivery)) answer(delivery)
  }

  /**
   * Stores that the handling of a redelivered message begins; what began too often without ending is given up.
   * @returns false when there is nothing left to do with it
   */
  async function begin(shard: number, delivery: Delivery): Promise<boolean> {
    while (delivery.isLive() && !isStopping) {
      try {
        if ((await recordStart(deps.db, pingQueue(shard), delivery)) <= MAX_STARTS) return true
        await deadLetter(deps, pingQueue(shard), delivery, 'CRASHED', null)
        return false
      } catch (error) {
        log.warn(describeError(error), 'pings.not-begun')
        await sleep(RETRY_MS.longest)
      }
    }
    return false
  }

  /** What stays behind when this fails is only a count that nothing continues. */
  async function end(shard: number, delivery: Delivery): Promise<void> {
    await forgetStarts(deps.db, pingQueue(shard), delivery).catch((error: unknown) =>
      log.warn(describeError(error), 'pings.not-ended'),
    )
  }

  function answer({ message }: Delivery): void {
    const { replyTo, correlationId } = message.properties
    if (typeof replyTo !== 'string' || typeof correlationId !== 'string') return
    deps.broker.send({ exchange: '', routingKey: replyTo, body: EMPTY, correlationId })
  }

  /**
   * One transaction for all; when it cannot be, each message for itself, so that only the one at fault is held back. A
   * fault that is not the messages' keeps all of them waiting.
   * @returns false when the work was left undone: the broker hands the messages out again
   */
  async function applyTogether(group: readonly Taken[]): Promise<boolean> {
    using waiting = countWaiting(
      deps.metrics,
      group.map(({ shard }) => pingQueue(shard)),
    )
    for (let failures = 0; ; failures++) {
      try {
        await apply(group)
        return true
      } catch (error) {
        if (isStopping || !group.some(({ delivery }) => delivery.isLive())) return false
        log.warn({ failures, messages: group.length, ...describeError(error) }, 'pings.not-applied')
        if (isMessagesFault(error)) break
        waiting.begin()
        await sleep(retryMs(failures))
      }
    }
    waiting.end()
    for (const taken of group) {
      if (!(await applyAlone(taken))) return false
    }
    return true
  }

  async function applyAlone(taken: Taken): Promise<boolean> {
    using waiting = countWaiting(deps.metrics, [pingQueue(taken.shard)])
    let firstError: unknown = null
    for (let tries = 0, failures = 0; ; tries++) {
      try {
        await apply([taken])
        return true
      } catch (error) {
        if (!taken.delivery.isLive() || isStopping) return false
        firstError ??= error
        if (isMessagesFault(error)) failures += 1
        if (failures >= TRIES_ALONE && (await schemaMatches(deps.db))) {
          const failure = { firstError, lastError: error, failures }
          await deadLetter(deps, pingQueue(taken.shard), taken.delivery, 'FAILED', failure)
          return true
        }
        waiting.begin()
        await sleep(retryMs(tries))
      }
    }
  }

  async function apply(group: readonly Taken[]): Promise<void> {
    const stop = deps.metrics.evaluatorBatch.startTimer()
    const result = await preparedTransaction(deps.db, async (run) => {
      const applied = await applyBatches(run, group, { logLimit: deps.config.pingLogLimit, now: deps.clock.now() })
      deps.crashPoint('before-commit')
      return applied
    })
    stop()
    deps.metrics.pingsApplied.inc(result.applied)
    deps.metrics.pingsDropped.inc(result.dropped)
    deps.metrics.pingsRestamped.inc(result.restamped)
    for (const to of result.flips) deps.metrics.flips.inc({ to })
    deps.outbox.publishLater(result.outbox)
    deps.live.changed(result.changed)
    deps.crashPoint('after-commit')
  }
}

const EMPTY = Buffer.alloc(0)

function isBarrier({ message }: Delivery): boolean {
  return message.properties.type === BARRIER_TYPE
}

/** Somebody waits for a barrier's answer; what was handed out before is handled alone, and has waited enough. */
function isUrgent(delivery: Delivery): boolean {
  return isBarrier(delivery) || wasRedelivered(delivery)
}

function groupsOf(taken: readonly Taken[]): Taken[][] {
  const groups: Taken[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const one of taken) {
    if (size + one.batch.pings.length > MAX_PINGS) {
      groups.push([])
      size = 0
    }
    groups.at(-1)?.push(one)
    size += one.batch.pings.length
  }
  return groups
}

function decode({ message }: Delivery): PingBatch | MalformedBatchError {
  try {
    return decodePingBatch(message.content)
  } catch (error) {
    if (error instanceof MalformedBatchError) return error
    throw error
  }
}

function retryMs(failures: number): number {
  return Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** failures)
}
