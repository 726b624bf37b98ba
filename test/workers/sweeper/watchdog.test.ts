import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { Knex } from 'knex'
import { lateWork } from '#shared/monitoring/availability/late-work-store.ts'
import { claimWatchdog, readWatchdog } from '#shared/monitoring/availability/watchdog-store.ts'
import { watchdog } from '../../../workers/sweeper/sweeps/watchdog.ts'
import { addChat, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'

const openWatched = (sink: HttpSink) =>
  openProduct({ env: { WATCHDOG_URL: `${sink.url}/outside?key=hidden`, PING_SHARDS: '1' } })

/** Makes the next request due for all processes. */
const nextMinute = (db: Knex) =>
  db.raw(`UPDATE installation SET watchdog_tried_at = watchdog_tried_at - interval '61 seconds'`)
const isReported = (db: Knex, why: RegExp) =>
  eventually(`${why} to be reported`, async () => why.test((await readWatchdog(db)).problem ?? ''))

test.serial('one of several sweepers fetches the external monitor once a minute', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openWatched(sink)
  const { db } = product
  await product.workers(['ping-evaluator'])
  const sweepers: AsyncDisposable[] = []
  while (sweepers.length < 3) sweepers.push(await product.workers(['sweeper']))
  await sink.waitFor(1)
  await eventually('the response to be stored', async () => (await readWatchdog(db)).fedAt !== null)
  await nextMinute(db)
  await sink.waitFor(2)
  t.deepEqual(
    sink.requests.map(({ method, url }) => `${method} ${url}`),
    ['GET /outside?key=hidden', 'GET /outside?key=hidden'],
  )
  const claims = async () => await Promise.all(Array.from({ length: 10 }, () => claimWatchdog(db)))
  t.is((await claims()).filter(Boolean).length, 0, 'the minute is not over')
  // From here on only this test claims the request.
  for (const sweeper of sweepers) await sweeper[Symbol.asyncDispose]()
  await nextMinute(db)
  t.is((await claims()).filter(Boolean).length, 1, 'one of ten concurrent claims succeeds')
})

test.serial('does not fetch the monitor until every sweep has finished and all shards have replied', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openWatched(sink)
  const { db } = product
  await db.raw('ALTER TABLE financing_registrations RENAME TO set_aside')
  await product.workers(['sweeper'])
  await isReported(db, /sweep: lapsed-registrations has not finished since the start/)
  await isReported(db, /sweep: shards 0 have not replied to barriers for \d+ s/)
  await db.raw('ALTER TABLE set_aside RENAME TO financing_registrations')
  await eventually('the failed sweep to finish', async () => {
    return !/lapsed-registrations/.test((await readWatchdog(db)).problem ?? '')
  })
  t.is(sink.requests.length, 0, 'no request while deadlines are not evaluated')
  await product.workers(['ping-evaluator'])
  await sink.waitFor(1)
  await eventually('no problem to remain', async () => (await readWatchdog(db)).problem === null)
})

test.serial('does not fetch the monitor while a listener accepts no pings', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openWatched(sink)
  const { db } = product
  await db.raw(
    `INSERT INTO listener_heartbeats (instance, kind, span, shards, from_at, until_at)
     VALUES (?, 'http', 1, 1, now() - interval '1 hour', now() - interval '1 minute')`,
    [randomUUID()],
  )
  await product.workers(['ping-evaluator', 'sweeper'])
  await isReported(db, /gaps: http has accepted no pings since \S+ \(process lost\)/)
  t.is(sink.requests.length, 0)
  await product.ingress()
  await sink.waitFor(1)
})

test.serial('does not fetch the monitor while a flip has waited too long for an alerter', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openWatched(sink)
  const { db } = product
  const { deps } = await product.ingress()
  const { project } = await addProject(deps)
  const check = await addCheck(deps, project.id)
  await notify(db, [check], [await addChat(deps, project.id, `${sink.url}/chat`)])
  await db.raw(`UPDATE checks SET status = 'down' WHERE id = ?`, [check.id])
  await db.raw(
    `INSERT INTO flips (check_id, at, from_status, to_status, reason)
     VALUES (?, now() - interval '3 minutes', 'up', 'down', 'timeout')`,
    [check.id],
  )
  await product.workers(['ping-evaluator', 'sweeper'])
  await isReported(db, /changes of checks wait for the alerter for more than 2 minutes/)
  t.is(sink.requests.length, 0)
  await product.workers(['notifier'])
  await sink.waitFor(({ path }) => path === '/outside')
  t.is((await db('flips').whereNull('processed_at')).length, 0)
  await sink.waitFor(({ path }) => path === '/chat')
})

