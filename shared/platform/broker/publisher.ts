import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChannelModel, ConfirmChannel } from 'amqplib'
import { UnavailableError } from '../../errors.ts'
import { describeError, type Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import { answered } from './deadlines.ts'

export interface OutgoingMessage {
  exchange: string
  routingKey: string
  body: Buffer
  /** the same for every copy of the message */
  messageId: string
  type: string
  headers?: Record<string, unknown>
}

export interface UnconfirmedMessage {
  exchange: string
  routingKey: string
  body: Buffer
  type?: string
  replyTo?: string
  correlationId?: string
}

interface Pending {
  sentOn: OpenChannel
  returned: boolean
  settle: (error: Error | null) => void
}

/** Beyond it a publish is refused. Messages after a timeout still count, because they stay in our buffers. */
const MAX_UNCONFIRMED = 20_000
const MAX_UNCONFIRMED_BYTES = 64 * 1024 * 1024
const REOPEN_AFTER_MS = 200
/**
 * If the leader of a queue is killed or frozen, RabbitMQ 3.10 may fail every message of a channel that used it, while
 * a new channel uses the new leader.
 */
const FAILURES_IN_A_ROW = 3
/** If a new channel also fails, a queue is full, and publishes to other queues must not be interrupted repeatedly. */
const REPLACED_AFTER_MS = 5_000

interface OpenChannel {
  channel: ConfirmChannel
  openedAt: number
  failures: number
  unconfirmed: number
  unconfirmedBytes: number
}

/**
 * A publish succeeds only if the broker confirmed the message and did not return it. When a channel closes, its
 * unconfirmed messages fail, although they may have arrived.
 */
export class Publisher {
  readonly #timeoutMs: number
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #repair: () => void
  readonly #isBlocked: () => boolean
  readonly #pending = new Map<string, Pending>()
  #open: OpenChannel | null = null
  #model: ChannelModel | null = null
  #closing = false
  #published = 0
  #onEmpty: () => void = () => {}
  #opened = Promise.withResolvers<void>()
  /** Identifies the current channel; messages of one epoch reach a queue in the order of publishing. */
  epoch = ''

  constructor(options: {
    timeoutMs: number
    log: Log
    metrics: Metrics
    repair: () => void
    isBlocked: () => boolean
  }) {
    this.#timeoutMs = options.timeoutMs
    this.#log = options.log
    this.#metrics = options.metrics
    this.#repair = options.repair
    this.#isBlocked = options.isBlocked
  }

  attach(model: ChannelModel | null): void {
    this.#model = model
    if (model) this.#tryOpen(model)
  }

  opened(): Promise<void> {
    return this.#opened.promise
  }

  problems(): string[] {
    return this.#model && !this.#open ? ['broker (publish): its channel is not open'] : []
  }

  publish(message: OutgoingMessage): Promise<void> {
    const sentOn = this.#open
    if (!sentOn) return Promise.reject(new UnavailableError('the broker cannot be reached'))
    const bytes = message.body.length
    if (sentOn.unconfirmed >= MAX_UNCONFIRMED || sentOn.unconfirmedBytes + bytes > MAX_UNCONFIRMED_BYTES) {
      return Promise.reject(new UnavailableError('too many messages wait for the broker', { retryAfterSeconds: 1 }))
    }
    return new Promise((resolve, reject) => {
      const key = String(++this.#published)
      const stop = this.#metrics.confirmSeconds.startTimer()
      const settle = (error: Error | null) => {
        if (!this.#pending.delete(key)) return
        clearTimeout(timer)
        this.#metrics.unconfirmed.set(this.#pending.size)
        stop()
        if (error) reject(error)
        else resolve()
        if (this.#pending.size === 0) this.#onEmpty()
      }
      const timer = setTimeout(() => {
        const late = new UnavailableError('the broker did not confirm in time')
        settle(late)
        this.#count(sentOn, late)
      }, this.#timeoutMs)
      const pending: Pending = { sentOn, returned: false, settle }
      this.#pending.set(key, pending)
      this.#metrics.unconfirmed.set(this.#pending.size)
      const { messageId, type, headers = {} } = message
      const properties = {
        persistent: true,
        mandatory: true,
        contentType: 'application/json',
        messageId,
        type,
        timestamp: Math.floor(Date.now() / 1000),
        // Identifies the pending entry of a returned message, because message ids may repeat.
        correlationId: key,
        headers,
      }
      try {
        sentOn.channel.publish(message.exchange, message.routingKey, message.body, properties, (error: unknown) => {
          sentOn.unconfirmed -= 1
          sentOn.unconfirmedBytes -= bytes
          this.#count(sentOn, error)
          if (error) settle(new UnavailableError('the broker did not take the message', { cause: error }))
          else if (pending.returned) settle(new UnavailableError('no queue takes the message'))
          else settle(null)
        })
        sentOn.unconfirmed += 1
        sentOn.unconfirmedBytes += bytes
      } catch (error) {
        settle(new UnavailableError('the broker cannot be reached', { cause: error }))
      }
    })
  }

  send(message: UnconfirmedMessage): void {
    const { exchange, routingKey, body, ...properties } = message
    try {
      this.#open?.channel.publish(exchange, routingKey, body, properties)
    } catch (error) {
      this.#log.debug(describeError(error), 'message.not-sent')
    }
  }

  #count(on: OpenChannel, error: unknown): void {
    on.failures = error ? on.failures + 1 : 0
    if (on.failures < FAILURES_IN_A_ROW || this.#open !== on || !this.#model) return
    // A broker that blocks us reads nothing, so a new channel would not open.
    if (this.#isBlocked() || performance.now() - on.openedAt < REPLACED_AFTER_MS) return
    this.#log.warn(describeError(error), 'publisher.channel-replaced')
    this.#lose(on, this.#model)
    on.channel.close().catch(() => {})
  }

  #lose(on: OpenChannel, model: ChannelModel): void {
    if (this.#open === on) {
      this.#open = null
      this.epoch = ''
      this.#opened = Promise.withResolvers()
    }
    const lost = new UnavailableError('the connection to the broker was lost')
    for (const pending of [...this.#pending.values()]) if (pending.sentOn === on) pending.settle(lost)
    this.#reopenLater(model, lost)
  }

  async drain(): Promise<void> {
    this.#closing = true
    if (this.#pending.size === 0) return
    await Promise.race([
      new Promise<void>((resolve) => (this.#onEmpty = resolve)),
      sleep(this.#timeoutMs, undefined, { ref: false }),
    ])
  }

  #tryOpen(model: ChannelModel): void {
    this.#openOn(model).catch((error: unknown) => this.#reopenLater(model, error))
  }

  async #openOn(model: ChannelModel): Promise<void> {
    const channel = await answered(model, 'a channel to publish', model.createConfirmChannel())
    if (this.#model !== model) {
      channel.close().catch(() => {})
      return
    }
    const opened: OpenChannel = {
      channel,
      openedAt: performance.now(),
      failures: 0,
      unconfirmed: 0,
      unconfirmedBytes: 0,
    }
    channel.on('error', (error: Error) => {
      this.#log.warn(describeError(error), 'publisher.channel-failed')
      // The most likely cause is a missing exchange.
      this.#repair()
    })
    channel.on('return', (message) => {
      this.#metrics.returned.inc()
      const pending = this.#pending.get(String(message.properties.correlationId))
      if (pending) pending.returned = true
      this.#repair()
    })
    channel.on('close', () => this.#lose(opened, model))
    this.#open = opened
    this.epoch = randomUUID()
    this.#opened.resolve()
  }

  #reopenLater(model: ChannelModel, error: unknown): void {
    if (this.#model !== model || this.#closing) return
    this.#log.debug(describeError(error), 'publisher.channel-closed')
    const timer = setTimeout(() => {
      if (this.#model === model && !this.#open && !this.#closing) this.#tryOpen(model)
    }, REOPEN_AFTER_MS)
    timer.unref()
  }
}
