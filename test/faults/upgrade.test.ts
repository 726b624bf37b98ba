import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import test from 'ava'
import pg from 'pg'
import { workQueues } from '#shared/contracts/topology.ts'
import { migrateLatest } from '#shared/platform/database/migrate.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { parseVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy } from '#shared/transparency/anchoring/policy.ts'
import { parseProofBundle } from '#shared/transparency/anchoring/proof-bundle.ts'
import { verifyAnchored } from '#shared/transparency/anchoring/verify.ts'
import { logFindings } from '../../ingress/admin/database-findings.ts'
import { mustRun } from '../../stack/run-command.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { emptyDatabase } from '../support/empty-database.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { root } from '../support/imports.ts'
import { migrationFolder } from '../support/migration-folder.ts'
import { clientWith, demoRequest, requestToken, send } from '../support/platform-client.ts'
import { listeningPort, openProduct, type SpawnedProcess } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { readTypescript } from '../support/typescript-process.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'
import { previousRelease } from './previous-release.ts'

const WORKERS = ['ping-evaluator', 'sweeper', 'notifier', 'pack-composer', 'anchor', 'webhook-deliverer']
/** The default of DATABASE_TIMEOUT_MS: a statement of the product that waits longer for a lock fails. */
const MAX_LOCK_WAIT_MS = 5_000
/** A step that expands the schema as CONTRIBUTING.md prescribes. */
const EXPANSION = `ALTER TABLE checks ADD COLUMN of_next_release text;
  ALTER TABLE pings ADD COLUMN of_next_release text NOT NULL DEFAULT 'none';
  CREATE TABLE of_next_release (id bigint PRIMARY KEY)`

