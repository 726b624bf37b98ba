import type { Channel, ChannelModel } from 'amqplib'

export interface QueueState {
  /** ready to be handed out; those in flight do not count */
  messages: number
  consumers: number
}

/** Looks at queues by name; those that are not there are left out. @throws the driver's error when the connection breaks */
export async function inspectQueues(
  connection: Pick<ChannelModel, 'createChannel'>,
  queues: readonly string[],
): Promise<Map<string, QueueState>> {
  const found = new Map<string, QueueState>()
  let channel: Channel | null = null
  for (const queue of queues) {
    channel ??= await inspectQuietly(connection)
    try {
      const { messageCount, consumerCount } = await channel.checkQueue(queue)
      found.set(queue, { messages: messageCount, consumers: consumerCount })
    } catch {
      // A queue that is not there closes the channel.
      channel = null
    }
  }
  await channel?.close()
  return found
}

async function inspectQuietly(connection: Pick<ChannelModel, 'createChannel'>): Promise<Channel> {
  const channel = await connection.createChannel()
  channel.on('error', () => {})
  return channel
}
