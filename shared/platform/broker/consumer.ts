import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib'
import { describeError, type Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import { answered } from './broker-deadline.ts'

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

export interface Consumer extends AsyncDisposable {
  /** @param model the connection to consume through from now on; null while there is none */
  attach(model: ChannelModel | null): void
  /** whether the broker has us as a consumer of the queue */
  readonly isConsuming: boolean
  /** the queue; of one that is this process's own, what it is for */
  readonly kind: string
  /** why its messages do not come; empty when they can */
  problems(): string[]
}

const REOPEN_AFTER_MS = 500
/** What a restart of the broker or a lost channel may take, before it is a reason to call the process unready. */
const MAY_BE_CLOSED_MS = 15_000
const GOODBYE_MS = 3_000
const OWN_NAME = /\.[0-9a-f]{8}-[0-9a-f-]{27}$/

/** Keeps one consumer on one queue for as long as the process lives, whatever happens to channel, queue or connection. */
export function openConsumer(
  options: ConsumerOptions,
  deps: { log: Log; metrics: Metrics; repair: () => void },
): Consumer {
  const { queue, prefetch } = options
  const { log, metrics } = deps
  let model: ChannelModel | null = null
  let channel: Channel | null = null
  let consumerTag = ''
  let isClosing = false
  /** since when, in monotonic milliseconds, nothing can come; null while it can */
  let closedSince: number | null = performance.now()
  const kind = queue.replace(OWN_NAME, '')
  let timer: NodeJS.Timeout | null = null
  /** the connection a channel is being opened on; a second attempt at the same time would make a second consumer */
  let opening: ChannelModel | null = null

  function attach(to: ChannelModel | null): void {
    model = to
    channel = null
    consumerTag = ''
    closedSince ??= performance.now()
    openSoon(0)
  }

  function openSoon(delayMs: number): void {
    if (timer) clearTimeout(timer)
    timer = setTimeout(tryOpen, delayMs)
    timer.unref()
  }

  function tryOpen(): void {
    const from = model
    if (!from || channel || opening === from || isClosing) return
    opening = from
    open(from)
      .catch((error: unknown) => {
        log.warn({ queue, ...describeError(error) }, 'consumer.not-opened')
        if (model === from) deps.repair()
      })
      .finally(() => {
        if (opening === from) opening = null
        if (model === from && !channel) openSoon(REOPEN_AFTER_MS)
      })
  }

  async function open(from: ChannelModel): Promise<void> {
    const opened = await answered(from, `a channel for ${kind}`, from.createChannel())
    opened.on('error', (error: Error) => log.warn({ queue, ...describeError(error) }, 'consumer.channel-failed'))
    opened.on('close', () => lost(opened))
    if (model !== from || isClosing) {
      discard(opened)
      return
    }
    channel = opened
    try {
      await answered(from, `consuming ${kind}`, start(opened))
    } catch (error) {
      lost(opened)
      discard(opened)
      throw error
    }
  }

  async function start(on: Channel): Promise<void> {
    await on.prefetch(prefetch)
    await options.declare?.(on)
    const take = (message: ConsumeMessage | null) => {
      if (message) options.onDelivery(deliver(on, message))
      else cancelledByBroker(on)
    }
    const reply = await on.consume(queue, take, { noAck: options.noAck ?? false })
    if (channel !== on) return
    consumerTag = reply.consumerTag
    closedSince = null
  }

  function lost(gone: Channel): void {
    if (channel !== gone) return
    channel = null
    consumerTag = ''
    closedSince ??= performance.now()
    openSoon(REOPEN_AFTER_MS)
  }

  function deliver(on: Channel, message: ConsumeMessage): Delivery {
    const count = message.properties.headers?.['x-delivery-count']
    const redeliveries = typeof count === 'number' ? count : message.fields.redelivered ? 1 : 0
    if (redeliveries > 0) metrics.redelivered.inc({ queue })
    let isSettled = false
    const settle = (how: () => void) => {
      isSettled = true
      if (channel !== on) return
      try {
        how()
      } catch (error) {
        // The channel closed a moment ago and its event has not come yet: the broker hands the message out again.
        log.debug({ queue, ...describeError(error) }, 'message.not-settled')
      }
    }
    return {
      message,
      redeliveries,
      ack: () => settle(() => on.ack(message)),
      ackUpTo: () => settle(() => on.ack(message, true)),
      requeue: () => settle(() => on.nack(message, false, true)),
      get isSettled() {
        return isSettled
      },
      isLive: () => channel === on,
    }
  }

  /** The queue was deleted, or its leader moved: declare it again, and take a new channel. */
  function cancelledByBroker(on: Channel): void {
    log.warn({ queue }, 'consumer.cancelled')
    deps.repair()
    lost(on)
    discard(on)
  }

  /** What is not answered now is over with the connection, which is about to be closed. */
  async function goodbye(operation: Promise<unknown>): Promise<void> {
    if (model) await answered(model, `closing ${kind}`, operation, GOODBYE_MS).catch(() => {})
  }

  return {
    attach,
    get isConsuming() {
      return channel !== null && consumerTag !== ''
    },
    kind,
    problems() {
      const closedMs = closedSince === null || isClosing ? 0 : performance.now() - closedSince
      return closedMs > MAY_BE_CLOSED_MS ? [`consumer of ${kind}: not open for ${Math.round(closedMs / 1000)} s`] : []
    },
    async [Symbol.asyncDispose]() {
      isClosing = true
      if (timer) clearTimeout(timer)
      if (channel && consumerTag !== '' && !options.inOrder) await goodbye(channel.cancel(consumerTag))
      await options.settled?.()
      // Asked again, because it may have been lost meanwhile.
      if (channel) await goodbye(channel.close())
      channel = null
    },
  }
}

/** Closes a channel that is of no use any more; it may be closed already. */
function discard(channel: Channel): void {
  channel.close().catch(() => {})
}
