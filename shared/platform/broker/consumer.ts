import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib'
import { describeError, type Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import { answered } from './deadlines.ts'

/** A message in flight. Settling it after its channel closed does nothing, because the broker redelivers it. */
export interface Delivery {
  message: ConsumeMessage
  redeliveries: number
  ack(): void
  ackUpTo(): void
  /** requeues it for immediate redelivery, up to the delivery limit of its queue */
  requeue(): void
  /** Stops consuming the queue for this many milliseconds and requeues all messages in flight. */
  leave(ms: number): void
  /** true if it was acknowledged individually or requeued; settling it twice would be a protocol error */
  readonly isSettled: boolean
  isLive(): boolean
}

export interface ConsumerOptions {
  queue: string
  prefetch: number
  onDelivery(delivery: Delivery): void
  /** for a queue outside the topology; runs on every new channel before consuming */
  declare?: (channel: Channel) => Promise<unknown>
  /** the broker needs no acknowledgement: for replies and announcements */
  noAck?: boolean
  /**
   * The order of the queue matters. After a cancel, the next consumer would receive later messages while this one has
   * earlier ones; so its channel is closed, which requeues its messages in order.
   */
  inOrder?: boolean
  settled?: () => Promise<void>
}

const REOPEN_AFTER_MS = 500
/** Maximum time without a channel before the process counts as unready; covers a broker restart. */
const MAY_BE_CLOSED_MS = 15_000
const GOODBYE_MS = 3_000
const INSTANCE_SUFFIX = /\.[0-9a-f]{8}-[0-9a-f-]{27}$/

export class Consumer implements AsyncDisposable {
  readonly #options: ConsumerOptions
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #repair: () => void
  readonly kind: string
  #model: ChannelModel | null = null
  #channel: Channel | null = null
  #consumerTag = ''
  #isClosing = false
  /** monotonic milliseconds since when no message can arrive; null while consuming */
  #closedSince: number | null = performance.now()
  #timer: NodeJS.Timeout | null = null
  #awayUntil = 0
  readonly #closedListeners: (() => void)[] = []
  /** the connection on which a channel is being opened; a concurrent attempt would create a second consumer */
  #opening: ChannelModel | null = null

  constructor(options: ConsumerOptions, deps: { log: Log; metrics: Metrics; repair: () => void }) {
    this.#options = options
    this.#log = deps.log
    this.#metrics = deps.metrics
    this.#repair = deps.repair
    this.kind = options.queue.replace(INSTANCE_SUFFIX, '')
  }

  attach(model: ChannelModel | null): void {
    this.#model = model
    this.#channel = null
    this.#consumerTag = ''
    this.#closedSince ??= performance.now()
    this.#openSoon(0)
  }

  get isConsuming(): boolean {
    return this.#channel !== null && this.#consumerTag !== ''
  }

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
    if (this.#channel) await this.#goodbye(this.#channel.close())
    this.#channel = null
    for (const listener of this.#closedListeners) listener()
  }

  onClosed(listener: () => void): void {
    this.#closedListeners.push(listener)
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

  /** Opens a new channel and declares the queue again, because it was deleted or its leader moved. */
  #cancelledByBroker(on: Channel): void {
    this.#log.warn({ queue: this.#options.queue }, 'consumer.cancelled')
    this.#repair()
    this.#lost(on)
    discard(on)
  }

  async #goodbye(operation: Promise<unknown>): Promise<void> {
    if (this.#model) await answered(this.#model, `closing ${this.kind}`, operation, GOODBYE_MS).catch(() => {})
  }
}

function discard(channel: Channel): void {
  channel.close().catch(() => {})
}
