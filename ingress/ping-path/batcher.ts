import {
  type AcceptedPing,
  encodePingBatch,
  PING_BATCH_VERSION,
  pingQueue,
  shardOf,
} from '#shared/contracts/ping-batch.ts'
import { type PingGeneration, queuesOf } from '#shared/contracts/ping-generations.ts'
import { UnavailableError } from '#shared/errors.ts'
import { type Arrival, arrivalNow } from '#shared/monitoring/availability/heartbeat-store.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'
import type { Metrics } from '#shared/platform/process/metrics.ts'
import { type TraceHeaders, traceHeaders } from '#shared/platform/process/tracing.ts'
import type { Micros } from '#shared/time.ts'

/** Called once; without an error after the broker has confirmed the ping. */
type Done = (error: unknown) => void

interface First {
  receivedAt: Micros
  arrival: Arrival
}

interface Shard {
  queue: string
  pings: AcceptedPing[]
  waiting: Done[]
  bytes: number
  trace: TraceHeaders
  /** of the unsent pings; null if there are none */
  first: First | null
  /** publishing channel of `seq` */
  epoch: string
  seq: number
}

/** A message of this size is sent at once, even if another one is in flight. */
const MAX_PINGS = 400
const MAX_BYTES = 512 * 1024
const GATHER_MS = 2
/** Maximum wait while a message is in flight: a later confirm costs less than another message. */
const GATHER_BEHIND_MS = 10
/** A message is sent after this many iterations of the event loop without a new ping. */
const EMPTY_TICKS = 3
/** Limits of unconfirmed pings in this process; beyond them pings are refused. */
const MAX_BUFFERED_PINGS = 50_000
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024

interface BatcherOptions {
  /** returns the generation for pings that arrive now; null if it is unknown */
  into: () => PingGeneration | null
  metrics: Metrics
  /** returns reasons why no ping may be accepted; empty if pings may be accepted */
  problems: () => readonly string[]
  /** returns true if a ping with this arrival may still be answered with success */
  mayAnswer: (arrival: Arrival, now: Arrival) => boolean
}

/**
 * Collects pings of a shard into one message. Clients that were answered together ping again in consecutive iterations
 * of the event loop. Therefore a message is sent after some iterations without a new ping, at the latest after 2 ms.
 * While another message is in flight, pings wait for its confirm, at most 10 ms.
 */
export class Batcher {
  readonly #broker: Broker
  readonly #options: BatcherOptions
  #shards: Shard[] = []
  #generation = -1
  #bufferedPings = 0
  #bufferedBytes = 0
  #onDrained: () => void = () => {}
  /** Messages in flight of any shard. All shards send in the same iteration, so that each message has many pings. */
  readonly #inFlight = new Set<First>()
  #timer: NodeJS.Timeout | null = null
  #immediate: NodeJS.Immediate | null = null
  /** state of the wait for further pings; null if no ping waits */
  #gathering: { since: number; pings: number; emptyTicks: number } | null = null

  constructor(broker: Broker, options: BatcherOptions) {
    this.#broker = broker
    this.#options = options
  }

