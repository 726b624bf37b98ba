import { randomBytes } from 'node:crypto'
import test from 'ava'
import { databaseUrl, withClient } from '../../stack/database-admin.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres, startRabbit } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, LONG_LOG, sendPings } from './ledger.ts'
import { smallVolume } from './small-volume.ts'

test.serial('a full database volume loses no accepted ping and recovers when space is free', async (t) => {
  await using volume = await smallVolume(64, 'postgres')
  await using server = await startPostgres()
  await withClient(server.url, async (client) => {
    await client.query(`CREATE TABLESPACE small LOCATION '${volume.folder}'`)
    await client.query('CREATE DATABASE on_small TEMPLATE signalbox TABLESPACE small')
  })
  const url = databaseUrl(server.url, 'on_small')
  await using product = await openProduct({ env: { DATABASE_URL: url, PING_SHARDS: '1', ...LONG_LOG } })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  const worker = await product.workers(['ping-evaluator'])
  const waiting = async () => (await worker.metrics.waiting.get()).values.reduce((sum, { value }) => sum + value, 0)
  const ledger = new Ledger()
  const ping = async (count: number) => {
    let left = count
    const more = () => left-- > 0
    await sendPings({ base: () => base, checks: [check.uuid], connections: 4, ledger, more })
  }
  const headers = { 'X-Api-Key': project.apiKey }
  const body = JSON.stringify({ desc: randomBytes(1500).toString('hex') })
  const write = async () => (await fetch(`${base}/api/v3/checks/`, { method: 'POST', headers, body })).status
  const read = async () => (await fetch(`${base}/api/v3/checks/${check.uuid}`, { headers })).status
  await ping(20)
  t.is(await write(), 201)

  volume.fill()
  await eventually(
    'pings to wait for space',
    async () => {
      await ping(100)
      return (await waiting()) > 0
    },
    60_000,
  )
  await eventually('writes to be refused', async () => (await write()) === 503)
  t.is(await read(), 200)
  await ping(20)
  t.deepEqual([...ledger.answers.keys()], ['200'])

  volume.free()
  t.deepEqual(await auditPings(product, ledger), [])
  await eventually('writes to be accepted again', async () => (await write()) === 201)
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  t.is(await probe.depth('pings.0.dead'), 0)
})

/** Pings eight checks through one listener and records the results. */
async function openPinged(env: Readonly<Record<string, string>>) {
  await using opened = new AsyncDisposableStack()
  const product = opened.use(await openProduct({ env: { PING_SHARDS: '1', ...LONG_LOG, ...env } }))
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(deps, project.id)))
  await product.workers(['ping-evaluator'])
  const ledger = new Ledger()
  const resources = opened.move()
  return {
    product,
    ledger,
    async ping(count: number) {
      let left = count
      const uuids = checks.map(({ uuid }) => uuid)
      await sendPings({ base: () => base, checks: uuids, connections: 4, ledger, more: () => left-- > 0 })
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

test.serial('a database server that stopped on a full disk keeps all accepted pings', async (t) => {
  await using volume = await smallVolume(160, 'postgres')
  await using server = await startPostgres({ max_wal_size: '32MB', min_wal_size: '32MB' }, volume.inner)
  await using scenario = await openPinged({ DATABASE_URL: server.signalbox, DATABASE_TIMEOUT_MS: '5000' })
  const { ledger, ping, product } = scenario
  await ping(40)
  volume.fill()
  // The next write needs a new WAL file, for which no space is left: the server stops.
  await eventually('the server to be gone', async () => {
    await ping(20)
    return await withClient(server.url, (client) => client.query('SELECT pg_switch_wal()')).then(
      () => false,
      () => true,
    )
  })
  await ping(20)
  t.deepEqual([...ledger.answers.keys()], ['200'], 'cached checks can still be pinged')
  volume.free()
  await server.stop()
  await server.start()
  t.deepEqual(await auditPings(product, ledger), [])
})

test.serial('a broker on a full disk refuses pings and keeps the accepted ones', async (t) => {
  await using volume = await smallVolume(120, 'rabbitmq')
  await using broker = await startRabbit(['disk_free_limit.absolute = 20MB'], undefined, [], volume.inner)
  await using scenario = await openPinged({ AMQP_URL: broker.url, PUBLISH_TIMEOUT_MS: '1000' })
  const { ledger, ping, product } = scenario
  await eventually('pings to be accepted', async () => {
    await ping(8)
    return ledger.count('accepted') >= 40
  })
  await broker.settle()
  const refused = ledger.answers.get('503') ?? 0
  volume.fill()
  await eventually('pings to be refused', async () => {
    await ping(8)
    return (ledger.answers.get('503') ?? 0) > refused
  })
  volume.free()
  await broker.kill()
  await broker.start()
  const before = ledger.count('accepted')
  await eventually('pings to be accepted again', async () => {
    await ping(8)
    return ledger.count('accepted') > before
  })
  t.deepEqual(await auditPings(product, ledger), [])
})
