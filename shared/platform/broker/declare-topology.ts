import type { ChannelModel } from 'amqplib'
import { CACHE_EXCHANGE, EVENTS_EXCHANGE, LIVE_EXCHANGE, type QueueDeclaration } from '../../contracts/topology.ts'
import { describeError, type Log } from '../process/log.ts'

/** Declares exchanges and queues. A queue that exists with other arguments is logged and does not block the rest. */
export async function declareTopology(
  model: Pick<ChannelModel, 'createChannel'>,
  queues: readonly QueueDeclaration[],
  log: Log,
): Promise<void> {
  let channel = await model.createChannel()
  channel.on('error', () => {})
  await channel.assertExchange(EVENTS_EXCHANGE, 'direct', { durable: true })
  await channel.assertExchange(CACHE_EXCHANGE, 'fanout', { durable: false })
  await channel.assertExchange(LIVE_EXCHANGE, 'fanout', { durable: false })
  for (const queue of queues) {
    try {
      await channel.assertQueue(queue.name, { durable: true, arguments: queue.arguments })
      if (queue.boundTo !== undefined) await channel.bindQueue(queue.name, EVENTS_EXCHANGE, queue.boundTo)
    } catch (error) {
      log.error({ queue: queue.name, ...describeError(error) }, 'queue.declaration-refused')
      channel = await model.createChannel()
      channel.on('error', () => {})
    }
  }
  await channel.close()
}
