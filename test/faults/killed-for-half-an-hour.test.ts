import test from 'ava'
import { findNotableGap } from '#shared/monitoring/availability/gap-list-store.ts'
import { bannerText } from '#shared/monitoring/availability/notice.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { effort } from '../support/effort.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { letPass, letPassWhileWaiting } from './let-pass.ts'

const CHECKS = effort(30, 200)
const DEAD = 5
const HALF_AN_HOUR = 1800

test.serial('half an hour without the service causes no false alert, and dead checks go down afterwards', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const deps = { db, secrets: createSecrets(product.config.secretKey) }
  const checks = await Promise.all(
    Array.from({ length: CHECKS }, () => addCheck(deps, project.id, { timeoutSeconds: 60, graceSeconds: 60 })),
  )
  await notify(db, checks, [await addWebhook(deps, project.id, sink.url)])

  const start = async () => {
    const port = await freePort()
    const processes = [
      product.spawn('ingress', [], { PORT: String(port), METRICS_PORT: String(await freePort()) }),
      product.spawn('workers', [], { METRICS_PORT: String(await freePort()) }),
    ]
    for (const { output } of processes) {
      await eventually('a process to be ready', () => output().includes('process.ready'))
    }
    return { base: `http://127.0.0.1:${port}`, processes }
  }
  const pingAll = async (base: string, some: readonly { uuid: string }[]) => {
    for (const { uuid } of some) {
      await eventually('a ping to be accepted', async () => (await fetch(`${base}/ping/${uuid}`)).status === 200)
    }
  }
  const first = await start()
  await pingAll(first.base, checks)
  await eventually('every ping to count', async () => (await db('checks').where({ status: 'up' })).length === CHECKS)
  await eventually(
    'a heartbeat of the listener',
    async () => (await db('listener_heartbeats').where({ kind: 'http' }).whereNotNull('span')).length > 0,
  )

  for (const one of first.processes) one.signal('SIGKILL')
  await Promise.all(first.processes.map(({ exited }) => exited))
  await letPass(db, HALF_AN_HOUR)
  const second = await start()
  await eventually(
    'all deadlines to be extended',
    async () => (await db('checks').whereNotNull('deadline_extended_at')).length === CHECKS,
    60_000,
  )
  const [dead, alive] = [checks.slice(0, DEAD), checks.slice(DEAD)]
  await pingAll(second.base, alive)
  await eventually(
    'the live checks to be up again',
    async () => (await db('unknown_periods').whereNull('until_at')).length === DEAD,
    60_000,
  )
  const gap = await findNotableGap(db, project.id)
  t.regex(
    gap ? bannerText(gap) : '',
    new RegExp(
      `^Pings could not be received from .* to .* UTC \\((30|31) minutes.*\\)\\. ${CHECKS} checks became unknown because of it; ${CHECKS - DEAD} have been heard since\\.$`,
    ),
  )
  t.is((await db('flips').where({ to_status: 'down' })).length, 0, 'no false alert')
  t.is(sink.requests.length, 0)

  const ids = dead.map(({ id }) => id)
  await eventually('the notifications of dead checks', async () => {
    await letPassWhileWaiting(db, ids)
    return sink.requests.length === DEAD
  })
  const extended = await db('unknown_periods').whereIn('check_id', ids).max('gap_until as until').first()
  const flips = await db('flips').where({ to_status: 'down' })
  t.deepEqual(flips.map(({ check_id: id }) => id).sort(), ids.toSorted())
  for (const { at } of flips) t.is(at.getTime() - extended?.until.getTime(), 120_000, 'one period plus grace later')
  t.deepEqual(sink.requests.map(({ body }) => body.toString()).sort(), dead.map(({ uuid }) => uuid).sort())
  for (const one of second.processes) await one.stop()
})
