import { BARRIER_TYPE } from '#shared/contracts/barrier.ts'
import { decodePingBatch, MalformedBatchError, type PingBatch, pingQueue } from '#shared/contracts/ping-batch.ts'
import type { Consumer, Delivery } from '#shared/platform/consumer.ts'
import { isRetryable, transaction } from '#shared/platform/db.ts'
import { describeError } from '#shared/platform/log.ts'
import { deadLetter } from '#shared/platform/worker.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { applyBatches } from './apply.ts'

/** Messages taken from the queue ahead of the work; also the most that one transaction applies. */
const PREFETCH = 300
/** Pings in one transaction: larger ones gain nothing and hold locks longer. */
const MAX_PINGS = 2_000
const RETRY_MS = { first: 100, longest: 3_000 }
/** Tries of a message that fails alone, before it is given up. */
const TRIES_ALONE = 3

/** Applies pings, shard by shard, in the order in which the queues hold them. Any number of processes share the shards. */
export const pingEvaluator: Worker = {
  name: 'ping-evaluator',
  start: (deps) => Array.from({ length: deps.config.pingShards }, (_, shard) => evaluateShard(shard, deps)),
}

interface Ping {
  delivery: Delivery
  batch: PingBatch
}

function evaluateShard(shard: number, deps: WorkerDeps): Consumer {
  const queue = pingQueue(shard)
  const log = deps.log.child({ queue })
  const arrived: Delivery[] = []
  let loop: Promise<void> | null = null
  let isStopping = false

  const consumer = deps.broker.consume({
    queue,
    prefetch: PREFETCH,
    onDelivery(delivery) {
      // What was handed out twice before may be what kills the process: from then on one at a time, so that no other
      // message spends its deliveries on it.
      if (delivery.redeliveries >= 2) consumer.setPrefetch(1)
      else if (delivery.redeliveries === 0) consumer.setPrefetch(PREFETCH)
      arrived.push(delivery)
      loop ??= drain().finally(() => (loop = null))
    },
    async settled() {
      isStopping = true
      await loop
    },
  })
  return consumer

  /** Takes what is there; while it works on that, more arrives. Never waits for a batch to fill. */
  async function drain(): Promise<void> {
    // Deliveries of one socket read arrive in one turn: let them gather.
    await Promise.resolve()
    while (arrived.length > 0 && !isStopping) {
      const taken = takeSome()
      const live = taken.filter((delivery) => delivery.isLive())
      if (live.length > 0) await settle(live)
    }
  }

  function takeSome(): Delivery[] {
    const suspect = arrived.findIndex((delivery) => delivery.redeliveries >= 2)
    if (suspect === 0) return arrived.splice(0, 1)
    return arrived.splice(0, suspect > 0 ? suspect : PREFETCH)
  }

  async function settle(deliveries: readonly Delivery[]): Promise<void> {
    const barriers = deliveries.filter(({ message }) => message.properties.type === BARRIER_TYPE)
    const pings: Ping[] = []
    for (const delivery of deliveries) {
      if (delivery.message.properties.type === BARRIER_TYPE) continue
      const batch = decode(delivery)
      if (batch instanceof MalformedBatchError) await deadLetter(deps, queue, delivery, batch.code, null)
      else pings.push({ delivery, batch })
    }
    deps.crashPoint('after-receive')
    for (const group of groupsOf(pings)) {
      if (!(await applyTogether(group))) return
    }
    deps.crashPoint('before-ack')
    // Everything taken is settled and came through one channel, in order: the last stands for all.
    deliveries.at(-1)?.ackUpTo()
    for (const { message } of barriers) {
      const { replyTo, correlationId } = message.properties
      if (typeof replyTo !== 'string' || typeof correlationId !== 'string') continue
      deps.broker.send({ exchange: '', routingKey: replyTo, body: EMPTY, correlationId })
    }
  }

  /**
   * One transaction for all; when it cannot be, each message for itself, so that only the one at fault is held back.
   * @returns false when the work was left undone: the broker hands the messages out again
   */
  async function applyTogether(group: readonly Ping[]): Promise<boolean> {
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
    for (const ping of group) {
      if (!(await applyAlone(ping))) return false
    }
    return true
  }

  async function applyAlone(ping: Ping): Promise<boolean> {
    let firstError: unknown = null
    for (let failures = 0; ; ) {
      try {
        await apply([ping])
        return true
      } catch (error) {
        if (!ping.delivery.isLive() || isStopping) return false
        firstError ??= error
        if (!isTransient(error)) failures += 1
        if (failures >= TRIES_ALONE) {
          await deadLetter(deps, queue, ping.delivery, 'FAILED', { firstError, lastError: error, failures })
          return true
        }
        await pause(RETRY_MS.first)
      }
    }
  }

  async function apply(group: readonly Ping[]): Promise<void> {
    const stop = deps.metrics.evaluatorBatch.startTimer()
    const batches = group.map(({ batch }) => batch)
    const result = await transaction(deps.db, async (tx) => {
      const applied = await applyBatches(tx, shard, batches, deps.config.pingLogLimit)
      deps.crashPoint('before-commit')
      return applied
    })
    stop()
    deps.metrics.pingsApplied.inc(result.applied)
    deps.metrics.pingsDropped.inc(result.dropped)
    for (const to of result.flips) deps.metrics.flips.inc({ to })
    deps.outbox.publishLater(result.outbox)
    deps.crashPoint('after-commit')
  }
}

const EMPTY = Buffer.alloc(0)

function groupsOf(pings: readonly Ping[]): Ping[][] {
  const groups: Ping[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const ping of pings) {
    if (size + ping.batch.pings.length > MAX_PINGS) {
      groups.push([])
      size = 0
    }
    groups.at(-1)?.push(ping)
    size += ping.batch.pings.length
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

function isTransient(error: unknown): boolean {
  return isRetryable(error) || (error instanceof Error && isRetryable(error.cause))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
