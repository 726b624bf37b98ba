import type { Channel, ChannelModel } from 'amqplib'
import { describeError, type Log } from '../process/log.ts'
import { answered } from './deadlines.ts'
import type { UnconfirmedMessage } from './publisher.ts'

/** RabbitMQ's own address for answers to the channel that asked: no queue stands behind it. */
const REPLY_TO = 'amq.rabbitmq.reply-to'
const REOPEN_AFTER_MS = 200
/**
 * So many questions without an answer, the first so long ago: the channel is replaced. One that was opened while a node
 * of a cluster stood still writes to that node first, and RabbitMQ 3.10 tries for seven seconds to reach it, for each
 * message; a later channel knows the new leader. Longer than any question waits for its answer: those that are counted are
 * given up by then, and what is asked while the next channel opens is lost, as every question may be.
 */
const UNANSWERED = { questions: 3, ms: 4_000 }

export interface Answers {
  /** Sends a question; without a channel it is lost, as every question may be. */
  ask(question: Omit<UnconfirmedMessage, 'replyTo'>): void
}

/** Asks and takes the answers on one channel, as that address demands. */
export class AnswerChannel implements Answers {
  readonly #onAnswer: (correlationId: string) => void
  readonly #log: Log
  #model: ChannelModel | null = null
  #channel: Channel | null = null
  /** questions since the last answer on this channel, and when the first of them was, in monotonic milliseconds */
  #unanswered = { questions: 0, since: 0 }

  constructor(onAnswer: (correlationId: string) => void, log: Log) {
    this.#onAnswer = onAnswer
    this.#log = log
  }

  /** @param model the connection to ask through from now on; null while there is none */
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
      // The channel closed a moment ago and its event has not come yet.
      this.#log.debug(describeError(error), 'question.not-sent')
    }
  }

  #count(): void {
    const channel = this.#channel
    if (!channel) return
    const { questions, since } = this.#unanswered
    const now = performance.now()
    this.#unanswered = { questions: questions + 1, since: questions === 0 ? now : since }
    if (questions < UNANSWERED.questions || now - since < UNANSWERED.ms || !this.#model) return
    this.#log.debug({ questions }, 'answers.channel-replaced')
    this.#channel = null
    this.#tryOpen(this.#model)
    // It may not be answered; the channel is not used any more either way.
    channel.close().catch(() => {})
  }

  #tryOpen(model: ChannelModel): void {
    this.#openOn(model).catch((error: unknown) => this.#reopenLater(model, error))
  }

  async #openOn(model: ChannelModel): Promise<void> {
    const channel = await answered(model, 'a channel to ask', model.createChannel())
    channel.on('error', (error: Error) => this.#log.warn(describeError(error), 'answers.channel-failed'))
    channel.on('close', () => {
      // One that is replaced has its successor; one that never opened is opened again by who waits for it.
      if (this.#channel !== channel) return
      this.#channel = null
      this.#reopenLater(model, new Error('the channel was closed'))
    })
    const take = (message: { properties: { correlationId?: unknown } } | null) => {
      if (!message) return
      if (this.#channel === channel) this.#unanswered = { questions: 0, since: 0 }
      this.#onAnswer(String(message.properties.correlationId))
    }
    await answered(model, 'the consumer of answers', channel.consume(REPLY_TO, take, { noAck: true }))
    if (this.#model !== model) {
      channel.close().catch(() => {})
      return
    }
    this.#channel = channel
    this.#unanswered = { questions: 0, since: 0 }
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