/** Measures how long statements have waited for a lock on a table, until it is disposed. */
async function watchLocks(url: string): Promise<{ maxMs(): number } & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let [maxMs, isOpen] = [0, true]
  const watch = async () => {
    while (isOpen) {
      const { rows } = await client.query<{ ms: number }>(
        `SELECT coalesce(max(1000 * extract(epoch FROM clock_timestamp() - waitstart)), 0)::float AS ms
         FROM pg_locks WHERE NOT granted AND locktype = 'relation'
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      )
      maxMs = Math.max(maxMs, rows[0]?.ms ?? 0)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const watching = watch()
  return {
    maxMs: () => maxMs,
    async [Symbol.asyncDispose]() {
      isOpen = false
      await watching
      await client.end()
    },
  }
}

/** Runs a command of the operator as a release has it, and returns its JSON. */
async function admin(folder: string, env: Record<string, string>, ...args: string[]) {
  const command = [process.execPath, readTypescript, 'ingress/admin.ts', ...args, '--json']
  return JSON.parse(await mustRun(command, { cwd: folder, env: { PATH: process.env.PATH, ...env } }))
}

async function api(base: string, key: string, path: string, body?: unknown) {
  const headers = { 'X-Api-Key': key }
  const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${base}/api/v3/${path}`, init)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return await response.json()
}

const isReady = (base: string) =>
  fetch(`${base}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

async function readyBase(listener: SpawnedProcess): Promise<string> {
  const base = `http://127.0.0.1:${await listeningPort(listener)}`
  await eventually('the listener to be ready', () => isReady(base))
  return base
}

test.serial('an upgrade from the last release loses no ping and keeps all data', async (t) => {
  await using previous = await previousRelease()
  // Without history, for example in an archive of the sources, this tree is the last release.
  const old = previous?.folder ?? root
  await using database = await emptyDatabase()
  await migrateLatest(database.url, join(old, 'migrations'))
  await using sink = await openHttpSink()
  await using product = await openProduct({ env: { DATABASE_URL: database.url, PING_SHARDS: '1', ...LONG_LOG } })

  // The last release runs on its schema and stores data of each kind.
  const oldWorkers = product.spawn('workers', WORKERS, {}, old)
  const oldListener = product.spawn('ingress', [], {}, old)
  let base = await readyBase(oldListener)
  const { apiKey } = await admin(old, product.env, 'project', 'create', '--name', 'Upgrade')
  const entitled = ['--name', 'Upgrade', '--env', 'SANDBOX', '--families', 'all']
  const credentials = await admin(old, product.env, 'client', 'create', ...entitled)
  const side = (name: string) => ({
    [`url_${name}`]: `${sink.url}/${name}`,
    [`method_${name}`]: 'POST',
    [`body_${name}`]: '$CODE',
  })
  const config = { ...side('down'), ...side('up') }
  const { id: channels } = await api(base, apiKey, 'channels/', { kind: 'webhook', name: 'sink', config })
  const settings = { timeout: 86_400, grace: 3_600, channels }
  const checks: { uuid: string }[] = []
  for (let n = 0; n < 10; n++) checks.push(await api(base, apiKey, 'checks/', { name: `check ${n}`, ...settings }))
  const [failing = { uuid: '' }, ...others] = checks
  t.is((await fetch(`${base}/ping/${failing.uuid}/fail`, { method: 'POST', body: 'disk full' })).status, 200)
  await sink.waitFor(1)
  const { client_id, client_secret } = { client_id: credentials.clientId, client_secret: credentials.clientSecret }
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const token = (await requestToken(base, form)).json.access_token
  const client = () => clientWith(base, token, credentials)
  const { packId } = (await client().post('/v1/po/risk-signals', demoRequest)).json
  const readPack = async () => (await client().get(`/v1/po/risk-signals/packs/${packId}`)).json
  const pack = await eventually('the pack', async () => {
    const found = await readPack()
    return 'signals' in found ? found : undefined
  })
  const readAnchor = async () => (await send(`${base}/v1/anchors/${pack.anchor.txId}`)).json
  await eventually('the log to include the pack', async () => (await readAnchor()).state !== 'PENDING')
  const logKey = parseVerifierKey((await send(`${base}/v1/transparency/sandbox/log-key`)).text.trim())

  // Pings flow while the schema changes to that of this release and to that of the next one.
  const ledger = new Ledger()
  let isOver = false
  const uuids = others.map(({ uuid }) => uuid)
  const load = sendPings({ base: () => base, checks: uuids, connections: 4, ledger, ...STEADILY, more: () => !isOver })
  const morePings = async () => {
    const before = ledger.count('accepted')
    await eventually('pings to be accepted', () => ledger.count('accepted') > before + 100)
  }
  await using locks = await watchLocks(database.url)
  await morePings()
  await migrateLatest(database.url)
  await morePings()
  const next = '20991231000000_of_next_release.ts'
  t.deepEqual(await migrateLatest(database.url, migrationFolder(next, EXPANSION)), [next])
  // The old processes work on the new schema; then this release replaces them.
  await morePings()
  const newListener = product.spawn('ingress', [], {})
  const newWorkers = product.spawn('workers', WORKERS, {})
  await eventually('the new workers to be ready', () => newWorkers.output().includes('process.ready'))
  base = await readyBase(newListener)
  await morePings()
  t.is(await oldListener.stop(), 0)
  t.is(await oldWorkers.stop(), 0)
  await morePings()
  isOver = true
  await load
  t.true(locks.maxMs() < MAX_LOCK_WAIT_MS, `statements waited ${locks.maxMs()} ms for a lock`)

  t.deepEqual([...ledger.answers.keys()], ['200'])
  t.deepEqual(await auditPings(product, ledger), [])
  const listed = await api(base, apiKey, 'checks/')
  const statuses = listed.checks.map(({ uuid, status }: { uuid: string; status: string }) => `${uuid} ${status}`)
  const wanted = checks.map(({ uuid }) => `${uuid} ${uuid === failing.uuid ? 'down' : 'up'}`)
  t.deepEqual(statuses.toSorted(), wanted.toSorted())
  t.deepEqual(await readPack(), pack)
  const policy = flatPolicy([{ key: logKey }], [], 0)
  t.is(verifyAnchored(pack, parseProofBundle(await readAnchor()), policy).result, 'VERIFIED')
  t.deepEqual(
    (await logFindings(product.db)).filter(({ ok }) => !ok),
    [],
  )

  // The incident of the old release is resolved by the new one, and notified once.
  t.is((await fetch(`${base}/ping/${failing.uuid}`)).status, 200)
  await sink.waitFor(2)
  t.deepEqual(
    sink.requests.map(({ path, body }) => `${path} ${body}`),
    [`/down ${failing.uuid}`, `/up ${failing.uuid}`],
  )
  await eventually('the outbox to be empty', async () => (await product.db('outbox')).length === 0)
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const dead = await Promise.all(workQueues(1).map((queue) => probe.depth(`${queue}.dead`)))
  t.is(Math.max(...dead), 0)
})

test.serial('a migration that locks a table for long is found, and loses no ping', async (t) => {
  await using product = await openProduct({ listener: 'http', env: { ...LONG_LOG } })
  const project = await product.project()
  const check = await addCheck({ db: product.db, secrets: createSecrets(product.config.secretKey) }, project.id)
  const ledger = new Ledger()
  let isOver = false
  const load = sendPings({
    ...{ base: () => product.url, checks: [check.uuid], connections: 2, ledger, ...STEADILY, more: () => !isOver },
  })
  await eventually('pings to be accepted', () => ledger.count('accepted') > 50)
  await using locks = await watchLocks(product.config.databaseUrl)
  // The migration holds its lock until the test releases another one.
  await using gate = new AsyncDisposableStack()
  const holder = gate.adopt(new pg.Client({ connectionString: product.config.databaseUrl }), (client) => client.end())
  await holder.connect()
  await holder.query('SELECT pg_advisory_lock(1)')
  const sql = 'SET lock_timeout = 0; LOCK TABLE checks; SELECT pg_advisory_xact_lock(1)'
  const migrating = migrateLatest(product.config.databaseUrl, migrationFolder(`20991231000000_${randomUUID()}.ts`, sql))
  await eventually('a long wait for a lock', () => locks.maxMs() > MAX_LOCK_WAIT_MS)
  const before = ledger.count('accepted')
  await eventually('pings to be accepted meanwhile', () => ledger.count('accepted') > before + 20)
  await holder.query('SELECT pg_advisory_unlock(1)')
  await migrating
  isOver = true
  await load
  t.deepEqual([...ledger.answers.keys()], ['200'])
  t.deepEqual(await auditPings(product, ledger), [])
})
