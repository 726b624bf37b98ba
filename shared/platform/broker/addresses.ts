import { readFileSync } from 'node:fs'
import { type ChannelModel, connect, type Options } from 'amqplib'

/** The servers of AMQP_URL: one server, or the nodes of a cluster (docs/spec/reliability.md#broker-faults). */
export interface BrokerAddresses {
  count: number
  /** Connection options; the driver reads the members at each attempt and gets those of the current node. */
  target: Options.Connect
  /** TLS options; empty if the URL has none, and the default authorities are trusted */
  tls: { ca?: Buffer; cert?: Buffer; key?: Buffer }
  current(): string
  next(): void
}

/** Connection timeout for a node of a cluster. It is short because another node can answer. */
const NEXT_NODE_AFTER_MS = 3_000
const ONLY_NODE_MS = 10_000
/** Heartbeat in seconds. A frozen node is detected after two heartbeats; with one node, fast detection has no use. */
const HEARTBEAT = { several: 3, one: 10 }

/** Starts at a random node to spread the clients of a cluster. @throws Error if a certificate file cannot be read */
export function brokerAddresses(urls: string, random: () => number = Math.random): BrokerAddresses {
  const nodes = splitAddresses(urls).map(nodeOf)
  let attempt = Math.floor(random() * nodes.length)
  const node = () => {
    const [first] = nodes
    return nodes[attempt % nodes.length] ?? (first as Options.Connect)
  }
  const heartbeat = nodes.length > 1 ? HEARTBEAT.several : HEARTBEAT.one
  const member = <Name extends keyof Options.Connect>(name: Name) => ({ get: () => node()[name], enumerable: true })
  const target: Options.Connect = Object.defineProperties(
    {},
    {
      protocol: member('protocol'),
      hostname: member('hostname'),
      port: member('port'),
      username: member('username'),
      password: member('password'),
      vhost: member('vhost'),
      locale: member('locale'),
      frameMax: member('frameMax'),
      channelMax: member('channelMax'),
      heartbeat: { get: () => node().heartbeat ?? heartbeat, enumerable: true },
    },
  )
  return {
    count: nodes.length,
    target,
    tls: tlsOf(splitAddresses(urls)[0] ?? ''),
    current: () => `${node().hostname}:${node().port}`,
    next() {
      attempt += 1
    },
  }
}

export function splitAddresses(urls: string): string[] {
  return urls
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '')
}

export function connectMs({ count }: BrokerAddresses): number {
  return count > 1 ? NEXT_NODE_AFTER_MS : ONLY_NODE_MS
}

export async function connectOnce(urls: string, connectionName: string): Promise<ChannelModel> {
  const addresses = brokerAddresses(urls)
  const clientProperties = { connection_name: connectionName }
  const options = { ...addresses.tls, clientProperties, timeout: connectMs(addresses) }
  for (let tries = 1; ; tries++) {
    try {
      const connection = await connect(addresses.target, options)
      connection.on('error', () => {})
      return connection
    } catch (error) {
      if (tries >= addresses.count) throw error
      addresses.next()
    }
  }
}

/** Query parameters of a URL, with the names of RabbitMQ's clients. */
const CERTIFICATES = { ca: 'cacertfile', cert: 'certfile', key: 'keyfile' } as const

/** Reads the first URL only: the certificates of all nodes have the same authority. */
function tlsOf(text: string): BrokerAddresses['tls'] {
  const { searchParams } = new URL(text)
  const read = (name: 'ca' | 'cert' | 'key') => {
    const path = searchParams.get(CERTIFICATES[name])
    if (path === null) return {}
    try {
      return { [name]: readFileSync(path) }
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : 'unreadable'
      throw new Error(`AMQP_URL: ${CERTIFICATES[name]} cannot be read (${code})`)
    }
  }
  return { ...read('ca'), ...read('cert'), ...read('key') }
}

function nodeOf(text: string): Options.Connect {
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(text)
  const scheme = protocol.slice(0, -1)
  const number = (name: string) => (searchParams.has(name) ? { [name]: Number(searchParams.get(name)) } : {})
  return {
    protocol: scheme,
    // The driver expects an IPv6 address without brackets.
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (scheme === 'amqps' ? 5671 : 5672) : Number(port),
    // RabbitMQ clients use guest for a URL without a user name.
    username: username === '' && password === '' ? 'guest' : decodeURIComponent(username),
    password: username === '' && password === '' ? 'guest' : decodeURIComponent(password),
    vhost: pathname.slice(1),
    locale: searchParams.get('locale') ?? 'en_US',
    ...number('heartbeat'),
    ...number('frameMax'),
    ...number('channelMax'),
  }
}
