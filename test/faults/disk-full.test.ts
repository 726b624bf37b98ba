import { randomBytes } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { migrateLatest } from '#shared/platform/database/migrate.ts'
import { databaseUrl, withClient } from '../../stack/database-admin.ts'
import { mustRun } from '../../stack/run-command.ts'
import { serviceUser } from '../../stack/service-user.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { auditPings, Ledger, LONG_LOG, sendPings } from '../support/ledger.ts'
import { startPostgres } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'

/** A volume of its own for the tables of a test's server: small, so that it can be filled. Needs root, or sudo. */
async function smallVolume(megabytes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-volume-'))
  const { uid, gid } = (await serviceUser('postgres')) ?? { uid: process.getuid?.(), gid: process.getgid?.() }
  const options = `size=${megabytes}m,mode=700,uid=${uid},gid=${gid}`
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '--non-interactive']
  await mustRun([...asRoot, 'mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  const filler = join(folder, 'filler')
  return {
    folder,
    fill() {
      const file = openSync(filler, 'w')
      try {
        for (;;) writeSync(file, Buffer.alloc(64 * 1024))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(filler),
    async [Symbol.asyncDispose]() {
      await mustRun([...asRoot, 'umount', '--lazy', folder])
      rmSync(folder, { recursive: true })
    },
  }
}

test('F18: a full volume of the database loses and gives up nothing that was accepted, and needs only space to recover', async (t) => {
  await using volume = await smallVolume(64)
  await using server = await startPostgres()
  await withClient(server.url, async (client) => {
    await client.query(`CREATE TABLESPACE small LOCATION '${volume.folder}'`)
    await client.query('CREATE DATABASE signalbox TABLESPACE small')
  })
  const url = databaseUrl(server.url, 'signalbox')
  await migrateLatest(url)
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
  await eventually('writes to be refused', async () => (await write()) === 503, 60_000)
  t.is(await read(), 200)
  await ping(20)
  t.deepEqual([...ledger.answers.keys()], ['200'])

  volume.free()
  t.deepEqual(await auditPings(product, ledger), [])
  await eventually('writes to be taken again', async () => (await write()) === 201)
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  t.is(await probe.depth('pings.0.dead'), 0)
})
