import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createLog } from '#shared/platform/process/log.ts'
import { openRestoreGate } from '#shared/platform/process/restore-gate.ts'
import { restoreMarkFile } from '#shared/platform/process/restore-mark-file.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import type { AdminContext } from '../../ingress/admin/command.ts'
import { commands } from '../../ingress/admin/registry.ts'
import { runAdmin } from '../../ingress/admin/run.ts'
import { databaseUrl, withClient } from '../../stack/database-admin.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct, type Product } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { postgresServer } from '../support/services.ts'
import { storeEntries } from '../workers/anchor/log-of-test.ts'
import { metricIn } from './fault-metrics.ts'
import { letPass } from './let-pass.ts'

const CALM = 20
const A_DAY = 86_400

interface Found {
  healthy: boolean
  findings: { what: string; ok: boolean; text: string }[]
  restoredFrom?: string | null
  suppressed?: { flips: number; notifications: number } | null
}

/** Runs an admin command. */
function adminOf({ config, db }: Product, override: Partial<AdminContext['config']> = {}) {
  const context = async (): Promise<AdminContext & AsyncDisposable> => ({
    ...{ config: { ...config, ...override }, db, secrets: createSecrets(override.secretKey ?? config.secretKey) },
    ...{ log: createLog('silent', 'test'), actor: 'tester' },
    [Symbol.asyncDispose]: async () => {},
  })
  return async (...args: string[]): Promise<{ status: number; json: Found; stderr: string }> => {
    const { status, stdout, stderr } = await runAdmin([...args, '--json'], commands, context)
    return { status, json: stdout === '' ? { healthy: false, findings: [] } : JSON.parse(stdout), stderr }
  }
}

const wrong = ({ json }: { json: Found }) => json.findings.filter(({ ok }) => !ok).map(({ what }) => what)

const textOf = ({ json }: { json: Found }, wanted: string) =>
  json.findings.find(({ what }) => what === wanted)?.text ?? ''

/** Creates a folder that is removed after the test. */
async function ownFolder(resources: AsyncDisposableStack, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), name))
  resources.defer(() => rm(folder, { recursive: true }))
  return folder
}

/** Returns the number of entries of the newest checkpoint. */
const size = async (db: Product['db']) => Number((await db('log_checkpoints').max('size as size'))[0]?.size ?? 0)

/** Adds entries to the log, so that the database gets a mark that an earlier copy lacks. */
async function liveOn(db: Product['db'], checkpoints: string): Promise<void> {
  const signed = await size(db)
  await storeEntries(db, 50)
  await eventually('a longer log', async () => (await size(db)) > signed)
  const { id } = await db('installation').first('id')
  const later = randomUUID()
  await db('restore_marks').insert({ id: later, made_at: new Date(Date.now() + 120_000) })
  await eventually(
    'the restore mark to be stored outside the database',
    async () => (await restoreMarkFile(checkpoints, id).read())[0]?.id === later,
  )
}

/** Restores the backup in a folder. @returns the URL of the new database */
async function restoreElsewhere(resources: AsyncDisposableStack, backup: string): Promise<string> {
  const server = await postgresServer()
  const name = `signalbox_test_${randomBytes(6).toString('hex')}`
  const url = databaseUrl(server, name)
  await withClient(server, (client) => client.query(`CREATE DATABASE ${name}`))
  resources.defer(() =>
    withClient(server, async (client) => void (await client.query(`DROP DATABASE ${name} WITH (FORCE)`))),
  )
  execFileSync('pg_restore', ['--no-owner', '--dbname', url, join(backup, 'signalbox.dump')])
  return url
}

/** Returns what a process with this folder reports. */
async function problemsWithFolder({ db }: Product, directory: string): Promise<string> {
  await using gate = openRestoreGate({ db, log: createLog('silent', 'test'), directory })
  await gate.firstCheck()
  return gate.problems().join()
}

