import type { Channel, ChannelModel } from 'amqplib'
import { z } from 'zod'
import { describeError, type Log } from '../process/log.ts'
import { brokerAddresses, splitAddresses } from './addresses.ts'
import type { ClusterState } from './cluster-health.ts'

export interface BrokerManagement {
  /** omits other queues, and queues without members */
  state(queues: readonly string[]): Promise<ClusterState>
  /** @returns false if the broker does not support it (before 3.11.19 and 3.12.1) or refuses it */
  addMember(queue: string, node: string): Promise<boolean>
  rebalance(): Promise<void>
}

const ANSWER_MS = 5_000
/** Timeout for a membership change: the broker allows 30 s, and refuses a second request of another node meanwhile. */
const CHANGED_MS = 35_000
const UNKNOWN_PATH = 404
const NOT_ALLOWED = 405

const nodesShape = z.array(
  z.object({
    name: z.string(),
    running: z.boolean(),
    partitions: z.array(z.string()).default([]),
    mem_alarm: z.boolean().default(false),
    disk_free_alarm: z.boolean().default(false),
  }),
)
const queuesShape = z.array(
  z.object({
    name: z.string(),
    members: z.array(z.string()).optional(),
    online: z.array(z.string()).optional(),
    leader: z.string().nullish(),
  }),
)

export function brokerManagement(urls: string, amqpUrl: string, log: Log): BrokerManagement {
  const nodes = splitAddresses(urls).map((url) => new URL(url))
  // The URL contains the encoded name, as paths of the plugin need it; an empty name is the virtual host `/`.
  const vhost = brokerAddresses(amqpUrl).target.vhost || '%2F'

  async function ask(path: string, method: 'GET' | 'POST' = 'GET', body?: unknown): Promise<Response> {
    let failure: unknown = new Error('no address')
    for (const node of nodes) {
      try {
        return await request(node, path, method, body)
      } catch (error) {
        failure = error
        log.debug({ node: node.host, ...describeError(error) }, 'broker-management.not-reached')
      }
    }
    throw new Error('the management plugin of RabbitMQ cannot be reached: check AMQP_ADMIN_URL', { cause: failure })
  }

  async function read<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    const response = await ask(path)
    if (!response.ok) throw refusal(response, path)
    return shape.parse(await response.json())
  }

  return {
    async state(queues) {
      const known = new Set(queues)
      const columns = 'columns=name,members,online,leader'
      const [found, listed] = await Promise.all([
        read('api/nodes', nodesShape),
        read(`api/queues/${vhost}?${columns}`, queuesShape),
      ])
      return {
        nodes: found.map(({ name, running, partitions, mem_alarm, disk_free_alarm }) => ({
          name,
          running,
          partitions,
          alarms: [...(mem_alarm ? ['memory'] : []), ...(disk_free_alarm ? ['disk'] : [])],
        })),
        queues: listed
          .filter(({ name }) => known.has(name))
          .flatMap(({ name, members, online, leader }) =>
            members ? [{ queue: name, members, online: online ?? [], leader: leader || null }] : [],
          ),
      }
    },
    async addMember(queue, node) {
      const path = `api/queues/quorum/${vhost}/${encodeURIComponent(queue)}/replicas/add`
      const response = await ask(path, 'POST', { node })
      await response.body?.cancel()
      if (response.status === UNKNOWN_PATH || response.status === NOT_ALLOWED) return false
      if (!response.ok) throw refusal(response, path)
      return true
    },
    async rebalance() {
      const response = await ask('api/rebalance/queues', 'POST', {})
      await response.body?.cancel()
      if (!response.ok) throw refusal(response, 'api/rebalance/queues')
    },
  }
}

async function request({ origin, username, password }: URL, path: string, method: string, body: unknown) {
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return await fetch(`${origin}/${path}`, {
    method,
    headers: { Authorization: `Basic ${Buffer.from(login).toString('base64')}`, 'Content-Type': 'application/json' },
    signal: AbortSignal.timeout(method === 'GET' ? ANSWER_MS : CHANGED_MS),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

/** Omits the URL, because it contains a password. */
function refusal({ status }: Response, path: string): Error {
  const why = status === 401 ? ': its user needs the tag monitoring, and administrator to repair' : ''
  return new Error(`the management plugin of RabbitMQ answers ${status} to ${path.split('?')[0]}${why}`)
}

export interface QueueState {
  messages: number
  consumers: number
}

/** Omits missing queues. Throws the driver's error if the connection breaks. */
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
      // The broker closes the channel if a queue is missing.
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