  add(ping: AcceptedPing, done: Done): void {
    if (this.#options.problems().length > 0) {
      done(new UnavailableError('this process cannot accept pings now'))
      return
    }
    this.#switchTo(this.#options.into())
    const shard = this.#shards[shardOf(ping.checkId, this.#shards.length)]
    const bytes = 300 + (ping.body?.length ?? 0)
    if (!shard || this.#bufferedPings >= MAX_BUFFERED_PINGS || this.#bufferedBytes + bytes > MAX_BUFFERED_BYTES) {
      done(new UnavailableError('too many pings wait for the broker', { retryAfterSeconds: 1 }))
      return
    }
    this.#bufferedPings += 1
    this.#bufferedBytes += bytes
    shard.first ??= { receivedAt: ping.receivedAt, arrival: arrivalNow() }
    if (shard.trace.traceparent === undefined) shard.trace = traceHeaders()
    shard.pings.push(ping)
    shard.waiting.push(done)
    shard.bytes += bytes
    if (shard.pings.length >= MAX_PINGS || shard.bytes >= MAX_BYTES) this.#flush(shard)
    else if (this.#inFlight.size === 0) this.#immediate ??= setImmediate(this.#flushSoon)
    else this.#timer ??= setTimeout(this.#flushAll, GATHER_BEHIND_MS)
  }

  /**
   * Sends the waiting pings to their former queues and changes to a newer generation. It never changes back, even if
   * the clock does: stream positions would repeat, and the evaluator would drop the second message as redelivered.
   */
  #switchTo(generation: PingGeneration | null): void {
    if (!generation || generation.generation <= this.#generation) return
    for (const shard of this.#shards) this.#flush(shard)
    this.#generation = generation.generation
    this.#shards = queuesOf(generation).map((queue) => emptyShard(pingQueue(queue)))
  }

  async drain(): Promise<void> {
    if (this.#bufferedPings > 0) await new Promise<void>((resolve) => (this.#onDrained = resolve))
  }

  /** Returns the arrival of the oldest unanswered ping; null if there is none. */
  oldest(): Micros | null {
    let oldest: Micros | null = null
    for (const first of [...this.#inFlight, ...this.#shards.map((shard) => shard.first)]) {
      if (first && (oldest === null || first.receivedAt < oldest)) oldest = first.receivedAt
    }
    return oldest
  }

  /** Runs once per iteration of the event loop until no further ping arrives. */
  readonly #flushSoon = (): void => {
    this.#gathering ??= { since: performance.now(), pings: 0, emptyTicks: 0 }
    const gathering = this.#gathering
    gathering.emptyTicks = this.#bufferedPings > gathering.pings ? 0 : gathering.emptyTicks + 1
    gathering.pings = this.#bufferedPings
    const isOver = gathering.emptyTicks >= EMPTY_TICKS || performance.now() - gathering.since >= GATHER_MS
    if (isOver || this.#inFlight.size > 0) this.#flushAll()
    else this.#immediate = setImmediate(this.#flushSoon)
  }

  readonly #flushAll = (): void => {
    if (this.#timer) clearTimeout(this.#timer)
    if (this.#immediate) clearImmediate(this.#immediate)
    this.#timer = null
    this.#immediate = null
    this.#gathering = null
    for (const shard of this.#shards) this.#flush(shard)
  }

  #flush(shard: Shard): void {
    const { pings, waiting, bytes, first, trace } = shard
    if (first === null) return
    shard.pings = []
    shard.waiting = []
    shard.bytes = 0
    shard.first = null
    shard.trace = {}
    this.#inFlight.add(first)
    const { metrics, mayAnswer } = this.#options
    metrics.pingBatchSize.observe(pings.length)
    this.#send(shard, pings, trace).then(
      () => this.#settle(first, waiting, bytes, mayAnswer(first.arrival, arrivalNow()) ? null : tooLate()),
      (error: unknown) => this.#settle(first, waiting, bytes, error),
    )
  }

  async #send(shard: Shard, pings: AcceptedPing[], trace: TraceHeaders): Promise<void> {
    const epoch = this.#broker.publisherEpoch
    if (epoch === '') throw new UnavailableError('the broker cannot be reached')
    if (shard.epoch !== epoch) {
      shard.epoch = epoch
      shard.seq = 0
    }
    shard.seq += 1
    await this.#broker.publish({
      exchange: '',
      routingKey: shard.queue,
      body: encodePingBatch({ stream: epoch, seq: shard.seq, pings }),
      messageId: `${epoch}:${shard.seq}`,
      type: 'ping.batch',
      headers: { v: PING_BATCH_VERSION, ...trace },
    })
  }

  #settle(first: First, waiting: readonly Done[], bytes: number, error: unknown): void {
    this.#inFlight.delete(first)
    this.#bufferedPings -= waiting.length
    this.#bufferedBytes -= bytes
    for (const done of waiting) done(error)
    if (this.#inFlight.size === 0) this.#immediate ??= setImmediate(this.#flushSoon)
    if (this.#bufferedPings === 0) this.#onDrained()
  }
}

function emptyShard(queue: string): Shard {
  return { queue, pings: [], waiting: [], bytes: 0, trace: {}, first: null, epoch: '', seq: 0 }
}

/** A sweep may already have passed the deadline that this ping was meant to keep. */
function tooLate(): UnavailableError {
  return new UnavailableError('the broker confirmed too late')
}
