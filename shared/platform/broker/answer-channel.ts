import type { Channel, ChannelModel } from 'amqplib'
import { describeError, type Log } from '../process/log.ts'
import { answered } from './deadlines.ts'
import type { UnconfirmedMessage } from './publisher.ts'

/** Direct reply-to of RabbitMQ: replies arrive on the requesting channel without a queue. */
const REPLY_TO = 'amq.rabbitmq.reply-to'
const REOPEN_AFTER_MS = 200
/**
 * RabbitMQ 3.10 writes to a frozen node for 7 s per message on a channel opened before the freeze; a new channel uses
 * the new leader. The time exceeds the timeout of any request.
 */
const UNANSWERED = { requests: 3, ms: 4_000 }

export interface Answers {
  ask(request: Omit<UnconfirmedMessage, 'replyTo'>): void
}

export class AnswerChannel implements Answers {
  readonly #onAnswer: (correlationId: string) => void
  readonly #log: Log
  #model: ChannelModel | null = null
  #channel: Channel | null = null
  /** requests since the last reply on this channel, and the time of the first one in monotonic milliseconds */
  #unanswered = { requests: 0, since: 0 }

  constructor(onAnswer: (correlationId: string) => void, log: Log) {
    this.#onAnswer = onAnswer
    this.#log = log
  }

  attach(model: ChannelModel | null): void {
    this.#model = model
    this.#channel = null
    if (model) this.#tryOpen(model)
  }

  ask({ exchange, routingKey, body, ...properties }: Omit<UnconfirmedMessage, 'replyTo'>): void {
    this.#count()
    try {
      this.#channel?.publish(exchange, routingKey, body, { ...properties, replyTo: REPLY_TO })
    } catch (error) {
      this.#log.debug(describeError(error), 'request.not-sent')
    }
  }

  #count(): void {
    const channel = this.#channel
    if (!channel) return
    const { requests, since } = this.#unanswered
    const now = performance.now()
    this.#unanswered = { requests: requests + 1, since: requests === 0 ? now : since }
    if (requests < UNANSWERED.requests || now - since < UNANSWERED.ms || !this.#model) return
    this.#log.debug({ requests }, 'answers.channel-replaced')
    this.#channel = null
    this.#tryOpen(this.#model)
    // The broker may not answer.
    channel.close().catch(() => {})
  }

  #tryOpen(model: ChannelModel): void {
    this.#openOn(model).catch((error: unknown) => this.#reopenLater(model, error))
  }

  async #openOn(model: ChannelModel): Promise<void> {
    const channel = await answered(model, 'a channel to ask', model.createChannel())
    channel.on('error', (error: Error) => this.#log.warn(describeError(error), 'answers.channel-failed'))
    channel.on('close', () => {
      // A replaced channel already has a successor. A channel that failed to open is reopened by its opener.
      if (this.#channel !== channel) return
      this.#channel = null
      this.#reopenLater(model, new Error('the channel was closed'))
    })
    const take = (message: { properties: { correlationId?: unknown } } | null) => {
      if (!message) return
      if (this.#channel === channel) this.#unanswered = { requests: 0, since: 0 }
      this.#onAnswer(String(message.properties.correlationId))
    }
    await answered(model, 'the consumer of answers', channel.consume(REPLY_TO, take, { noAck: true }))
    if (this.#model !== model) {
      channel.close().catch(() => {})
      return
    }
    this.#channel = channel
    this.#unanswered = { requests: 0, since: 0 }
  }

  #reopenLater(model: ChannelModel, error: unknown): void {
    if (this.#model !== model) return
    this.#log.debug(describeError(error), 'answers.channel-closed')
    const timer = setTimeout(() => {
      if (this.#model === model && !this.#channel) this.#tryOpen(model)
    }, REOPEN_AFTER_MS)
    timer.unref()
  }
}
