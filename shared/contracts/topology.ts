import { deadLetterQueueOf, queueOf } from './define-message.ts'
import { messages } from './messages.ts'
import { pingQueue } from './ping-batch.ts'

export const EVENTS_EXCHANGE = 'signalbox.events'
/** Announcements to all ingress processes; a lost one only causes a delay, so nothing is durable. */
export const CACHE_EXCHANGE = 'signalbox.cache'
export const LIVE_EXCHANGE = 'signalbox.live'

/**
 * RabbitMQ 3.10 has no default limit. It also counts messages that a crashed process had in flight, so it is the last
 * resort; consumers count their started attempts (redelivery-store.ts).
 */
export const DELIVERY_LIMIT = 100

/** RabbitMQ 4 has a default limit, and each inspection counts as a delivery; dead letters would be lost. */
const DEAD_LETTER_DELIVERY_LIMIT = 1_000_000_000

export const PING_QUEUE_LENGTH = 200_000

type PingQueues = number | readonly number[]

export interface QueueDeclaration {
  name: string
  arguments: Record<string, unknown>
  /** routing key on EVENTS_EXCHANGE; absent for queues that are addressed by name */
  boundTo?: string
}

/** Publishers and consumers declare all of them, so either may start first. */
export function queueDeclarations(pings: PingQueues): QueueDeclaration[] {
  const queues: QueueDeclaration[] = []
  for (const message of messages) {
    for (const consumer of message.consumers) {
      queues.push(...withDeadLetters(queueOf(message, consumer), 1_000_000, {}, message.name))
    }
  }
  return [...queues, ...pingQueueDeclarations(pings)]
}

export function pingQueueDeclarations(pings: PingQueues): QueueDeclaration[] {
  // Single active consumer, so that the pings of a check are applied in order.
  return numbersOf(pings).flatMap((number) =>
    withDeadLetters(pingQueue(number), PING_QUEUE_LENGTH, { 'x-single-active-consumer': true }),
  )
}

export function workQueues(pings: PingQueues): string[] {
  const ofMessages = messages.flatMap((message) => message.consumers.map((consumer) => queueOf(message, consumer)))
  return [...ofMessages, ...numbersOf(pings).map(pingQueue)]
}

export function durableQueues(pings: PingQueues): string[] {
  return workQueues(pings).flatMap((queue) => [queue, deadLetterQueueOf(queue)])
}

function numbersOf(pings: PingQueues): readonly number[] {
  return typeof pings === 'number' ? Array.from({ length: pings }, (_, shard) => shard) : pings
}

function withDeadLetters(
  name: string,
  maxLength: number,
  extra: Record<string, unknown>,
  boundTo?: string,
): QueueDeclaration[] {
  const dead = deadLetterQueueOf(name)
  const work = {
    'x-queue-type': 'quorum',
    'x-delivery-limit': DELIVERY_LIMIT,
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': dead,
    // A full queue rejects publishes and the ingress answers 503. Unlimited growth would block all publishers of the
    // broker.
    'x-max-length': maxLength,
    'x-overflow': 'reject-publish',
    ...extra,
  }
  return [
    { name: dead, arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': DEAD_LETTER_DELIVERY_LIMIT } },
    { name, arguments: work, ...(boundTo === undefined ? {} : { boundTo }) },
  ]
}
