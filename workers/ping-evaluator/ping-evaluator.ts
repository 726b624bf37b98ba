import { setTimeout as sleep } from 'node:timers/promises'
import { MalformedBatchError, PING_BATCH_VERSION, pingQueue } from '#shared/contracts/ping-batch.ts'
import type { Delivery } from '#shared/platform/broker/consumer.ts'
import { isLeftToNewer, REQUEUE_DELAY_MS } from '#shared/platform/broker/newer-release.ts'
import { MAX_STARTS, wasRedelivered } from '#shared/platform/broker/redelivery-guard.ts'
import { forgetStarts, recordStart } from '#shared/platform/broker/redelivery-store.ts'
import { countWaiting } from '#shared/platform/broker/waiting.ts'
import { deadLetter } from '#shared/platform/broker/worker.ts'
import { isCausedByMessage, schemaMatches } from '#shared/platform/database/error-class.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { toSeconds } from '#shared/time.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { Applier } from './applier.ts'
import { type Arrival, decode, groupsOf, isBarrier, isUrgent, MAX_PINGS, type Taken } from './arrivals.ts'
import { createBatchTimer } from './batch-timer.ts'
import { followQueues } from './follow-queues.ts'

const PREFETCH = 300
/** Minimum interval of transactions while pings are dense: half of the cost of a small transaction is fixed. */
const BATCH_INTERVAL_MS = 20
/** Number of waiting messages at which a batch starts without waiting for the interval. */
const MAX_BATCH_MESSAGES = 50
const RETRY_MS = { first: 100, longest: 3_000 }
/** Slices of 10 ms that the evaluation of a transaction may take; beyond it, the next transactions are smaller. */
const MAX_SLICES = 20
/** The process is not ready if no transaction has committed and a ping has waited for longer. */
const MAX_UNAPPLIED_SECONDS = 15
/** Failures of a message that is applied alone, after which it is dead-lettered. */
const MAX_FAILURES_ALONE = 3

/** Applies pings in the order of each queue. Shards share transactions, and any number of processes share the shards. */
export const pingEvaluator: Worker = {
  name: 'ping-evaluator',
  start: (deps) => startEvaluator(deps),
}

function startEvaluator(deps: WorkerDeps): AsyncDisposable[] {
  const evaluator = new Evaluator(deps)
  deps.metrics.unappliedAge.read((gauge) => gauge.set(evaluator.unappliedSeconds()))
  deps.readiness.add(() => evaluator.problems())

  const followed = followQueues(deps, (queue) =>
    deps.broker.consume({
      queue: pingQueue(queue),
      prefetch: PREFETCH,
      inOrder: true,
      onDelivery: (delivery) => evaluator.take(queue, delivery),
      settled: () => evaluator.settled(),
    }),
  )
  return [
    {
      async [Symbol.asyncDispose]() {
        const stopped = evaluator.stop()
        await followed[Symbol.asyncDispose]()
        await stopped
      },
    },
  ]
}

class Evaluator {
  readonly #deps: WorkerDeps
  #arrived: Arrival[] = []
  #inWork: readonly Arrival[] = []
  #loop: Promise<void> | null = null
  #isStopping = false
  readonly #batchTimer = createBatchTimer(BATCH_INTERVAL_MS)
  readonly #applier: Applier
  /** smaller while pings are expensive, so that transactions commit soon */
  #maxPings = MAX_PINGS
  /** time of the last commit, monotonic milliseconds */
  #appliedAt = performance.now()

  constructor(deps: WorkerDeps) {
    this.#deps = deps
    this.#applier = new Applier(deps)
  }

