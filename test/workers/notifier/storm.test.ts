import { randomUUID } from 'node:crypto'
import test from 'ava'
import { delivered, permanent } from '#shared/delivery/outcome.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { claimNotifications, recordAttempts, renewLeases } from '#shared/monitoring/notifications/attempt-store.ts'
import { releaseMonthly, reserveMonthly } from '#shared/monitoring/notifications/monthly-store.ts'
import { insertNotifications } from '#shared/monitoring/notifications/store.ts'
import { nowMicros } from '#shared/time.ts'
import { addWebhook, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'

const MANY = 400

test('delivers hundreds of alerts to one host once each at the first attempt', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct()
  const [many, one] = [await product.project(), await product.project()]
  const { deps } = await product.ingress()
  // Sequential, because hundreds at once exceed the acquire timeout of the connection pool.
  const checks: Check[] = []
  while (checks.length < MANY) checks.push(await addCheck(deps, many.id))
  const other = await addCheck(deps, one.id)
  await notify(product.db, checks, [await addWebhook(deps, many.id, `${sink.url}/many`)])
  await notify(product.db, [other], [await addWebhook(deps, one.id, `${sink.url}/one`)])
  await product.db('checks').update({ status: 'up', alert_after: new Date(Date.now() - 60_000) })
  await product.workers()
  await sink.waitFor(MANY + 1)
  await eventually('all to be recorded', async () => {
    const rows = await product.db('notifications').where({ state: 'delivered' })
    return rows.length === MANY + 1
  })
  const ids = sink.requests.map(({ headers }) => headers['x-signalbox-notification'])
  t.is(new Set(ids).size, MANY + 1)
  t.is(ids.length, MANY + 1)
  const attempts = await product.db('notification_attempts').select('n', 'outcome')
  t.is(attempts.length, MANY + 1)
  t.true(attempts.every(({ n, outcome }) => n === 1 && outcome === 'delivered'))
  t.is(sink.requests.filter(({ path }) => path === '/one/down').length, 1)
})

test('concurrent claims get each attempt once, and a deletion blocks no other', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const { deps } = await product.ingress()
  const add = (name: string) => addWebhook(deps, project.id, `http://127.0.0.1:9/${name}`)
  const integrations = [await add('a'), await add('b')]
  const notified = { flipId: null, checkId: null, status: 'down' } as const
  const made = async () =>
    await insertNotifications(
      db,
      notified,
      integrations.map(({ id }) => id),
    )
  const ids = [...(await made()), ...(await made())]
  const due = ids.map((id) => ({ id, linkDigest: Buffer.from(id) }))
  const claims = await Promise.all([claimNotifications(db, [...due, ...due]), claimNotifications(db, due)])
  const taken = claims.flat().filter((claim) => claim !== null)
  t.is(taken.length, 4)
  t.is(new Set(taken.map(({ id }) => id)).size, 4)
  t.deepEqual(await renewLeases(db, [...taken, { id: ids[0] ?? '', attempt: 2 }]), [true, true, true, true, false])
  const [deleted] = taken
  await db('notifications').where({ id: deleted?.id }).delete()
  const finished = taken.map((claimed) => ({
    notificationId: claimed.id,
    integrationId: claimed.integrationId ?? 0,
    attempt: claimed.attempt,
    startedAt: nowMicros(),
    durationMs: 5,
    outcome: claimed.integrationId === integrations[0]?.id ? permanent('Gone', { failure: 'status' }) : delivered,
    retryInMs: null,
  }))
  const disabled = (await recordAttempts(db, finished)).filter(({ isDisabledNow }) => isDisabledNow)
  t.is(disabled.length, 1, 'of two permanent failures only one disables the integration')
  t.is((await db('notification_attempts').select('n')).length, 3)
  const states = await db('notifications').orderBy('state').pluck('state')
  t.is(states.length, 3)
  t.false(states.includes('pending'))
  const stored = await db('integrations').orderBy('id').select('disabled_at', 'last_error')
  t.deepEqual(
    stored.map((row) => [row.disabled_at !== null, row.last_error]),
    [
      [true, 'Gone'],
      [false, ''],
    ],
  )
})

test('only one of ten concurrent messages gets the last one of a month', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const month = Date.UTC(2026, 10, 1) * 1000
  const of = (notificationId: string) => ({
    notificationId,
    organisationId: project.organisationId,
    meter: 'sms' as const,
    month,
  })
  const ids = Array.from({ length: 10 }, () => randomUUID())
  const reserved = await Promise.all(ids.map((id) => reserveMonthly(db, of(id), 1)))
  t.is(reserved.filter(Boolean).length, 1)
  const winner = ids[reserved.indexOf(true)] ?? ''
  t.true(await reserveMonthly(db, of(winner), 1), 'a repeated attempt keeps its reservation')
  t.true(await reserveMonthly(db, { ...of(ids[0] ?? ''), meter: 'call' }, 1), 'calls have their own counter')
  await releaseMonthly(db, of(winner))
  t.true(await reserveMonthly(db, of(randomUUID()), 1), 'an undelivered message releases its reservation')
  t.true(await reserveMonthly(db, { ...of(randomUUID()), month: Date.UTC(2026, 11, 1) * 1000 }, 1))
  t.is((await db('monthly_sends').where({ meter: 'sms' })).length, 1, 'the previous month is deleted')
})
