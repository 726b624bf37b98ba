import { withClient } from '../../stack/database-admin.ts'
import { eventually } from '../support/eventually.ts'
import {
  type OwnPostgres,
  type OwnRabbit,
  type OwnStandby,
  startPostgres,
  startRabbitCluster,
} from '../support/own-servers.ts'
import { createDatabase, createVhost } from '../support/services.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

/** Settings that docs/scale.md recommends for clusters. */
const BROKER_SETTINGS = ['net_ticktime = 15', 'cluster_partition_handling = pause_minority']

/** A broker and the proxy in front of it, which simulates network faults. */
export interface SoakBroker {
  /** @throws Error for the broker of the test run, which other tests use */
  readonly node: OwnRabbit
  proxy: TcpProxy
}

/** The servers of a soak, each reached through a separate proxy. */
export interface SoakServers extends AsyncDisposable {
  env: { AMQP_URL: string; DATABASE_URL: string }
  brokers: readonly SoakBroker[]
  /** proxies of the primary and of its standby, if it has one */
  databaseProxies: readonly TcpProxy[]
  primary(): OwnPostgres
  /** @throws Error without a standby */
  standby(): OwnStandby
  /** Kills the primary, promotes its standby, and starts a new standby. */
  failOver(): Promise<void>
}

/** Starts brokers (one, or a cluster of three) and a primary, optionally with a synchronous standby. */
export async function openServers(size: { nodes: number; hasStandby: boolean }): Promise<SoakServers> {
  await using opened = new AsyncDisposableStack()
  const cluster = opened.use(await startRabbitCluster(size.nodes, BROKER_SETTINGS))
  const brokers = await Promise.all(cluster.nodes.map(async (node) => ({ node, proxy: await startTcpProxy(node) })))
  for (const { proxy } of brokers) opened.use(proxy)
  const database = opened.use(await openPair(size.hasStandby))
  const resources = opened.move()
  return {
    env: {
      AMQP_URL: brokers.map(({ node, proxy }) => proxy.through(node.url)).join(','),
      DATABASE_URL: `postgres://postgres@${database.proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')}/signalbox`,
    },
    brokers,
    databaseProxies: database.proxies,
    primary: database.primary,
    standby: database.standby,
    failOver: database.failOver,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Opens a database and a virtual host on the servers of the test run, for a soak whose faults leave servers alone. */
export async function openServersOfRun(): Promise<SoakServers> {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await createDatabase())
  const vhost = opened.use(await createVhost())
  const databaseProxy = opened.use(await startTcpProxy({ port: Number(new URL(database.url).port || 5432) }))
  const proxy = opened.use(await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) }))
  const refuse = (): never => {
    throw new Error('faults must not stop the servers of the test run')
  }
  const broker = {
    proxy,
    get node() {
      return refuse()
    },
  }
  const resources = opened.move()
  return {
    env: { AMQP_URL: proxy.through(vhost.url), DATABASE_URL: databaseProxy.through(database.url) },
    brokers: [broker],
    databaseProxies: [databaseProxy],
    primary: refuse,
    standby: refuse,
    failOver: async () => refuse(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

async function openPair(hasStandby: boolean) {
  let primary: OwnPostgres = await startPostgres()
  let standby: OwnStandby | null = hasStandby ? await primary.standby() : null
  if (standby) {
    await waitForStandbys(primary)
    await untilSynchronous(primary)
  }
  const proxies = await Promise.all([primary, ...(standby ? [standby] : [])].map((server) => startTcpProxy(server)))
  let [primaryProxy] = proxies
  return {
    proxies,
    primary: () => primary,
    standby: () => {
      if (!standby) throw new Error('there is no standby')
      return standby
    },
    async failOver() {
      if (!standby) throw new Error('there is no standby')
      const killed = primary
      await killed.kill()
      await standby.promote()
      primary = standby
      await killed.drop()
      standby = await primary.standby()
      await waitForStandbys(primary)
      const [first, second] = proxies
      // The proxy of the killed server now forwards to the new standby.
      const free = primaryProxy === first ? first : second
      primaryProxy = primaryProxy === first ? second : first
      free?.redirect(standby.port)
      await untilSynchronous(primary)
    },
    async [Symbol.asyncDispose]() {
      for (const proxy of proxies) await proxy.close()
      await standby?.drop()
      await primary.drop()
    },
  }
}

/** Enables synchronous replication. A promoted standby does not inherit this setting. */
async function waitForStandbys({ url }: OwnPostgres): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'`)
    await client.query('SELECT pg_reload_conf()')
  })
}

async function untilSynchronous({ url }: OwnPostgres): Promise<void> {
  await eventually('the standby to be synchronous', () =>
    withClient(url, async (client) => {
      const { rows } = await client.query(`SELECT FROM pg_stat_replication WHERE sync_state = 'quorum'`)
      return rows.length === 1
    }),
  )
}
