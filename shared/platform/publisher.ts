import { randomUUID } from 'node:crypto'
import type { ChannelModel, ConfirmChannel } from 'amqplib'
import { UnavailableError } from '../errors.ts'
import { describeError, type Log } from './log.ts'
import type { Metrics } from './metrics.ts'

export interface OutgoingMessage {
  exchange: string
  routingKey: string
  body: Buffer
  /** the same for every copy of the message */
  messageId: string
  /** name of the contract */
  type: string
  headers?: Record<string, unknown>
}

/** What nobody waits for. */
export interface UnconfirmedMessage {
  exchange: string
  routingKey: string
  body: Buffer
  type?: string
  replyTo?: string
  correlationId?: string
}

interface Pending {
  channel: ConfirmChannel
  returned: boolean
  settle: (error: Error | null) => void
}

/** What may wait for its confirm: beyond it a publish is refused at once rather than kept in memory. */
const MAX_PENDING = 20_000
const MAX_PENDING_BYTES = 64 * 1024 * 1024

/**
 * Publishes persistent, mandatory messages with confirms. A message counts as taken only when the broker confirmed it
 * and did not return it. What was under way when a channel closed is of unknown fate and fails.
 */
export class Publisher {
  readonly #timeoutMs: number
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #repair: () => void
  readonly #pending = new Map<string, Pending>()
  #pendingBytes = 0
  #channel: ConfirmChannel | null = null
  #model: ChannelModel | null = null
  #closing = false
  #published = 0
  #onEmpty: () => void = () => {}
  /** Names the current channel: what is published under one epoch reaches a queue in the order of publishing. */
  epoch = ''

  constructor(options: { timeoutMs: number; log: Log; metrics: Metrics; repair: () => void }) {
    this.#timeoutMs = options.timeoutMs
    this.#log = options.log
    this.#metrics = options.metrics
    this.#repair = options.repair
  }

  attach(model: ChannelModel): void {
    this.#model = model
    this.#open(model).catch((error: unknown) => this.#reopenLater(model, error))
  }

  publish(message: OutgoingMessage): Promise<void> {
    const channel = this.#channel
    if (!channel) return Promise.reject(new UnavailableError('the broker cannot be reached'))
    const bytes = message.body.length
    if (this.#pending.size >= MAX_PENDING || this.#pendingBytes + bytes > MAX_PENDING_BYTES) {
      return Promise.reject(new UnavailableError('too many messages wait for the broker', { retryAfterSeconds: 1 }))
    }
    return new Promise((resolve, reject) => {
      const key = String(++this.#published)
      const stop = this.#metrics.confirmSeconds.startTimer()
      const settle = (error: Error | null) => {
        if (!this.#pending.delete(key)) return
        clearTimeout(timer)
        this.#pendingBytes -= bytes
        this.#metrics.unconfirmed.set(this.#pending.size)
        stop()
        if (error) reject(error)
        else resolve()
        if (this.#pending.size === 0) this.#onEmpty()
      }
      const timer = setTimeout(() => {
        settle(new UnavailableError('the broker did not confirm in time'))
      }, this.#timeoutMs)
      const pending: Pending = { channel, returned: false, settle }
      this.#pending.set(key, pending)
      this.#pendingBytes += bytes
      this.#metrics.unconfirmed.set(this.#pending.size)
      const { messageId, type, headers = {} } = message
      const properties = {
        persistent: true,
        mandatory: true,
        contentType: 'application/json',
        messageId,
        type,
        timestamp: Math.floor(Date.now() / 1000),
        // Finds the pending entry when the broker returns the message; message ids may repeat.
        correlationId: key,
        headers,
      }
      try {
        channel.publish(message.exchange, message.routingKey, message.body, properties, (error: unknown) => {
          if (error) settle(new UnavailableError('the broker did not take the message', { cause: error }))
          else if (pending.returned) settle(new UnavailableError('no queue takes the message'))
          else settle(null)
        })
      } catch (error) {
        // The channel closed a moment ago and its event has not come yet.
        settle(new UnavailableError('the broker cannot be reached', { cause: error }))
      }
    })
  }

  send(message: UnconfirmedMessage): void {
    const { exchange, routingKey, body, ...properties } = message
    try {
      this.#channel?.publish(exchange, routingKey, body, properties)
    } catch (error) {
      this.#log.debug(describeError(error), 'message.not-sent')
    }
  }

  /** Waits until everything under way is settled; each has its deadline, so this ends. */
  async drain(): Promise<void> {
    this.#closing = true
    if (this.#pending.size === 0) return
    await Promise.race([new Promise<void>((resolve) => (this.#onEmpty = resolve)), deadline(this.#timeoutMs)])
  }

  async #open(model: ChannelModel): Promise<void> {
    const channel = await model.createConfirmChannel()
    channel.on('error', (error: Error) => this.#log.warn(describeError(error), 'publisher.channel-failed'))
    channel.on('return', (message) => {
      this.#metrics.returned.inc()
      const pending = this.#pending.get(String(message.properties.correlationId))
      if (pending) pending.returned = true
      this.#repair()
    })
    channel.on('close', () => {
      if (this.#channel === channel) {
        this.#channel = null
        this.epoch = ''
      }
      const lost = new UnavailableError('the connection to the broker was lost')
      for (const pending of [...this.#pending.values()]) if (pending.channel === channel) pending.settle(lost)
      if (this.#model === model && !this.#closing) this.#reopenLater(model, lost)
    })
    this.#channel = channel
    this.epoch = randomUUID()
  }

  #reopenLater(model: ChannelModel, error: unknown): void {
    const timer = setTimeout(() => {
      if (this.#model !== model || this.#channel || this.#closing) return
      this.#open(model).catch((again: unknown) => this.#log.debug(describeError(again), 'publisher.not-reopened'))
    }, 200)
    timer.unref()
    this.#log.debug(describeError(error), 'publisher.channel-closed')
  }
}

function deadline(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
