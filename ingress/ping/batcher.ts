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

/** Called once: without an error when the broker has the ping for good. */
type Done = (error: unknown) => void

/** The first ping of a message: the others arrived after it. */
interface First {
  receivedAt: Micros
  arrival: Arrival
}

interface Shard {
  queue: string
  pings: AcceptedPing[]
  waiting: Done[]
  bytes: number
  /** by which the first ping of the message that is traced goes on at the evaluator */
  trace: TraceHeaders
  /** of those that are not sent yet; null when there are none */
  first: First | null
  /** the channel that `seq` counts for */
  epoch: string
  seq: number
}

/** A message is sent when it holds so much, whatever is in flight. */
const MAX_PINGS = 400
const MAX_BYTES = 512 * 1024
/** Longest wait for company while nothing is in flight. */
const GATHER_MS = 2
/** The same while a message is in flight: one confirm later costs less than one message more. */
const GATHER_BEHIND_MS = 10
/** Event-loop turns without a new ping after which no more company is expected: some microseconds each. */
const EMPTY_TICKS = 3
/** What one process may hold that the broker has not confirmed; beyond it pings are refused. */
const MAX_BUFFERED_PINGS = 50_000
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024

interface BatcherOptions {
  /** where pings go that arrive now; null while that is not known */
  into: () => PingGeneration | null
  metrics: Metrics
  /** why pings must not be taken at all, such as queues that nobody would read; empty when they may */
  problems: () => readonly string[]
  /** whether a ping that arrived then may be answered with success now that the broker has it */
  mayAnswer: (arrival: Arrival, now: Arrival) => boolean
}

/**
 * Lets pings for the same shard travel together (design: the ping path). When nothing is in flight
 * a ping is sent once the event loop has turned without bringing another, so that clients who were answered together, and
 * come again one turn after the other, are one message; a ping that is alone waits for microseconds. Else it goes with
 * the others that arrive until all is confirmed. The one takes 2 ms at most, the other 10 ms.
 */
export class Batcher {
  readonly #broker: Broker
  readonly #options: BatcherOptions
  #shards: Shard[] = []
  /** the one that the shards are those of */
  #generation = -1
  #heldPings = 0
  #heldBytes = 0
  #onDrained: () => void = () => {}
  /** Messages under way, of any shard: those of one turn go together, so that each carries as much as it can. */
  readonly #inFlight = new Set<First>()
  #timer: NodeJS.Timeout | null = null
  #immediate: NodeJS.Immediate | null = null
  /** what the turns before this one have brought, and how many in a row nothing; null while nobody waits for company */
  #gathering: { since: number; held: number; emptyTicks: number } | null = null

  constructor(broker: Broker, options: BatcherOptions) {
    this.#broker = broker
    this.#options = options
  }

  /** Takes a ping; `done` is called after the confirm of the message that carries it. */
  add(ping: AcceptedPing, done: Done): void {
    if (this.#options.problems().length > 0) {
      done(new UnavailableError('this process does not fit its installation'))
      return
    }
    this.#switchTo(this.#options.into())
    const shard = this.#shards[shardOf(ping.checkId, this.#shards.length)]
    const bytes = 300 + (ping.body?.length ?? 0)
    if (!shard || this.#heldPings >= MAX_BUFFERED_PINGS || this.#heldBytes + bytes > MAX_BUFFERED_BYTES) {
      done(new UnavailableError('too many pings wait for the broker', { retryAfterSeconds: 1 }))
      return
    }
    this.#heldPings += 1
    this.#heldBytes += bytes
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
   * What was taken before a change of the number of shards goes where it was to go. There is no way back, even when the
   * clock takes one: positions in a stream would be given twice, and the second message be taken for a repetition.
   */
  #switchTo(generation: PingGeneration | null): void {
    if (!generation || generation.generation <= this.#generation) return
    for (const shard of this.#shards) this.#flush(shard)
    this.#generation = generation.generation
    this.#shards = queuesOf(generation).map((queue) => emptyShard(pingQueue(queue)))
  }

  /** Waits until nothing is buffered or under way. */
  async drain(): Promise<void> {
    if (this.#heldPings > 0) await new Promise<void>((resolve) => (this.#onDrained = resolve))
  }

  /** arrival of the oldest ping that is not answered yet; null when there is none */
  oldest(): Micros | null {
    let oldest: Micros | null = null
    for (const first of [...this.#inFlight, ...this.#shards.map((shard) => shard.first)]) {
      if (first && (oldest === null || first.receivedAt < oldest)) oldest = first.receivedAt
    }
    return oldest
  }

  /** Called once per turn until nothing more comes. */
  readonly #flushSoon = (): void => {
    this.#gathering ??= { since: performance.now(), held: 0, emptyTicks: 0 }
    const gathering = this.#gathering
    gathering.emptyTicks = this.#heldPings > gathering.held ? 0 : gathering.emptyTicks + 1
    gathering.held = this.#heldPings
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
    this.#heldPings -= waiting.length
    this.#heldBytes -= bytes
    for (const done of waiting) done(error)
    if (this.#inFlight.size === 0) this.#immediate ??= setImmediate(this.#flushSoon)
    if (this.#heldPings === 0) this.#onDrained()
  }
}

function emptyShard(queue: string): Shard {
  return { queue, pings: [], waiting: [], bytes: 0, trace: {}, first: null, epoch: '', seq: 0 }
}

/** By now a sweep may have passed the deadline that it was to keep. */
function tooLate(): UnavailableError {
  return new UnavailableError('the broker confirmed too late')
}
