import { deadLetterQueueOf, queueOf } from './define-message.ts'
import { messages } from './messages.ts'
import { pingQueue } from './ping-batch.ts'

/** Messages between processes, by name. */
export const EVENTS_EXCHANGE = 'signalbox.events'
/** Announcements to every ingress process; lost ones only delay, so nothing of it is durable. */
export const CACHE_EXCHANGE = 'signalbox.cache'
/** What open pages show has changed: from workers to every ingress process; lost ones only delay. */
export const LIVE_EXCHANGE = 'signalbox.live'

/**
 * Times the broker hands a message out again before it gives up. 3.10 has no limit of its own; we always set one. It counts
 * for everything a dying process had in flight, so it is only the last resort: consumers themselves count how often they
 * began with a message (platform/suspects.ts).
 */
export const DELIVERY_LIMIT = 100

/**
 * For dead-letter queues: practically none. From version 4 the broker has a limit of its own for queues without one, and
 * every look at a message (`dead-letters inspect`) counts as a delivery; beyond it what was given up would be lost.
 */
const DEAD_LETTER_DELIVERY_LIMIT = 1_000_000_000

/** Messages that a ping queue holds before it refuses more. */
export const PING_QUEUE_LENGTH = 200_000

/** Numbers of the queues of pings, or how many there are of the first generation. */
type PingQueues = number | readonly number[]

export interface QueueDeclaration {
  name: string
  arguments: Record<string, unknown>
  /** routing key on EVENTS_EXCHANGE; absent for queues that are addressed by name */
  boundTo?: string
}

/** Every durable queue of the product. Both sides assert all of them, so either may start first. */
export function queueDeclarations(pings: PingQueues): QueueDeclaration[] {
  const queues: QueueDeclaration[] = []
  for (const message of messages) {
    for (const consumer of message.consumers) {
      queues.push(...withDeadLetters(queueOf(message, consumer), 1_000_000, {}, message.name))
    }
  }
  return [...queues, ...pingQueueDeclarations(pings)]
}

/** The queues of pings alone. */
export function pingQueueDeclarations(pings: PingQueues): QueueDeclaration[] {
  // One consumer at a time, so that the pings of one check are applied in order.
  return numbersOf(pings).flatMap((number) =>
    withDeadLetters(pingQueue(number), PING_QUEUE_LENGTH, { 'x-single-active-consumer': true }),
  )
}

/** Names of the queues that work is taken from. */
export function workQueues(pings: PingQueues): string[] {
  const ofMessages = messages.flatMap((message) => message.consumers.map((consumer) => queueOf(message, consumer)))
  return [...ofMessages, ...numbersOf(pings).map(pingQueue)]
}

/** Names of every queue whose loss would lose work: those that work is taken from, and those of what was given up. */
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
    // A full queue refuses, and the ingress answers 503: better than memory that grows until the broker stops everybody.
    'x-max-length': maxLength,
    'x-overflow': 'reject-publish',
    ...extra,
  }
  return [
    { name: dead, arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': DEAD_LETTER_DELIVERY_LIMIT } },
    { name, arguments: work, ...(boundTo === undefined ? {} : { boundTo }) },
  ]
}
