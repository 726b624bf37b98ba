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

/** As docs/scale.md recommends for clusters. */
const BROKER_SETTINGS = ['net_ticktime = 15', 'cluster_partition_handling = pause_minority']

/** A broker, and the way to it, which can be disturbed. */
export interface SoakBroker {
  /** @throws Error if the broker is that of the test run, which must stay */
  readonly node: OwnRabbit
  way: TcpProxy
}

/** The servers of a soak, each reached through a separate proxy. */
export interface SoakServers extends AsyncDisposable {
  env: { AMQP_URL: string; DATABASE_URL: string }
  brokers: readonly SoakBroker[]
  /** the ways to the primary and, where there is one, to its standby */
  databaseWays: readonly TcpProxy[]
  primary(): OwnPostgres
  /** @throws Error where there is none */
  standby(): OwnStandby
  /** The primary dies, its standby is promoted and gets a new standby in the place of the dead server. */
  failOver(): Promise<void>
}

/** Starts brokers (one, or a cluster of three) and a primary, optionally with a synchronous standby. */
export async function openServers(size: { nodes: number; hasStandby: boolean }): Promise<SoakServers> {
  await using opened = new AsyncDisposableStack()
  const cluster = opened.use(await startRabbitCluster(size.nodes, BROKER_SETTINGS))
  const brokers = await Promise.all(cluster.nodes.map(async (node) => ({ node, way: await startTcpProxy(node) })))
  for (const { way } of brokers) opened.use(way)
  const database = opened.use(await openPair(size.hasStandby))
  const resources = opened.move()
  return {
    env: {
      AMQP_URL: brokers.map(({ node, way }) => way.through(node.url)).join(','),
      DATABASE_URL: `postgres://postgres@${database.ways.map(({ port }) => `127.0.0.1:${port}`).join(',')}/signalbox`,
    },
    brokers,
    databaseWays: database.ways,
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
  const databaseWay = opened.use(await startTcpProxy({ port: Number(new URL(database.url).port || 5432) }))
  const way = opened.use(await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) }))
  const refuse = (): never => {
    throw new Error('the servers of the test run must stay')
  }
  const broker = {
    way,
    get node() {
      return refuse()
    },
  }
  const resources = opened.move()
  return {
    env: { AMQP_URL: way.through(vhost.url), DATABASE_URL: databaseWay.through(database.url) },
    brokers: [broker],
    databaseWays: [databaseWay],
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
  const ways = await Promise.all([primary, ...(standby ? [standby] : [])].map((server) => startTcpProxy(server)))
  let [primaryWay] = ways
  return {
    ways,
    primary: () => primary,
    standby: () => {
      if (!standby) throw new Error('there is no standby')
      return standby
    },
    async failOver() {
      if (!standby) throw new Error('there is no standby')
      const dead = primary
      await dead.kill()
      await standby.promote()
      primary = standby
      await dead.drop()
      standby = await primary.standby()
      await waitForStandbys(primary)
      const [first, second] = ways
      // The way that led to the dead server leads to the new standby from now on.
      const free = primaryWay === first ? first : second
      primaryWay = primaryWay === first ? second : first
      free?.redirect(standby.port)
      await untilSynchronous(primary)
    },
    async [Symbol.asyncDispose]() {
      for (const way of ways) await way.close()
      await standby?.drop()
      await primary.drop()
    },
  }
}

/** Makes commits wait for a standby from now on. A promoted standby does not inherit this setting. */
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
