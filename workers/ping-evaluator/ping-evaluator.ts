import { BARRIER_TYPE } from '#shared/contracts/barrier.ts'
import { decodePingBatch, MalformedBatchError, type PingBatch, pingQueue } from '#shared/contracts/ping-batch.ts'
import type { Delivery } from '#shared/platform/consumer.ts'
import { isRetryable } from '#shared/platform/db.ts'
import { describeError } from '#shared/platform/log.ts'
import { preparedTransaction } from '#shared/platform/prepared.ts'
import { beginSuspect, endSuspect, isSuspect, MAX_STARTS } from '#shared/platform/suspects.ts'
import { deadLetter } from '#shared/platform/worker.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { applyBatches } from './apply.ts'

/** Messages taken from each queue ahead of the work. */
const PREFETCH = 300
/** Pings in one transaction: larger ones gain nothing and hold locks longer. */
const MAX_PINGS = 2_000
const RETRY_MS = { first: 100, longest: 3_000 }
/** Tries of a message that fails alone, before it is given up. */
const TRIES_ALONE = 3

interface Arrival {
  shard: number
  delivery: Delivery
}

interface Taken extends Arrival {
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
  let loop: Promise<void> | null = null
  let isStopping = false

  return Array.from({ length: deps.config.pingShards }, (_, shard) =>
    deps.broker.consume({
      queue: pingQueue(shard),
      prefetch: PREFETCH,
      inOrder: true,
      onDelivery(delivery) {
        arrived.push({ shard, delivery })
        loop ??= drain().finally(() => (loop = null))
      },
      async settled() {
        isStopping = true
        await loop
      },
    }),
  )

  /** Takes what is there; never waits for a batch to fill. */
  async function drain(): Promise<void> {
    // What one read of the socket brought is delivered in one turn: let it gather.
    await new Promise(setImmediate)
    while (arrived.length > 0 && !isStopping) {
      const live = takeSome().filter(({ delivery }) => delivery.isLive())
      if (live.length > 0) await settle(live)
    }
  }

  function takeSome(): Arrival[] {
    // A message that may be what kills the process is handled alone, so that no other is held responsible for it.
    const suspect = arrived.findIndex(({ delivery }) => isSuspect(delivery) && !isBarrier(delivery))
    const count = suspect === 0 ? 1 : suspect > 0 ? suspect : arrived.length
    const taken = arrived.slice(0, count)
    arrived = arrived.slice(count)
    return taken
  }

  async function settle(arrivals: readonly Arrival[]): Promise<void> {
    const taken: Taken[] = []
    for (const { shard, delivery } of arrivals) {
      if (isBarrier(delivery)) continue
      if (isSuspect(delivery) && !(await begin(shard, delivery))) return
      const batch = decode(delivery)
      if (batch instanceof MalformedBatchError) await deadLetter(deps, pingQueue(shard), delivery, batch.code, null)
      else taken.push({ shard, delivery, batch })
    }
    deps.crashPoint('after-receive')
    for (const group of groupsOf(taken)) {
      if (!(await applyTogether(group))) return
    }
    deps.crashPoint('before-ack')
    for (const { shard, delivery } of taken) if (isSuspect(delivery)) await end(shard, delivery)
    // Everything taken is settled, and what came through one channel came in order: the last of each stands for all.
    const open = arrivals.filter(({ delivery }) => !delivery.isSettled)
    const last = new Map(open.map(({ shard, delivery }) => [shard, delivery]))
    for (const delivery of last.values()) delivery.ackUpTo()
    for (const { delivery } of arrivals) if (isBarrier(delivery)) answer(delivery)
  }

  /**
   * Stores that the handling of a suspect begins; what began too often without ending is given up.
   * @returns false when there is nothing left to do with it
   */
  async function begin(shard: number, delivery: Delivery): Promise<boolean> {
    while (delivery.isLive() && !isStopping) {
      try {
        if ((await beginSuspect(deps.db, pingQueue(shard), delivery)) <= MAX_STARTS) return true
        await deadLetter(deps, pingQueue(shard), delivery, 'CRASHED', null)
        return false
      } catch (error) {
        log.warn(describeError(error), 'pings.not-begun')
        await pause(RETRY_MS.longest)
      }
    }
    return false
  }

  /** What stays behind when this fails is only a count that nothing continues. */
  async function end(shard: number, delivery: Delivery): Promise<void> {
    await endSuspect(deps.db, pingQueue(shard), delivery).catch((error: unknown) =>
      log.warn(describeError(error), 'pings.not-ended'),
    )
  }

  function answer({ message }: Delivery): void {
    const { replyTo, correlationId } = message.properties
    if (typeof replyTo !== 'string' || typeof correlationId !== 'string') return
    deps.broker.send({ exchange: '', routingKey: replyTo, body: EMPTY, correlationId })
  }

  /**
   * One transaction for all; when it cannot be, each message for itself, so that only the one at fault is held back.
   * @returns false when the work was left undone: the broker hands the messages out again
   */
  async function applyTogether(group: readonly Taken[]): Promise<boolean> {
    for (let failures = 0; ; failures++) {
      try {
        await apply(group)
        return true
      } catch (error) {
        if (isStopping || !group.some(({ delivery }) => delivery.isLive())) return false
        log.warn({ failures, messages: group.length, ...describeError(error) }, 'pings.not-applied')
        if (!isTransient(error)) break
        await pause(Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** failures))
      }
    }
    for (const taken of group) {
      if (!(await applyAlone(taken))) return false
    }
    return true
  }

  async function applyAlone(taken: Taken): Promise<boolean> {
    let firstError: unknown = null
    for (let failures = 0; ; ) {
      try {
        await apply([taken])
        return true
      } catch (error) {
        if (!taken.delivery.isLive() || isStopping) return false
        firstError ??= error
        if (!isTransient(error)) failures += 1
        if (failures >= TRIES_ALONE) {
          const failure = { firstError, lastError: error, failures }
          await deadLetter(deps, pingQueue(taken.shard), taken.delivery, 'FAILED', failure)
          return true
        }
        await pause(RETRY_MS.first)
      }
    }
  }

  async function apply(group: readonly Taken[]): Promise<void> {
    const stop = deps.metrics.evaluatorBatch.startTimer()
    const result = await preparedTransaction(deps.db, async (run) => {
      const applied = await applyBatches(run, group, deps.config.pingLogLimit)
      deps.crashPoint('before-commit')
      return applied
    })
    stop()
    deps.metrics.pingsApplied.inc(result.applied)
    deps.metrics.pingsDropped.inc(result.dropped)
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

/** The database's fault, not the messages': waiting helps. */
function isTransient(error: unknown): boolean {
  return isRetryable(error) || (error instanceof Error && isRetryable(error.cause))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
