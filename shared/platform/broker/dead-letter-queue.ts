import { randomUUID } from 'node:crypto'
import type { ConfirmChannel, GetMessage } from 'amqplib'
import { deadLetterQueueOf } from '../../contracts/define-message.ts'
import { connectOnce } from './addresses.ts'
import { type DeadLetteredMessage, revived } from './dead-letter.ts'
import { inspectQueues, type QueueState } from './management.ts'

export type Handling = 'kept' | 'replayed' | 'discarded' | 'unreadable'

export interface DeadLetterQueue extends AsyncDisposable {
  /**
   * Reads up to three times if both counts are zero: RabbitMQ also reports zero if the leader does not answer within
   * 250 ms. Returns null if the queue does not exist.
   */
  look(queue: string): Promise<QueueState | null>
  depth(queue: string): Promise<number | null>
  /** A replayed message leaves its queue after the broker confirmed the copy, so it is never lost. */
  each(
    queue: string,
    limit: number,
    decide: (letter: DeadLetteredMessage) => 'keep' | 'replay' | 'discard',
    done: (letter: DeadLetteredMessage, action: 'replay' | 'discard') => Promise<void>,
  ): Promise<{ letter: DeadLetteredMessage; handling: Handling }[]>
}

const LOOKS = 3

export async function openDeadLetterQueue(url: string): Promise<DeadLetterQueue> {
  const connection = await connectOnce(url, 'signalbox-admin')

  const look = async (queue: string) => {
    let state: QueueState | undefined
    for (let looks = 0; looks < LOOKS; looks++) {
      state = (await inspectQueues(connection, [queue])).get(queue)
      if (!state || state.messages > 0 || state.consumers > 0) break
    }
    return state ?? null
  }

  return {
    look,
    depth: async (queue) => (await look(deadLetterQueueOf(queue)))?.messages ?? null,
    async each(queue, limit, decide, done) {
      const channel = await connection.createConfirmChannel()
      channel.on('error', () => {})
      const seen: { letter: DeadLetteredMessage; handling: Handling }[] = []
      const kept: GetMessage[] = []
      while (seen.length < limit) {
        const message = await channel.get(deadLetterQueueOf(queue))
        if (!message) break
        const letter = toDeadLettered(queue, message)
        const decision = decide(letter)
        const action = decision === 'replay' ? await replay(channel, letter) : decision
        if (action === 'replay' || action === 'discard') {
          await done(letter, action)
          channel.ack(message)
          seen.push({ letter, handling: action === 'replay' ? 'replayed' : 'discarded' })
        } else {
          kept.push(message)
          seen.push({ letter, handling: action === 'keep' ? 'kept' : 'unreadable' })
        }
      }
      for (const message of kept) channel.nack(message, false, true)
      await channel.close()
      return seen
    },
    async [Symbol.asyncDispose]() {
      await connection.close()
    },
  }
}

/** Publishes directly to the original queue, because other consumers of the event already have their copies. */
async function replay(channel: ConfirmChannel, letter: DeadLetteredMessage): Promise<'replay' | 'unreadable'> {
  const again = revived(letter, randomUUID())
  if (!again) return 'unreadable'
  let isReturned = false
  const onReturn = () => {
    isReturned = true
  }
  channel.once('return', onReturn)
  channel.publish('', letter.queue, again.body, {
    persistent: true,
    mandatory: true,
    contentType: 'application/json',
    messageId: letter.messageId,
    type: letter.type,
    headers: again.headers,
  })
  await channel.waitForConfirms()
  channel.off('return', onReturn)
  if (isReturned) throw new Error(`the queue ${letter.queue} does not exist`)
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
