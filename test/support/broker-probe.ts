import { type ConfirmChannel, connect, type GetMessage, type Options } from 'amqplib'
import { inspectQueues } from '#shared/platform/broker/management.ts'
import { eventually } from './eventually.ts'

/** A plain connection to the broker of a test, to read queues and send messages that the product never sends. */
export interface BrokerProbe extends AsyncDisposable {
  channel: ConfirmChannel
  /** resolves when the broker has the message */
  put(queue: string, body: Buffer, properties?: Options.Publish): Promise<void>
  /** messages ready */
  depth(queue: string): Promise<number>
  consumers(queue: string): Promise<number>
  exists(queue: string): Promise<boolean>
  /** removes all messages from a queue when it contains that many */
  take(queue: string, count: number): Promise<GetMessage[]>
}

/** RabbitMQ also reports an empty queue if the queue's leader does not answer it within 250 ms. */
const BELIEVED_MS = 200

export async function openBrokerProbe(url: string): Promise<BrokerProbe> {
  const connection = await connect(url)
  connection.on('error', () => {})
  const channel = await connection.createConfirmChannel()
  channel.on('error', () => {})
  const look = async (queue: string) => {
    for (;;) {
      const requested = performance.now()
      const found = await channel.checkQueue(queue)
      if (found.messageCount + found.consumerCount > 0 || performance.now() - requested < BELIEVED_MS) return found
    }
  }
  return {
    channel,
    async put(queue, body, properties = {}) {
      channel.sendToQueue(queue, body, properties)
      await channel.waitForConfirms()
    },
    depth: async (queue) => (await look(queue)).messageCount,
    consumers: async (queue) => (await look(queue)).consumerCount,
    exists: async (queue) => (await inspectQueues(connection, [queue])).has(queue),
    async take(queue, count) {
      const taken: GetMessage[] = []
      await eventually(`${count} messages in ${queue}`, async () => {
        for (;;) {
          const message = await channel.get(queue, { noAck: true })
          if (!message) return taken.length >= count
          taken.push(message)
        }
      })
      return taken
    },
    async [Symbol.asyncDispose]() {
      await connection.close()
    },
  }
}