/** Ends the log whose entries are lost; the running workers must not sign the new tree with its key. */
async function restartLog(t: ExecutionContext, { db }: Product, admin: ReturnType<typeof adminOf>, signed: number) {
  const lost = /a checkpoint of \d+ entries was signed, but the database has only \d+\./
  t.regex(textOf(await admin('restore', 'verify'), 'transparency log'), lost)
  t.regex(textOf(await admin('doctor'), 'transparency logs'), lost)
  const [ended] = await db('log_keys').where({ env: 'SANDBOX' })
  t.regex((await admin('log', 'confirm', '--env', 'SANDBOX', '--size', '9')).stderr, /admin log restart/)
  t.regex((await admin('log', 'restart', '--env', 'SANDBOX')).stderr, /--confirm \S+\/anchors\/sandbox/)
  t.is((await admin('log', 'restart', '--env', 'SANDBOX', '--confirm', ended.name)).status, 0)
  await eventually('a log under a new key', async () => (await size(db)) >= signed)
  const [begun] = await db('log_keys').where({ env: 'SANDBOX' })
  t.notDeepEqual(begun.public_key, ended.public_key)
  const checked = await admin('restore', 'verify')
  t.deepEqual([wrong(checked), textOf(checked, 'transparency log')], [[], ''])
}

test.serial('a restored database sends and signs nothing until the operator confirms', async (t) => {
  await using resources = new AsyncDisposableStack()
  const sink = resources.use(await openHttpSink())
  const [checkpoints, backup] = [await ownFolder(resources, 'checkpoints-'), await ownFolder(resources, 'backup-')]
  const env = { SECRET_KEY: randomBytes(32).toString('hex'), CHECKPOINT_DIR: checkpoints }
  const before = resources.use(await openProduct({ env }))
  const project = await before.project()
  const { base, deps } = await before.ingress()
  const calm = await Promise.all(
    Array.from({ length: CALM }, () => addCheck(deps, project.id, { timeoutSeconds: 7200, graceSeconds: 3600 })),
  )
  const [failing, dying] = [await addCheck(deps, project.id), await addCheck(deps, project.id)]
  await notify(deps.db, [...calm, failing, dying], [await addWebhook(deps, project.id, sink.url)])
  const evaluator = await before.workers(['ping-evaluator'])
  for (const { uuid } of [...calm, dying]) t.is((await fetch(`${base}/ping/${uuid}`)).status, 200)
  t.is((await fetch(`${base}/ping/${failing.uuid}/fail`)).status, 200)
  await eventually('every ping to be applied', async () => (await deps.db('pings')).length === CALM + 2)
  await storeEntries(deps.db, 100)
  const workers = await before.workers(['sweeper', 'notifier', 'anchor'])
  await sink.waitFor(1)
  await eventually('a checkpoint of the log', async () => (await deps.db('log_checkpoints')).length > 0)
  await eventually(
    'the alert to be recorded',
    async () => (await deps.db('notifications').where({ state: 'delivered' })).length === 1,
  )

  await eventually(
    'a heartbeat of the listener',
    async () => (await deps.db('listener_heartbeats').where({ kind: 'http' }).whereNotNull('span')).length > 0,
  )

  const admin = adminOf(before)
  // Simulates an attempt in progress at the time of the backup.
  await deps.db('notifications').update({
    state: 'pending',
    next_attempt_at: new Date(),
    lease_until: null,
    queued_until: new Date(Date.now() + 3_600_000),
  })
  const written = await admin('backup', 'write', '--to', backup)
  t.is(written.status, 0, written.stderr)
  await deps.db('notifications').update({ state: 'delivered', next_attempt_at: null })
  const drilled = await admin('backup', 'verify', '--from', backup)
  t.deepEqual([drilled.status, wrong(drilled)], [0, []], JSON.stringify(drilled.json.findings))

  // After the backup, the log and the marks grow beyond those of the copy.
  const signed = await size(deps.db)
  await liveOn(deps.db, checkpoints)
  for (const part of [workers, evaluator]) await part[Symbol.asyncDispose]()
  const notified = sink.requests.length

  const copy = await restoreElsewhere(resources, backup)
  const after = resources.use(await openProduct({ env: { ...env, DATABASE_URL: copy } }))
  await letPass(after.db, A_DAY)
  const restored = await after.workers()
  const listener = await after.ingress()
  await eventually(
    'the processes to detect the restored database',
    async () => (await after.db('installation').whereNotNull('restored_from')).length === 1,
  )
  t.regex(
    await problemsWithFolder(after, await ownFolder(resources, 'empty-')),
    /restored from .* admin restore verify/,
  )
  t.is((await fetch(`${listener.base}/ping/${dying.uuid}`)).status, 200, 'pings are accepted')
  await eventually(
    'both pings to be applied',
    async () => (await after.db('pings').where({ check_id: dying.id })).length === 2,
  )

  const restoring = adminOf(after)
  const looked = await restoring('restore', 'verify')
  t.deepEqual([looked.status, wrong(looked)], [0, []], JSON.stringify(looked.json.findings))
  t.truthy(looked.json.restoredFrom)
  t.is(looked.json.suppressed, null, 'verification changes nothing')
  const applied = await restoring('restore', 'verify', '--apply')
  t.is(applied.json.suppressed?.notifications, 1)

  await eventually(
    'every deadline to be extended',
    async () => (await after.db('checks').whereNotNull('deadline_extended_at')).length >= CALM,
    60_000,
  )
  await eventually(
    'the log to refuse',
    async () => metricIn(await restored.metrics.registry.metrics(), 'signalbox_log_refused') === 1,
  )
  t.is((await fetch(`${listener.base}/ping/${dying.uuid}/fail`)).status, 200)
  await eventually('the notifications of new failures', () => sink.requests.length > notified)
  t.deepEqual(
    sink.requests.slice(notified).map(({ body }) => body.toString()),
    [dying.uuid],
    'and nothing else',
  )
  t.is(await size(after.db), signed, 'no checkpoint of an older tree')

  await restartLog(t, after, restoring, signed)
})

