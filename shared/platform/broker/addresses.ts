import { readFileSync } from 'node:fs'
import { type ChannelModel, connect, type Options } from 'amqplib'

/** Addresses of a broker: one server, or the nodes of a cluster (docs/spec/reliability.md#broker-faults). */
export interface BrokerAddresses {
  count: number
  /**
   * What the driver connects to. It reads the members at each attempt, and finds those of the node whose turn it is.
   */
  target: Options.Connect
  /** what TLS is spoken with; empty where nothing is said of it, and the public authorities are believed */
  tls: { ca?: Buffer; cert?: Buffer; key?: Buffer }
  /** host and port of the node whose turn it is */
  current(): string
  /** The next attempt goes to another node. */
  next(): void
}

/** Longest wait for a node of several: another one answers at once. */
const NEXT_NODE_AFTER_MS = 3_000
const ONLY_NODE_MS = 10_000
/**
 * Seconds. A node that is frozen is noticed after two of them, so that a cluster is worth having; where there is no other
 * node to go to, patience costs nothing.
 */
const HEARTBEAT = { several: 3, one: 10 }

/**
 * Reads AMQP_URL: one URL, or several separated by commas. Begins with any of them, so that the clients of a cluster
 * spread over its nodes.
 * @throws Error when a certificate that it names cannot be read
 */
export function brokerAddresses(urls: string, random: () => number = Math.random): BrokerAddresses {
  const nodes = splitAddresses(urls).map(nodeOf)
  let turn = Math.floor(random() * nodes.length)
  const node = () => {
    const [first] = nodes
    return nodes[turn % nodes.length] ?? (first as Options.Connect)
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
      turn += 1
    },
  }
}

/** The URLs of a setting that may name several. */
export function splitAddresses(urls: string): string[] {
  return urls
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '')
}

/** Longest wait for a connection, in milliseconds. */
export function connectMs({ count }: BrokerAddresses): number {
  return count > 1 ? NEXT_NODE_AFTER_MS : ONLY_NODE_MS
}

/**
 * A connection for one command, to the first node that answers.
 * @throws the driver's error of the last node that did not
 */
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

/** Parameters of an address, as RabbitMQ's own clients name them. */
const CERTIFICATES = { ca: 'cacertfile', cert: 'certfile', key: 'keyfile' } as const

/** The nodes of a cluster have their certificates of one authority: the first address speaks for all. */
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
    // The driver takes an address of version 6 without its brackets.
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (scheme === 'amqps' ? 5671 : 5672) : Number(port),
    // RabbitMQ's own habit for an address without a name.
    username: username === '' && password === '' ? 'guest' : decodeURIComponent(username),
    password: username === '' && password === '' ? 'guest' : decodeURIComponent(password),
    // Still encoded: the driver decodes this one.
    vhost: pathname.slice(1),
    locale: searchParams.get('locale') ?? 'en_US',
    ...number('heartbeat'),
    ...number('frameMax'),
    ...number('channelMax'),
  }
}
