import { randomUUID } from 'node:crypto'
import test from 'ava'
import { encodePingBatch, PING_BATCH_VERSION } from '#shared/contracts/ping-batch.ts'
import { nowMicros } from '#shared/time.ts'
import { adminOf } from '../support/admin.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { openProduct, type Product } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, backlogEmpty, Ledger, sendPings } from './ledger.ts'

const DEAD = 'pings.0.dead'

/** Starts a product with one shard, a ping evaluator, and a check. `ping` sends pings, `waiting` counts unapplied ones. */
async function startScenario(env: Record<string, string> = {}) {
  const resources = new AsyncDisposableStack()
  const product = resources.use(await openProduct({ env: { PING_SHARDS: '1', ...env } }))
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  const worker = resources.use(await product.workers(['ping-evaluator']))
  const probe = resources.use(await openBrokerProbe(product.config.amqpUrl))
  const ledger = new Ledger()
  const ping = async (count: number) => {
    let remaining = count
    const more = () => remaining-- > 0
    await sendPings({ base: () => base, checks: [check.uuid], connections: 2, ledger, more })
  }
  const waiting = async () => (await worker.metrics.waiting.get()).values.reduce((sum, { value }) => sum + value, 0)
  return { product, worker, probe, ledger, ping, waiting, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

/** Adds a trigger that makes the storage of pings fail with an SQLSTATE. */
async function raise(product: Product, sqlState: string): Promise<void> {
  await product.db.raw(`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${sqlState}'; END $$;
    CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON pings FOR EACH ROW EXECUTE FUNCTION refuse();
  `)
}

test.serial('applies accepted pings after a missing column or a server fault is repaired', async (t) => {
  await using scenario = await startScenario()
  const { product, ping, waiting, ledger } = scenario
  await ping(5)
  await product.db.raw('ALTER TABLE pings RENAME COLUMN rid TO rid_elsewhere')
  await ping(5)
  await eventually('pings to wait for the missing column', async () => (await waiting()) > 0)
  await product.db.raw('ALTER TABLE pings RENAME COLUMN rid_elsewhere TO rid')
  await eventually('no ping to wait', async () => (await waiting()) === 0)

  for (const sqlState of ['53100', '58030', 'XX000', '42P01']) {
    await raise(product, sqlState)
    await ping(5)
    await eventually(`pings to wait while ${sqlState} is raised`, async () => (await waiting()) > 0)
    await product.db.raw('DROP TRIGGER refuse ON pings')
    await eventually('no ping to wait', async () => (await waiting()) === 0)
  }
  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('accepted'), 30)
  t.is(await scenario.probe.depth(DEAD), 0)
})

test.serial('loses no ping if a pooler drops prepared statements', async (t) => {
  await using scenario = await startScenario({ DB_POOL: '1' })
  const { product, ping, ledger } = scenario
  for (let round = 0; round < 3; round++) {
    await ping(5)
    await backlogEmpty(product)
    await scenario.worker.db.raw('DEALLOCATE ALL')
  }
  await ping(5)
  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('accepted'), 20)
  t.is(await scenario.probe.depth(DEAD), 0)
})

test.serial('data errors are dead-lettered only if the schema matches the release', async (t) => {
  await using scenario = await startScenario()
  const { product, ping, waiting } = scenario
  const [newest] = await product.db('migrations').orderBy('id', 'desc').limit(1)
  await product.db('migrations').where({ id: newest.id }).delete()
  await raise(product, '23514')
  await ping(1)
  await eventually('the ping to wait for the missing migration', async () => (await waiting()) > 0)
  t.is(await scenario.probe.depth(DEAD), 0)
  await product.db('migrations').insert(newest)
  const [message] = await scenario.probe.take(DEAD, 1)
  t.is(message?.properties.headers?.['x-signalbox-last-error'], 'error 23514')
})

test.serial('replay-server-faults replays messages that a server fault dead-lettered, and records it', async (t) => {
  await using scenario = await startScenario()
  const { product, probe } = scenario
  const { id } = await product.db('checks').first('id')
  const put = async (lastError: string) => {
    const stream = randomUUID()
    const ping = {
      checkId: Number(id),
      kind: 'success' as const,
      exitStatus: null,
      receivedAt: nowMicros(),
      scheme: 'http',
      remoteAddr: null,
      method: 'GET',
      ua: lastError,
      rid: null,
      body: null,
    }
    await probe.put(DEAD, encodePingBatch({ stream, seq: 1, pings: [ping] }), {
      persistent: true,
      messageId: `${stream}:1`,
      type: 'ping.batch',
      headers: { v: PING_BATCH_VERSION, 'x-signalbox-reason': 'FAILED', 'x-signalbox-last-error': lastError },
    })
  }
  for (const lastError of ['error 42703', 'error 23514', 'error 26000', 'TypeError', 'error XX000'])
    await put(lastError)
  const admin = adminOf(product)
  t.is((await admin('dead-letters', 'replay-server-faults')).status, 0)
  await backlogEmpty(product)
  const appliedErrors = async () => (await product.db('pings').pluck('ua')).sort()
  t.deepEqual(await appliedErrors(), ['error 26000', 'error 42703', 'error XX000'])
  t.is((await admin('dead-letters', 'replay-server-faults', '--error', 'TypeError')).status, 0)
  await backlogEmpty(product)
  t.true((await appliedErrors()).includes('TypeError'))
  await eventually('only the message with invalid data to stay', async () => (await probe.depth(DEAD)) === 1)
  const recorded = await product.db('dead_letter_actions').where({ action: 'replay', actor: 'tester' })
  t.is(recorded.length, 4)
})
