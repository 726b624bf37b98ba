import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib'
import { describeError, type Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** A message in hand. Settling it after its channel is gone does nothing: the broker hands it out again. */
export interface Delivery {
  message: ConsumeMessage
  /** times the broker handed it out before; 0 on the first */
  redeliveries: number
  ack(): void
  /** acknowledges everything of this consumer up to and including this message */
  ackUpTo(): void
  /** gives it back, to be handed out again at once (up to the delivery limit of its queue) */
  requeue(): void
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
  /** waits until nothing that was delivered is still being worked on; called after the last delivery */
  settled?: () => Promise<void>
}

export interface Consumer extends AsyncDisposable {
  attach(model: ChannelModel): void
  /** cancels and consumes again with another prefetch */
  setPrefetch(prefetch: number): void
  /** whether the broker has us as a consumer of the queue */
  readonly isConsuming: boolean
}

const REOPEN_AFTER_MS = 500

/** Keeps one consumer on one queue for as long as the process lives, whatever happens to channel, queue or connection. */
export function openConsumer(
  options: ConsumerOptions,
  deps: { log: Log; metrics: Metrics; repair: () => void },
): Consumer {
  const { queue } = options
  const { log, metrics } = deps
  let prefetch = options.prefetch
  let model: ChannelModel | null = null
  let channel: Channel | null = null
  let consumerTag = ''
  let isClosing = false

  async function open(from: ChannelModel): Promise<void> {
    const opened = await from.createChannel()
    opened.on('error', (error: Error) => log.warn({ queue, ...describeError(error) }, 'consumer.channel-failed'))
    opened.on('close', () => {
      if (channel !== opened) return
      channel = null
      consumerTag = ''
      reopenLater(from)
    })
    channel = opened
    await start(opened)
  }

  async function start(on: Channel): Promise<void> {
    await on.prefetch(prefetch)
    await options.declare?.(on)
    const take = (message: ConsumeMessage | null) => {
      if (message) options.onDelivery(deliver(on, message))
      else cancelledByBroker(on)
    }
    const reply = await on.consume(queue, take, { noAck: options.noAck ?? false })
    if (channel === on) consumerTag = reply.consumerTag
  }

  function deliver(on: Channel, message: ConsumeMessage): Delivery {
    const count = message.properties.headers?.['x-delivery-count']
    const redeliveries = typeof count === 'number' ? count : message.fields.redelivered ? 1 : 0
    if (redeliveries > 0) metrics.redelivered.inc({ queue })
    const whileLive = (settle: () => void) => {
      if (channel === on) settle()
    }
    return {
      message,
      redeliveries,
      ack: () => whileLive(() => on.ack(message)),
      ackUpTo: () => whileLive(() => on.ack(message, true)),
      requeue: () => whileLive(() => on.nack(message, false, true)),
      isLive: () => channel === on,
    }
  }

  /** The queue was deleted, or its leader moved: declare it again, and take a new channel. */
  function cancelledByBroker(on: Channel): void {
    log.warn({ queue }, 'consumer.cancelled')
    deps.repair()
    on.close().catch(() => {})
  }

  function reopenLater(from: ChannelModel): void {
    const timer = setTimeout(() => {
      if (isClosing || model !== from || channel) return
      open(from).catch((error: unknown) => {
        log.warn({ queue, ...describeError(error) }, 'consumer.not-reopened')
        deps.repair()
        channel = null
        if (model === from) reopenLater(from)
      })
    }, REOPEN_AFTER_MS)
    timer.unref()
  }

  return {
    attach(from) {
      model = from
      channel = null
      consumerTag = ''
      if (!isClosing) reopenSoon(from)
    },
    setPrefetch(next) {
      if (next === prefetch) return
      prefetch = next
      const on = channel
      if (!on || consumerTag === '' || isClosing) return
      const tag = consumerTag
      consumerTag = ''
      on.cancel(tag)
        .then(() => start(on))
        .catch((error: unknown) => log.debug({ queue, ...describeError(error) }, 'consumer.not-restarted'))
    },
    get isConsuming() {
      return channel !== null && consumerTag !== ''
    },
    async [Symbol.asyncDispose]() {
      isClosing = true
      const on = channel
      if (on && consumerTag !== '') await on.cancel(consumerTag).catch(() => {})
      await options.settled?.()
      if (on) await on.close().catch(() => {})
      channel = null
    },
  }

  function reopenSoon(from: ChannelModel): void {
    open(from).catch((error: unknown) => {
      log.warn({ queue, ...describeError(error) }, 'consumer.not-opened')
      channel = null
      reopenLater(from)
    })
  }
}