/** Returns the names of drill databases, also of other processes. */
async function drillsOf(db: Product['db']): Promise<string[]> {
  return await db('pg_database').where('datname', 'like', 'signalbox_drill_%').pluck('datname')
}

test.serial('a changed backup, another key and a changed entry are reported', async (t) => {
  await using resources = new AsyncDisposableStack()
  const backup = await ownFolder(resources, 'backup-')
  const product = resources.use(
    await openProduct({ env: { CHECKPOINT_DIR: await ownFolder(resources, 'checkpoints-') } }),
  )
  const { db } = product
  await product.project()
  await product.workers(['anchor'])
  await storeEntries(db, 5)
  await eventually(
    'a checkpoint',
    async () => (await db('log_checkpoints').where({ env: 'SANDBOX', size: 5 })).length === 1,
  )
  const admin = adminOf(product)
  t.is((await admin('backup', 'write', '--to', backup)).status, 0)

  const older = new Set(await drillsOf(db))
  const otherKey = await adminOf(product, { secretKey: randomBytes(32).toString('hex') })(
    'backup',
    'verify',
    '--from',
    backup,
  )
  t.deepEqual([otherKey.status, wrong(otherKey)], [1, ['secrets']])

  const manifest = join(backup, 'manifest.json')
  const original = await readFile(manifest, 'utf8')
  await writeFile(manifest, original.replace(/"projects": 1/, '"projects": 2'))
  const fewer = await admin('backup', 'verify', '--from', backup)
  t.deepEqual([fewer.status, wrong(fewer)], [1, ['rows']])
  await writeFile(manifest, original.replace(/"sha256": "./, '"sha256": "g'))
  const changed = await admin('backup', 'verify', '--from', backup)
  t.deepEqual([changed.status, wrong(changed)], [1, ['dump']])

  await db.raw(`UPDATE log_entries SET entry = set_byte(entry, 0, 88) WHERE env = 'SANDBOX' AND seq = 3`)
  const forged = await admin('restore', 'verify')
  t.deepEqual([forged.status, wrong(forged)], [1, ['log of SANDBOX']])
  t.regex(textOf(forged, 'log of SANDBOX'), /entry 3 does not match its hash/)
  await db.raw('DELETE FROM log_entries WHERE seq = 2')
  t.regex(textOf(await admin('restore', 'verify'), 'log of SANDBOX'), /entry \d/)
  await eventually('each drill to drop its database', async () => (await drillsOf(db)).every((name) => older.has(name)))
})
