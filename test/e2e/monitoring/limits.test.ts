import test from 'ava'
import { alertsReevaluate } from '#shared/contracts/worker-messages.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { aProject } from './project.ts'

const resources = new AsyncDisposableStack()
let app: HttpProduct
let gateway: HttpSink
test.before(async () => {
  gateway = resources.use(await openHttpSink())
  app = resources.use(
    await openProduct({
      listener: 'http',
      workers: ['ping-evaluator', 'notifier', 'sweeper'],
      env: {
        TWILIO_URL: gateway.url,
        TWILIO_ACCOUNT: 'account',
        TWILIO_AUTH: 'auth',
        TWILIO_FROM: '+15550000',
        SMS_LIMIT_PER_MONTH: '2',
        CALL_LIMIT_PER_MONTH: '1',
      },
    }),
  )
})
test.after.always(async () => {
  await resources.disposeAsync()
})

test('the monthly limit suppresses text messages and keeps the integration enabled', async (t) => {
  const { integration, check, ping, ended, call } = await aProject(app)
  const sms = await integration('sms', { value: '+15550101' })
  const uuid = await check([sms])
  for (const [count, suffix] of [
    [1, '/fail'],
    [2, ''],
    [3, '/fail'],
  ] as const) {
    await ping(uuid, suffix)
    await ended(sms, count)
  }
  t.deepEqual(await ended(sms, 3), [
    { state: 'delivered', error: '', attempts: 1 },
    { state: 'delivered', error: '', attempts: 1 },
    { state: 'suppressed', error: 'Monthly SMS limit exceeded', attempts: 1 },
  ])
  t.like(await call('GET', `/channels/${sms}`), { disabled: false, last_error: 'Monthly SMS limit exceeded' })
  const { notifications } = await call('GET', `/channels/${sms}/notifications`)
  t.like(Array.isArray(notifications) ? notifications[0] : null, {
    check: uuid,
    state: 'suppressed',
    error: 'Monthly SMS limit exceeded',
    next_attempt: null,
  })
  const texts = gateway.requests.filter(({ body }) => new URLSearchParams(body.toString()).get('To') === '+15550101')
  t.is(texts.length, 2)
})

test('calls have their own counter per organisation', async (t) => {
  const first = await aProject(app)
  const call = await first.integration('call', { value: '+15550102' })
  const uuid = await first.check([call])
  await first.ping(uuid, '/fail')
  await first.ended(call, 1)
  await first.ping(uuid)
  await first.ping(uuid, '/fail')
  t.deepEqual(
    (await first.ended(call, 2)).map(({ state, error }) => [state, error]),
    [
      ['delivered', ''],
      ['suppressed', 'Monthly phone call limit exceeded'],
    ],
  )
  const second = await aProject(app)
  const other = await second.integration('call', { value: '+15550102' })
  await second.ping(await second.check([other]), '/fail')
  t.is((await second.ended(other, 1))[0]?.state, 'delivered')
})

test('projects of an organisation share its monthly limit, even after deletions', async (t) => {
  const [first, second] = [await aProject(app), await aProject(app)]
  const { organisationId } = first.project
  await app.deps.db('projects').where({ id: second.project.id }).update({ organisation_id: organisationId })
  const called = await first.integration('call', { value: '+15550104' })
  await first.ping(await first.check([called]), '/fail')
  t.is((await first.ended(called, 1))[0]?.state, 'delivered')
  const other = await second.integration('call', { value: '+15550105' })
  const uuid = await second.check([other])
  await second.ping(uuid, '/fail')
  t.like((await second.ended(other, 1))[0], { state: 'suppressed', error: 'Monthly phone call limit exceeded' })

  await first.call('DELETE', `/channels/${called}`)
  await app.deps.db('projects').where({ id: first.project.id }).del()
  await second.ping(uuid)
  await second.ping(uuid, '/fail')
  t.is((await second.ended(other, 2))[1]?.state, 'suppressed', 'sent messages stay counted')
})

