import { type Channel, connect } from 'amqplib'
import { queuesOf } from '#shared/contracts/ping-generations.ts'
import { pingQueueDeclarations, type QueueDeclaration, queueDeclarations } from '#shared/contracts/topology.ts'

/** Most tests have at most this number of ping queues. */
const USUAL_SHARDS = 2
/** More than any test sets PING_SHARDS to. */
const MAX_SHARDS = 8
/** The broker notices a killed process by its connection, a busy broker with a delay. */
const LOOKS = 800
const POLL_MS = 25
/** RabbitMQ also reports a queue without consumers if the queue's leader does not answer it within 250 ms. */
const BELIEVED_MS = 200

/** The queues that every product has; they stay. */
const usual = queueDeclarations(USUAL_SHARDS)
const ofGenerations = pingQueueDeclarations([1, 2].flatMap((generation) => queuesOf({ generation, shards: 4 })))
/** Queues that only some products have. */
const others = [...queueDeclarations(MAX_SHARDS), ...ofGenerations]
  .map(({ name }) => name)
  .filter((name) => !usual.some((queue) => queue.name === name))

/**
 * Empties a virtual host that a product used: its usual queues stay empty, the others are deleted.
 * @returns false if a consumer still exists, or if a queue differs from the product's declaration
 */
export async function emptyVhost(url: string): Promise<boolean> {
  const connection = await connect(url)
  connection.on('error', () => {})
  try {
    const channel = await connection.createChannel()
    channel.on('error', () => {})
    for (const name of others) await channel.deleteQueue(name)
    // Delivered messages return before their consumer ends, so emptying is complete only afterwards.
    for (const queue of usual) if (!(await isLeftAlone(channel, queue))) return false
    for (const { name } of usual) await channel.purgeQueue(name)
    return true
  } catch {
    return false
  } finally {
    await connection.close().catch(() => {})
  }
}

/** Deletes the queues of the product in a virtual host, for any number of shards. */
export async function deleteQueues(url: string): Promise<void> {
  const connection = await connect(url)
  // The test has ended, and its result does not depend on this.
  connection.on('error', () => {})
  try {
    const channel = await connection.createChannel()
    channel.on('error', () => {})
    for (const name of [...usual.map((queue) => queue.name), ...others]) await channel.deleteQueue(name)
  } catch {
    // they are deleted with the broker of the run
  } finally {
    await connection.close().catch(() => {})
  }
}

async function isLeftAlone(channel: Channel, { name, arguments: its }: QueueDeclaration): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    const requested = performance.now()
    const { consumerCount } = await channel.assertQueue(name, { durable: true, arguments: its })
    if (consumerCount === 0 && performance.now() - requested < BELIEVED_MS) return true
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  return false
}