test.serial('reports a monitor that does not respond, and retries after a minute', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openWatched(sink)
  const { db } = product
  sink.enqueue({ status: 503 }, { misbehave: 'reset' }, { status: 302, headers: { location: '/elsewhere' } })
  await product.workers(['ping-evaluator', 'sweeper'])
  await isReported(db, /^the monitor answered 503$/)
  await nextMinute(db)
  await isReported(db, /^the monitor did not answer \(reset\)$/)
  t.is((await readWatchdog(db)).fedAt, null)
  await nextMinute(db)
  await eventually('the response to be stored', async () => (await readWatchdog(db)).problem === null)
  t.is(sink.requests.at(-1)?.path, '/elsewhere', 'a redirect is followed')
})

test.serial('each kind of work is late after it has been due for two minutes', async (t) => {
  await using product = await openProduct({ listener: 'http', workers: [] })
  const { db, deps } = product
  const { project } = await addProject(deps)
  const check = await addCheck(deps, project.id)
  const integration = await addChat(deps, project.id, 'http://127.0.0.1:1')
  t.deepEqual(await lateWork(db), [])
  const ago = (seconds: number) => db.raw('clock_timestamp() - make_interval(secs => ?::float)', [seconds])
  const [policy] = await db('alert_policies')
    .insert({ project_id: project.id, name: 'P', match: '', plan: '{}' })
    .returning('id')
  const id = randomUUID()
  const common = { project_id: project.id, policy_id: policy.id }
  await db('check_deadlines')
    .insert({ check_id: check.id, next_check_at: ago(60) })
    .onConflict('check_id')
    .merge()
  await db('flips').insert({ check_id: check.id, at: ago(60), from_status: 'up', to_status: 'down', reason: 'fail' })
  await db('incidents').insert({
    id,
    ...common,
    check_id: check.id,
    state: 'alerting',
    is_direct: false,
    severity: 'critical',
    down_at: ago(900),
    next_at: ago(60),
  })
  await db('notification_bundles').insert({ id, ...common, direction: 'up', opened_at: ago(200), send_at: ago(60) })
  await db('notifications').insert({
    id,
    integration_id: integration.id,
    check_status: 'down',
    what: 'test',
    next_attempt_at: ago(60),
  })
  await db('outgoing_mails').insert({ id, sealed_mail: '', next_attempt_at: ago(60), queued_until: ago(0) })
  await db('outbox').insert({ message_id: id, message: 'alerts.wake', payload: '{}', created_at: ago(60) })
  t.deepEqual(await lateWork(db), [])
  const older = async (table: string, column: string) =>
    await db(table).update({ [column]: db.raw(`${column} - interval '61 seconds'`) })
  for (const [table, column, what] of [
    ['check_deadlines', 'next_check_at', 'overdue checks were not evaluated'],
    ['flips', 'at', 'changes of checks wait for the alerter'],
    ['incidents', 'next_at', 'due incidents were not evaluated'],
    ['notification_bundles', 'send_at', 'digests wait to be sent'],
    ['notifications', 'next_attempt_at', 'notifications wait for a notifier'],
    ['outgoing_mails', 'next_attempt_at', 'mails wait for a mailer'],
    ['outbox', 'created_at', 'messages wait for the broker'],
  ] as const) {
    await older(table, column)
    t.deepEqual((await lateWork(db)).slice(-1), [`${what} for more than 2 minutes`])
  }
  t.is((await lateWork(db)).length, 7)

  const sweep = watchdog('http://127.0.0.1:1', {
    request: () => Promise.reject(new Error('the request was not skipped')),
  })
  await using workers = await product.workers([])
  const barriers = { answering: async () => new Set<number>() }
  await sweep.run({ deps: workers, barriers, now: workers.now() })
  t.regex(sweep.problems?.(0)[0] ?? '', /^watchdog: skipped, because overdue checks were not evaluated/)
  t.deepEqual(sweep.problems?.(3600), [], 'younger reasons are omitted')
  await db('check_deadlines').del()
  for (const table of ['flips', 'notifications', 'notification_bundles', 'incidents', 'outgoing_mails', 'outbox'])
    await db(table).del()
  await claimWatchdog(db)
  await sweep.run({ deps: workers, barriers, now: workers.now() })
  t.deepEqual(sweep.problems?.(0), [])
})

test.serial('a sweeper that misses its ticks writes log lines only', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const sweeper = product.spawn('workers', ['sweeper'])
  const heartbeats = () => db('listener_heartbeats').where({ kind: 'sweeper' })
  await eventually('the sweeper to run', async () => (await heartbeats()).length > 0)
  sweeper.signal('SIGSTOP')
  const old = db.raw("until_at < now() - interval '5 seconds'")
  await eventually('its ticks to be missed', async () => (await heartbeats().where(old)).length > 0)
  sweeper.signal('SIGCONT')
  await eventually('the missed ticks to be logged', () => sweeper.output().includes('sweep.tick-missed'))
  t.is(await sweeper.stop(), 0)
  for (const line of sweeper.output().trim().split('\n')) t.notThrows(() => JSON.parse(line), line)
})