test('repeats may use four fifths of a monthly limit', async (t) => {
  const { integration, check, ping, ended, call, project } = await aProject(app)
  const { db } = app.deps
  const sms = await integration('sms', { value: '+15550106' })
  await call('POST', '/policies/', { name: 'p', match: '*', steps: [{ repeat: { every: 60 } }] })
  const first = await check([sms])
  await ping(first)
  await ping(first, '/fail')
  t.is((await ended(sms, 1))[0]?.state, 'delivered')
  // One of two is used; the rest is reserved for first messages.
  await db('incidents')
    .where({ project_id: project.id })
    .update({ alert_at: db.raw(`alert_at - interval '61 seconds'`), next_at: db.raw('now()') })
  await app.deps.outbox.run((_tx, enqueue) => enqueue(alertsReevaluate, {}))
  const reasons = () =>
    db('alert_decisions')
      .join('checks', 'checks.id', 'alert_decisions.check_id')
      .where('checks.uuid', first)
      .pluck('reason')
  await eventually('the repeat to be skipped', async () => (await reasons()).includes('MONTHLY_RESERVE'))
  const second = await check([sms], 'second')
  await ping(second)
  await ping(second, '/fail')
  t.is((await ended(sms, 2))[1]?.state, 'delivered', 'a first message may use the rest')
})

test('if a monthly limit suppresses a step, the next step starts; only it is notified of the recovery', async (t) => {
  for (const within of [0, 1]) {
    await using sink = await openHttpSink()
    const { integration, check, ping, ended, call, project } = await aProject(app)
    const phone = await integration('call', { value: '+15550107' }, 'phone')
    const sms = await integration('sms', { value: '+15550107' }, 'sms')
    await integration('slack', { url: sink.url }, 'chat')
    for (const count of [1, 2]) {
      await call('POST', `/channels/${sms}/test`)
      await ended(sms, count)
    }
    const steps = [{ channels: 'sms' }, { wait: 900, channels: 'chat' }]
    await call('POST', '/policies/', { name: 'p', match: '*', steps, group: { checks: 2, within } })
    const checks = [await check([phone], 'a'), await check([phone], 'b')]
    for (const uuid of checks) await ping(uuid)
    for (const uuid of checks) await ping(uuid, '/fail')
    const message = await sink.waitFor(1)
    t.regex(message.body.toString(), within === 0 ? /is DOWN/ : /2 checks are DOWN/)
    t.is((await ended(sms, 3))[2]?.error, 'Monthly SMS limit exceeded')
    for (const uuid of checks) await ping(uuid)
    const { db } = app.deps
    const recovered = db('incidents').where({ project_id: project.id, state: 'resolved' })
    await eventually('both checks to recover', async () => (await recovered.clone()).length === 2)
    const recipients = await db('integrations').whereIn(
      'id',
      within === 0
        ? db('notifications').where({ what: 'recovery' }).select('integration_id')
        : db('notification_bundle_members as m')
            .join('notification_bundles as b', 'b.id', 'm.bundle_id')
            .where('b.direction', 'up')
            .select('m.integration_id'),
    )
    const names = recipients.filter(({ project_id: id }) => Number(id) === project.id).map(({ name }) => name)
    t.deepEqual(names, ['chat'])
  }
})

test('messages of the previous month are not counted', async (t) => {
  const { integration, check, ping, ended, project } = await aProject(app)
  const call = await integration('call', { value: '+15550103' })
  const uuid = await check([call])
  await ping(uuid, '/fail')
  await ended(call, 1)
  await app.deps.db.raw(`UPDATE monthly_sends SET month = month - interval '1 month' WHERE organisation_id = ?`, [
    project.organisationId,
  ])
  await ping(uuid)
  await ping(uuid, '/fail')
  t.is((await ended(call, 2))[1]?.state, 'delivered')
})

test('limits a recipient to six messages per minute over all integrations', async (t) => {
  await using sink = await openHttpSink()
  const { integration, call, ended } = await aProject(app)
  const config = { topic: 'alerts', url: sink.url }
  const integrations = [await integration('ntfy', config, 'one'), await integration('ntfy', config, 'two')]
  for (let i = 0; i < 8; i++) await call('POST', `/channels/${integrations[i % 2]}/test`)
  const outcomes = [...(await ended(integrations[0] ?? '', 4)), ...(await ended(integrations[1] ?? '', 4))]
  t.is(outcomes.filter(({ state }) => state === 'delivered').length, 6)
  t.deepEqual(
    outcomes.filter(({ state }) => state !== 'delivered').map(({ state, error }) => [state, error]),
    [
      ['suppressed', 'Rate limit exceeded'],
      ['suppressed', 'Rate limit exceeded'],
    ],
  )
  t.is(sink.requests.length, 6)
})