  take(shard: number, delivery: Delivery): void {
    this.#arrived.push({ shard, delivery, at: performance.now() })
    if (isUrgent(delivery) || this.#arrived.length >= MAX_BATCH_MESSAGES) this.#batchTimer.flush()
    this.#loop ??= this.#drain().finally(() => (this.#loop = null))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#batchTimer.flush()
    await this.#loop
  }

  async settled(): Promise<void> {
    await this.#loop
  }

  /** Returns the time since a listener received the oldest unapplied ping. A redelivery does not reset it. */
  unappliedSeconds(): number {
    const oldest = [...this.#inWork, ...this.#arrived].find(({ delivery }) => !isBarrier(delivery))
    if (!oldest) return 0
    const waited = (performance.now() - oldest.at) / 1000
    const batch = decode(oldest.delivery)
    const [ping] = batch instanceof MalformedBatchError ? [] : batch.pings
    return ping ? Math.max(waited, toSeconds(this.#deps.now() - ping.receivedAt)) : waited
  }

  /** Reports no problem while transactions commit, even with a backlog. */
  problems(): string[] {
    const idleSeconds = (performance.now() - this.#appliedAt) / 1000
    if (idleSeconds <= MAX_UNAPPLIED_SECONDS) return []
    const seconds = Math.round(this.unappliedSeconds())
    return seconds > MAX_UNAPPLIED_SECONDS ? [`pings: the oldest unapplied ping has waited for ${seconds} s`] : []
  }

  /** Handles messages until none is left. Urgent messages, for example barriers, end the wait for a batch. */
  async #drain(): Promise<void> {
    // The messages of one socket read arrive in the same iteration of the event loop.
    await new Promise(setImmediate)
    while (this.#arrived.length > 0 && !this.#isStopping) {
      if (this.#arrived.length >= MAX_BATCH_MESSAGES || this.#arrived.some(({ delivery }) => isUrgent(delivery)))
        this.#batchTimer.flush()
      await this.#batchTimer.waitForNextBatch()
      this.#inWork = this.#takeSome().filter(({ delivery }) => delivery.isLive())
      if (this.#inWork.length > 0) await this.#settle(this.#inWork)
      this.#inWork = []
    }
  }

  #takeSome(): Arrival[] {
    // A redelivered message may crash the process, so it is handled alone and no other message is blamed.
    const guarded = this.#arrived.findIndex(({ delivery }) => wasRedelivered(delivery) && !isBarrier(delivery))
    const count = guarded === 0 ? 1 : guarded > 0 ? guarded : this.#arrived.length
    const taken = this.#arrived.slice(0, count)
    this.#arrived = this.#arrived.slice(count)
    return taken
  }

  async #settle(arrivals: readonly Arrival[]): Promise<void> {
    const taken: Taken[] = []
    const left = new Map<number, Delivery>()
    const settled: Arrival[] = []
    for (const arrival of arrivals) {
      const { shard, delivery } = arrival
      if (!left.has(shard) && isLeftToNewer(delivery, PING_BATCH_VERSION, Date.now() / 1000)) left.set(shard, delivery)
      // Later messages are returned as well, because pings of a check are applied in order.
      if (left.has(shard)) continue
      settled.push(arrival)
      if (isBarrier(delivery)) continue
      if (wasRedelivered(delivery) && !(await this.#begin(shard, delivery))) return
      const batch = decode(delivery)
      if (batch instanceof MalformedBatchError)
        await deadLetter(this.#deps, pingQueue(shard), delivery, batch.code, null)
      else taken.push({ shard, delivery, batch })
    }
    this.#deps.crashPoint('after-receive')
    for (const group of groupsOf(taken, () => this.#maxPings)) {
      if (await this.#applyTogether(group)) continue
      // The process did not crash, so the start of these messages is not counted.
      for (const { shard, delivery } of taken) if (wasRedelivered(delivery)) await this.#end(shard, delivery)
      return
    }
    this.#deps.crashPoint('before-ack')
    for (const { shard, delivery } of taken) if (wasRedelivered(delivery)) await this.#end(shard, delivery)
    // Messages of a channel are in order, so one ack for the last message of each queue settles all.
    const open = settled.filter(({ delivery }) => !delivery.isSettled)
    const last = new Map(open.map(({ shard, delivery }) => [shard, delivery]))
    for (const delivery of last.values()) delivery.ackUpTo()
    for (const { delivery } of settled) if (isBarrier(delivery)) this.#answer(delivery)
    for (const delivery of left.values()) delivery.leave(REQUEUE_DELAY_MS)
  }

  /** Counts a start of a redelivered message. After too many, dead-letters the message and returns false. */
  async #begin(shard: number, delivery: Delivery): Promise<boolean> {
    while (delivery.isLive() && !this.#isStopping) {
      try {
        if ((await recordStart(this.#deps.db, pingQueue(shard), delivery)) <= MAX_STARTS) return true
        await deadLetter(this.#deps, pingQueue(shard), delivery, 'CRASHED', null)
        return false
      } catch (error) {
        this.#deps.log.warn(describeError(error), 'pings.not-begun')
        await sleep(RETRY_MS.longest)
      }
    }
    return false
  }

  /** Deletes the count of starts. After a failure, only an unused row remains. */
  async #end(shard: number, delivery: Delivery): Promise<void> {
    await forgetStarts(this.#deps.db, pingQueue(shard), delivery).catch((error: unknown) =>
      this.#deps.log.warn(describeError(error), 'pings.not-ended'),
    )
  }

  #answer({ message }: Delivery): void {
    const { replyTo, correlationId } = message.properties
    if (typeof replyTo !== 'string' || typeof correlationId !== 'string') return
    this.#deps.broker.send({ exchange: '', routingKey: replyTo, body: EMPTY, correlationId })
  }

  /**
   * If a message causes an error, each is applied alone, so that only the faulty one is delayed. Any other error
   * delays the whole group. Returns false if the broker redelivers the messages.
   */
  async #applyTogether(group: readonly Taken[]): Promise<boolean> {
    using waiting = countWaiting(
      this.#deps.metrics,
      group.map(({ shard }) => pingQueue(shard)),
    )
    for (let failures = 0; ; failures++) {
      try {
        await this.#apply(group)
        return true
      } catch (error) {
        if (this.#isStopping || !group.some(({ delivery }) => delivery.isLive())) return false
        this.#deps.log.warn({ failures, messages: group.length, ...describeError(error) }, 'pings.not-applied')
        if (isCausedByMessage(error)) break
        waiting.begin()
        await sleep(retryMs(failures))
      }
    }
    waiting.end()
    for (const taken of group) {
      if (!(await this.#applyAlone(taken))) return false
    }
    return true
  }

  async #applyAlone(taken: Taken): Promise<boolean> {
    using waiting = countWaiting(this.#deps.metrics, [pingQueue(taken.shard)])
    let firstError: unknown = null
    for (let tries = 0, failures = 0; ; tries++) {
      try {
        await this.#apply([taken])
        return true
      } catch (error) {
        if (!taken.delivery.isLive() || this.#isStopping) return false
        firstError ??= error
        if (isCausedByMessage(error)) failures += 1
        if (failures >= MAX_FAILURES_ALONE && (await schemaMatches(this.#deps.db))) {
          const failure = { firstError, lastError: error, failures }
          await deadLetter(this.#deps, pingQueue(taken.shard), taken.delivery, 'FAILED', failure)
          return true
        }
        waiting.begin()
        await sleep(retryMs(tries))
      }
    }
  }

  async #apply(group: readonly Taken[]): Promise<void> {
    // A group belongs to many traces; its span is part of the first.
    const traceparent = group.map(({ delivery }) => delivery.message.properties.headers?.traceparent).find(Boolean)
    await this.#deps.tracer.continued('pings', traceparent, () => this.#store(group))
  }

  async #store(group: readonly Taken[]): Promise<void> {
    const stop = this.#deps.metrics.evaluatorBatch.startTimer()
    const result = await this.#applier.apply(group)
    stop()
    this.#appliedAt = performance.now()
    const isExpensive = result.slices > MAX_SLICES
    this.#maxPings = isExpensive ? Math.ceil(this.#maxPings / 2) : Math.min(MAX_PINGS, this.#maxPings * 2)
    this.#deps.metrics.pingsApplied.inc(result.applied)
    this.#deps.metrics.pingsDropped.inc(result.dropped)
    this.#deps.metrics.pingsRestamped.inc(result.restamped)
    for (const to of result.flips) this.#deps.metrics.flips.inc({ to })
    this.#deps.outbox.publishLater(result.outbox)
    this.#deps.live.changed(result.changed)
    this.#deps.crashPoint('after-commit')
  }
}

const EMPTY = Buffer.alloc(0)

function retryMs(failures: number): number {
  return Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** failures)
}
