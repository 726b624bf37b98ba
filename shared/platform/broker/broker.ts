import { setTimeout as sleep } from 'node:timers/promises'
import { type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib'
import type { QueueDeclaration } from '../../contracts/topology.ts'
import { UnavailableError } from '../../errors.ts'
import { describeError, type Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import { type BrokerAddresses, brokerAddresses, connectMs } from './addresses.ts'
import { AnswerChannel, type Answers } from './answer-channel.ts'
import { Consumer, type ConsumerOptions } from './consumer.ts'
import { answered, failIfBroken } from './deadlines.ts'
import { declareTopology } from './declare-topology.ts'
import { inspectQueues, type QueueState } from './management.ts'
import { type OutgoingMessage, Publisher, type UnconfirmedMessage } from './publisher.ts'

export interface BrokerOptions {
  /** one URL, or the nodes of a cluster separated by commas */
  url: string
  name: string
  queues: () => readonly QueueDeclaration[]
  publishTimeoutMs: number
  log: Log
  metrics: Metrics
}

/**
 * Publishing and consuming have separate connections: the broker can block publishers while consumers receive.
 * Returns before it is connected. Both reconnect, declare the topology again and resume their consumers.
 */
export interface Broker extends AsyncDisposable {
  /** Throws UnavailableError if disconnected, full, returned, or not confirmed in time. */
  publish(message: OutgoingMessage): Promise<void>
  /** Sends a message without a confirm: for barriers, replies and announcements, which may be lost. */
  send(message: UnconfirmedMessage): void
  consume(options: ConsumerOptions): Consumer
  /** Declares no reply queue, so it works with a frozen node (docs/spec/reliability.md#broker-faults). */
  ask(onAnswer: (correlationId: string) => void): Answers
  repair(): void
  extend(): void
  /** Changes when the publishing channel is replaced; empty while no channel is open. */
  readonly publisherEpoch: string
  /** Omits missing queues. Throws the driver's error if the broker cannot be reached. */
  inspect(queues: readonly string[]): Promise<Map<string, QueueState>>
  remove(queues: readonly string[]): Promise<void>
  problems(): string[]
  publishProblems(): string[]
  /** the same as `problems` without those of consumers */
  connectionProblems(): string[]
  connected(): Promise<void>
}

const AGAIN_MS = { first: 250, longest: 5_000, jitter: 0.3 }
/** Maximum wait of a starting process for the topology of a cluster. A frozen node blocks all declarations. */
const FIRST_TOPOLOGY_MS = 3_000
const CLOSE_MS = 5_000
/** A quorum queue that is declared again during its deletion keeps its former consumer without messages. */
const REPAIR_AFTER_MS = 1_000

export function openBroker(options: BrokerOptions): Broker {
  const { log, metrics } = options
  const publishing = new Connection('publish', options)
  const consuming = new Connection('consume', options)
  const publisher = new Publisher({
    timeoutMs: options.publishTimeoutMs,
    log,
    metrics,
    repair: () => publishing.repair(),
    isBlocked: () => publishing.isBlocked,
  })
  publishing.onModel((model) => publisher.attach(model))
  publishing.onBlocked((isBlocked) => metrics.brokerBlocked.set(isBlocked ? 1 : 0))
  const consumers = new Set<Consumer>()
  metrics.consuming.read((gauge) => {
    for (const { kind, isConsuming } of consumers) gauge.set({ queue: kind }, isConsuming ? 1 : 0)
  })

  return {
    publish: (message) => publisher.publish(message),
    send: (message) => publisher.send(message),
    consume(consumerOptions) {
      const consumer = new Consumer(consumerOptions, { log, metrics, repair: () => consuming.repair() })
      consumers.add(consumer)
      consuming.onModel((model) => consumer.attach(model))
      consumer.onClosed(() => consumers.delete(consumer))
      return consumer
    },
    ask(onAnswer) {
      const answers = new AnswerChannel(onAnswer, log)
      publishing.onModel((model) => answers.attach(model))
      return answers
    },
    repair: () => publishing.repair(),
    extend: () => publishing.extend(),
    get publisherEpoch() {
      return publisher.epoch
    },
    inspect: (queues) => consuming.inspect(queues),
    remove: (queues) => consuming.remove(queues),
    problems: () => [publishing, publisher, consuming, ...consumers].flatMap((part) => part.problems()),
    connectionProblems: () => [publishing, publisher, consuming].flatMap((part) => part.problems()),
    publishProblems: () => [...publishing.problems(), ...publisher.problems()],
    async connected() {
      await Promise.all([publishing.connected(), publisher.opened(), consuming.connected()])
    },
    async [Symbol.asyncDispose]() {
      // Stop consuming, finish messages in flight, drain the publisher, then close the connections.
      await Promise.all([...consumers].map((consumer) => consumer[Symbol.asyncDispose]()))
      await publisher.drain()
      await Promise.all([consuming.close(), publishing.close()])
    },
  }
}

class Connection {
  readonly #name: string
  readonly #options: BrokerOptions
  readonly #listeners = new Set<(model: ChannelModel | null) => void>()
  readonly #ready: Promise<RecoveringChannelModel>
  readonly #addresses: BrokerAddresses
  #isDeclared = false
  #model: ChannelModel | null = null
  #lastError = 'not connected yet'
  #blocked = ''
  #isRepairing = false
  #onBlocked: (isBlocked: boolean) => void = () => {}

  constructor(name: 'publish' | 'consume', options: BrokerOptions) {
    this.#name = name
    this.#options = options
    this.#addresses = brokerAddresses(options.url)
    this.#ready = connect(this.#addresses.target, {
      ...this.#addresses.tls,
      noDelay: true,
      keepAlive: true,
      keepAliveDelay: 10_000,
      timeout: connectMs(this.#addresses),
      clientProperties: { connection_name: `${options.name}:${name}` },
      recovery: {
        calculateDelay: (attempt: number) => this.#delayMs(attempt),
        waitForConnect: false,
        setup: async (model: ChannelModel) => {
          model.on('error', () => {})
          await failIfBroken(model, this.#prepare(model))
        },
      },
    })
    this.#ready.then(
      (recovering) => this.#listen(recovering),
      () => {},
    )
  }

  #delayMs(attempt: number): number {
    const round = Math.floor(attempt / this.#addresses.count)
    if (attempt % this.#addresses.count !== 0) return 0
    const base = Math.min(AGAIN_MS.longest / (1 + AGAIN_MS.jitter), AGAIN_MS.first * 2 ** (round - 1))
    return base * (1 + AGAIN_MS.jitter * (2 * Math.random() - 1))
  }

  /** A single server may have lost its queues. In a cluster only a starting process waits, for a limited time. */
  async #prepare(model: ChannelModel): Promise<void> {
    const declared = this.#declare(model)
    if (this.#addresses.count === 1) return await answered(model, 'the topology', declared)
    declared.then(
      () => (this.#isDeclared = true),
      (error: unknown) => this.#options.log.warn(describeError(error), 'topology.not-declared'),
    )
    if (this.#isDeclared) return
    await Promise.race([declared.catch(() => {}), sleep(FIRST_TOPOLOGY_MS, undefined, { ref: false })])
  }

  async #declare(model: ChannelModel): Promise<void> {
    await declareTopology(model, this.#options.queues(), this.#options.log)
  }

  onModel(listener: (model: ChannelModel | null) => void): void {
    this.#listeners.add(listener)
    if (this.#model) listener(this.#model)
  }

  async inspect(queues: readonly string[]): Promise<Map<string, QueueState>> {
    if (!this.#model) throw new UnavailableError('the broker cannot be reached')
    return await answered(this.#model, 'the state of the queues', inspectQueues(this.#model, queues))
  }

  async remove(queues: readonly string[]): Promise<void> {
    if (!this.#model) throw new UnavailableError('the broker cannot be reached')
    const channel = await answered(this.#model, 'a channel to delete queues', this.#model.createChannel())
    channel.on('error', () => {})
    for (const queue of queues) await answered(this.#model, `deleting ${queue}`, channel.deleteQueue(queue))
    await channel.close()
  }

  onBlocked(listener: (isBlocked: boolean) => void): void {
    this.#onBlocked = listener
  }

  get isBlocked(): boolean {
    return this.#blocked !== ''
  }

  async connected(): Promise<void> {
    const recovering = await this.#ready
    await recovering.waitForConnect()
  }

  problems(): string[] {
    if (!this.#model) return [`broker (${this.#name}): ${this.#lastError}`]
    return this.#blocked === '' ? [] : [`broker (${this.#name}): blocked, ${this.#blocked}`]
  }

  repair(): void {
    if (!this.#model || this.#isRepairing) return
    this.#isRepairing = true
    setTimeout(() => {
      this.#isRepairing = false
      this.extend()
    }, REPAIR_AFTER_MS).unref()
  }

  extend(): void {
    const model = this.#model
    if (!model) return
    const declared = this.#declare(model)
    const repaired = this.#addresses.count === 1 ? answered(model, 'the topology', declared) : declared
    repaired.catch((error: unknown) => this.#options.log.warn(describeError(error), 'topology.repair-failed'))
  }

  async close(): Promise<void> {
    const recovering = await this.#ready
    await Promise.race([recovering.close(), sleep(CLOSE_MS, undefined, { ref: false })])
  }

  #listen(recovering: RecoveringChannelModel): void {
    const { log, metrics } = this.#options
    const gauge = metrics.brokerConnected.labels(this.#name)
    gauge.set(0)
    recovering.on('connect', (model: ChannelModel) => {
      this.#model = model
      gauge.set(1)
      log.info({ connection: this.#name, node: this.#addresses.current() }, 'broker.connected')
      for (const listener of this.#listeners) listener(model)
    })
    const lost = (error: Error) => {
      this.#model = null
      this.#addresses.next()
      this.#lastError = error.message
      this.#setBlocked('')
      gauge.set(0)
    }
    recovering.on('disconnect', (error: Error) => {
      lost(error)
      for (const listener of this.#listeners) listener(null)
      log.warn({ connection: this.#name, ...describeError(error) }, 'broker.disconnected')
    })
    recovering.on('connect-failed', (error: Error) => {
      lost(error)
      log.warn({ connection: this.#name, ...describeError(error) }, 'broker.connect-failed')
    })
    recovering.on('blocked', (reason: string) => this.#setBlocked(reason || 'no reason given'))
    recovering.on('unblocked', () => this.#setBlocked(''))
    // A broken connection emits an error before it disconnects; without a listener the process would end.
    recovering.on('error', () => {})
    recovering.on('handler-error', (error: Error) => log.error(describeError(error), 'broker.listener-failed'))
  }

  #setBlocked(reason: string): void {
    this.#blocked = reason
    this.#onBlocked(reason !== '')
  }
}
