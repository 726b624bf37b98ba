import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib'
import { describeError, type Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import { answered } from './deadlines.ts'

/** A message in flight. Settling it after its channel is gone does nothing: the broker hands it out again. */
export interface Delivery {
  message: ConsumeMessage
  /** times the broker handed it out before; 0 on the first */
  redeliveries: number
  ack(): void
  /** acknowledges everything of this consumer up to and including this message */
  ackUpTo(): void
  /** gives it back, to be handed out again at once (up to the delivery limit of its queue) */
  requeue(): void
  /** Takes nothing more from the queue for so long: this message and all that are in hand go back to their places. */
  leave(ms: number): void
  /** whether it was acknowledged by itself, or given back; a second time would be a breach of the protocol */
  readonly isSettled: boolean
  /** false once the channel it came through is gone */
  isLive(): boolean
}

export interface ConsumerOptions {
  queue: string
  prefetch: number
  onDelivery(delivery: Delivery): void
  /** declares a queue that is not of the topology (exclusive ones); runs on every new channel before it consumes */
  declare?: (channel: Channel) => Promise<unknown>
  /** the broker forgets what it hands out: for replies and announcements */
  noAck?: boolean
  /**
   * The queue has one active consumer and its order matters. Once such a consumer is cancelled the next one is handed
   * what follows, while the first still holds what came before. So it is never cancelled: its channel is closed, which
   * puts what it holds back in its place before anyone else is served.
   */
  inOrder?: boolean
  /** finishes what is in flight and takes nothing more in flight; for shutdown */
  settled?: () => Promise<void>
}

const REOPEN_AFTER_MS = 500
/** What a restart of the broker or a lost channel may take, before it is a reason to call the process unready. */
const MAY_BE_CLOSED_MS = 15_000
const GOODBYE_MS = 3_000
const INSTANCE_SUFFIX = /\.[0-9a-f]{8}-[0-9a-f-]{27}$/

/** Keeps one consumer on one queue for as long as the process lives, whatever happens to channel, queue or connection. */
export class Consumer implements AsyncDisposable {
  readonly #options: ConsumerOptions
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #repair: () => void
  /** the queue; of one that is this process's own, what it is for */
  readonly kind: string
  #model: ChannelModel | null = null
  #channel: Channel | null = null
  #consumerTag = ''
  #isClosing = false
  /** since when, in monotonic milliseconds, nothing can come; null while it can */
  #closedSince: number | null = performance.now()
  #timer: NodeJS.Timeout | null = null
  /** until when, in monotonic milliseconds, the queue is left to others */
  #awayUntil = 0
  #onClosed: () => void = () => {}
  /** the connection a channel is being opened on; a second attempt at the same time would make a second consumer */
  #opening: ChannelModel | null = null

  constructor(options: ConsumerOptions, deps: { log: Log; metrics: Metrics; repair: () => void }) {
    this.#options = options
    this.#log = deps.log
    this.#metrics = deps.metrics
    this.#repair = deps.repair
    this.kind = options.queue.replace(INSTANCE_SUFFIX, '')
  }

  /** @param model the connection to consume through from now on; null while there is none */
  attach(model: ChannelModel | null): void {
    this.#model = model
    this.#channel = null
    this.#consumerTag = ''
    this.#closedSince ??= performance.now()
    this.#openSoon(0)
  }

  /** whether the broker has us as a consumer of the queue */
  get isConsuming(): boolean {
    return this.#channel !== null && this.#consumerTag !== ''
  }

  /** why its messages do not come; empty when they can */
  problems(): string[] {
    if (performance.now() < this.#awayUntil && !this.#isClosing)
      return [`consumer of ${this.kind}: leaves a message to a newer release: update this process`]
    const since = this.#closedSince
    const closedMs = since === null || this.#isClosing ? 0 : performance.now() - since
    if (closedMs <= MAY_BE_CLOSED_MS) return []
    return [`consumer of ${this.kind}: not open for ${Math.round(closedMs / 1000)} s`]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true
    if (this.#timer) clearTimeout(this.#timer)
    const { inOrder, settled } = this.#options
    if (this.#channel && this.#consumerTag !== '' && !inOrder)
      await this.#goodbye(this.#channel.cancel(this.#consumerTag))
    await settled?.()
    // Asked again, because it may have been lost meanwhile.
    if (this.#channel) await this.#goodbye(this.#channel.close())
    this.#channel = null
    this.#onClosed()
  }

  /** Calls once nothing is taken any more. */
  onClosed(listener: () => void): void {
    this.#onClosed = listener
  }

  #openSoon(delayMs: number): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#tryOpen(), Math.max(delayMs, this.#awayUntil - performance.now()))
    this.#timer.unref()
  }

  #tryOpen(): void {
    const from = this.#model
    if (!from || this.#channel || this.#opening === from || this.#isClosing) return
    this.#opening = from
    this.#open(from)
      .catch((error: unknown) => {
        this.#log.warn({ queue: this.#options.queue, ...describeError(error) }, 'consumer.not-opened')
        if (this.#model === from) this.#repair()
      })
      .finally(() => {
        if (this.#opening === from) this.#opening = null
        if (this.#model === from && !this.#channel) this.#openSoon(REOPEN_AFTER_MS)
      })
  }

  async #open(from: ChannelModel): Promise<void> {
    const { queue } = this.#options
    const opened = await answered(from, `a channel for ${this.kind}`, from.createChannel())
    opened.on('error', (error: Error) => this.#log.warn({ queue, ...describeError(error) }, 'consumer.channel-failed'))
    opened.on('close', () => this.#lost(opened))
    if (this.#model !== from || this.#isClosing) {
      discard(opened)
      return
    }
    this.#channel = opened
    try {
      await answered(from, `consuming ${this.kind}`, this.#start(opened))
    } catch (error) {
      this.#lost(opened)
      discard(opened)
      throw error
    }
  }

  async #start(on: Channel): Promise<void> {
    const { queue, prefetch, declare, noAck = false } = this.#options
    await on.prefetch(prefetch)
    await declare?.(on)
    const take = (message: ConsumeMessage | null) => {
      if (message) this.#options.onDelivery(this.#deliver(on, message))
      else this.#cancelledByBroker(on)
    }
    const reply = await on.consume(queue, take, { noAck })
    if (this.#channel !== on) return
    this.#consumerTag = reply.consumerTag
    this.#closedSince = null
  }

  #lost(gone: Channel): void {
    if (this.#channel !== gone) return
    this.#channel = null
    this.#consumerTag = ''
    this.#closedSince ??= performance.now()
    this.#openSoon(REOPEN_AFTER_MS)
  }

  #deliver(on: Channel, message: ConsumeMessage): Delivery {
    const { queue } = this.#options
    const count = message.properties.headers?.['x-delivery-count']
    const redeliveries = typeof count === 'number' ? count : message.fields.redelivered ? 1 : 0
    if (redeliveries > 0) this.#metrics.redelivered.inc({ queue })
    let isSettled = false
    const settle = (how: () => void) => {
      isSettled = true
      if (this.#channel !== on) return
      try {
        how()
      } catch (error) {
        // The channel closed a moment ago and its event has not come yet: the broker hands the message out again.
        this.#log.debug({ queue, ...describeError(error) }, 'message.not-settled')
      }
    }
    return {
      message,
      redeliveries,
      ack: () => settle(() => on.ack(message)),
      ackUpTo: () => settle(() => on.ack(message, true)),
      requeue: () => settle(() => on.nack(message, false, true)),
      leave: (ms) => {
        if (this.#channel !== on) return
        this.#awayUntil = performance.now() + ms
        this.#log.warn({ queue }, 'consumer.requeued-for-newer')
        this.#lost(on)
        discard(on)
      },
      get isSettled() {
        return isSettled
      },
      isLive: () => this.#channel === on,
    }
  }

  /** The queue was deleted, or its leader moved: declare it again, and take a new channel. */
  #cancelledByBroker(on: Channel): void {
    this.#log.warn({ queue: this.#options.queue }, 'consumer.cancelled')
    this.#repair()
    this.#lost(on)
    discard(on)
  }

  /** What is not answered now is over with the connection, which is about to be closed. */
  async #goodbye(operation: Promise<unknown>): Promise<void> {
    if (this.#model) await answered(this.#model, `closing ${this.kind}`, operation, GOODBYE_MS).catch(() => {})
  }
}

/** Closes a channel that is of no use any more; it may be closed already. */
function discard(channel: Channel): void {
  channel.close().catch(() => {})
}
