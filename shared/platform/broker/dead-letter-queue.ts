import { randomUUID } from 'node:crypto'
import type { ConfirmChannel, GetMessage } from 'amqplib'
import { deadLetterQueueOf } from '../../contracts/define-message.ts'
import { connectOnce } from './addresses.ts'
import { type DeadLetteredMessage, toReplayed } from './dead-letter.ts'
import { inspectQueues, type QueueState } from './management.ts'

/** `unreadable`: a ping message that cannot be decoded stays in the queue. */
export type DeadLetterResult = 'kept' | 'replayed' | 'discarded' | 'unreadable'

/** Access to the dead-letter queues of all work queues. `queue` is the name of the work queue. */
export interface DeadLetterQueues extends AsyncDisposable {
  /**
   * Reads the state of a work queue; null if it does not exist. Reads up to three times if both counts are zero, because
   * RabbitMQ also reports zero if the leader does not answer within 250 ms.
   */
  inspect(queue: string): Promise<QueueState | null>
  /** Returns the number of dead letters; null if the queue does not exist. */
  depth(queue: string): Promise<number | null>
  /**
   * Applies the result of `decide` to at most `limit` messages. A replayed message leaves the queue only after the broker
   * has confirmed its copy, so it is never lost. Messages that are kept return to the queue at the end.
   * @param done is called before a message leaves the queue
   */
  each(
    queue: string,
    limit: number,
    decide: (message: DeadLetteredMessage) => 'keep' | 'replay' | 'discard',
    done: (message: DeadLetteredMessage, action: 'replay' | 'discard') => Promise<void>,
  ): Promise<{ message: DeadLetteredMessage; result: DeadLetterResult }[]>
}

const MAX_READS = 3

export async function openDeadLetterQueues(url: string): Promise<DeadLetterQueues> {
  const connection = await connectOnce(url, 'signalbox-admin')

  const inspect = async (queue: string) => {
    let state: QueueState | undefined
    for (let reads = 0; reads < MAX_READS; reads++) {
      state = (await inspectQueues(connection, [queue])).get(queue)
      if (!state || state.messages > 0 || state.consumers > 0) break
    }
    return state ?? null
  }

  return {
    inspect,
    depth: async (queue) => (await inspect(deadLetterQueueOf(queue)))?.messages ?? null,
    async each(queue, limit, decide, done) {
      const channel = await connection.createConfirmChannel()
      channel.on('error', () => {})
      const seen: { message: DeadLetteredMessage; result: DeadLetterResult }[] = []
      const kept: GetMessage[] = []
      while (seen.length < limit) {
        const delivery = await channel.get(deadLetterQueueOf(queue))
        if (!delivery) break
        const message = toDeadLettered(queue, delivery)
        const decision = decide(message)
        const action = decision === 'replay' ? await replay(channel, message) : decision
        if (action === 'replay' || action === 'discard') {
          await done(message, action)
          channel.ack(delivery)
          seen.push({ message, result: action === 'replay' ? 'replayed' : 'discarded' })
        } else {
          kept.push(delivery)
          seen.push({ message, result: action === 'keep' ? 'kept' : 'unreadable' })
        }
      }
      for (const delivery of kept) channel.nack(delivery, false, true)
      await channel.close()
      return seen
    },
    async [Symbol.asyncDispose]() {
      await connection.close()
    },
  }
}

/** Publishes directly to the original queue, because other consumers of the event already have their copies. */
async function replay(channel: ConfirmChannel, message: DeadLetteredMessage): Promise<'replay' | 'unreadable'> {
  const again = toReplayed(message, randomUUID())
  if (!again) return 'unreadable'
  let isReturned = false
  const onReturn = () => {
    isReturned = true
  }
  channel.once('return', onReturn)
  channel.publish('', message.queue, again.body, {
    persistent: true,
    mandatory: true,
    contentType: 'application/json',
    messageId: message.messageId,
    type: message.type,
    headers: again.headers,
  })
  await channel.waitForConfirms()
  channel.off('return', onReturn)
  if (isReturned) throw new Error(`the queue ${message.queue} does not exist`)
  return 'replay'
}

function toDeadLettered(queue: string, { content, properties }: GetMessage): DeadLetteredMessage {
  return {
    queue,
    messageId: String(properties.messageId ?? ''),
    type: String(properties.type ?? ''),
    headers: properties.headers ?? {},
    body: content,
  }
}
