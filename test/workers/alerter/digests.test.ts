import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { ANY_INCIDENT } from '#shared/monitoring/alerting/incident-list.ts'
import { listIncidents } from '#shared/monitoring/alerting/incident-list-store.ts'
import { listDecisions } from '#shared/monitoring/alerting/incident-read-store.ts'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { changePolicy, insertPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { timelineOf } from '#shared/monitoring/alerting/timeline-store.ts'
import { recordFlips } from '#shared/monitoring/flips/store.ts'
import { insertIntegration } from '#shared/monitoring/integrations/store.ts'
import { flipToExplain, integrationsNotifiedOf } from '#shared/monitoring/notifications/explain-store.ts'
import { preparedTransaction } from '#shared/platform/database/prepared.ts'
import { nowMicros } from '#shared/time.ts'
import { addChat, addWebhook, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'

const CHECKS = 60
/** Grouping delay in seconds, longer than any test. The tests end it themselves. */
const WITHIN = 600

/** Matches all incidents. */

/** Creates a project with 60 checks under a grouping policy. */
async function underPolicy(product: HttpProduct, url: string) {
  const { db, deps } = product
  const { project, rwKey } = await addProject(deps)
  await insertPolicy(db, project.id, {
    name: 'grouped',
    match: '*',
    position: 0,
    plan: { ...IMPLICIT_PLAN, group: { checks: 5, within: WITHIN } },
  })
  const checks = await Promise.all(
    Array.from({ length: CHECKS }, (_, index) => addCheck(deps, project.id, { name: `job ${100 + index}` })),
  )
  const group = JSON.stringify({
    url_down: `${url}/group`,
    url_up: `${url}/group`,
    method_down: 'POST',
    method_up: 'POST',
    body_down: '{"n": $GROUP_COUNT, "of": $GROUP_JSON}',
    body_up: '{"n": $GROUP_COUNT, "of": $GROUP_JSON}',
    headers_down: {},
    headers_up: {},
  })
  const integrations = [
    await addChat(deps, project.id, `${url}/chat`),
    await addWebhook(deps, project.id, `${url}/each`),
    await insertIntegration(db, {
      projectId: project.id,
      kind: 'webhook',
      name: 'grouped',
      sealedConfig: deps.secrets.seal('integration', group),
    }),
  ]
  await notify(db, checks, integrations)
  return { project, rwKey, checks }
}

async function flip(product: HttpProduct, checks: readonly { id: number }[], to: 'up' | 'down'): Promise<void> {
  await product
    .db('checks')
    .whereIn(
      'id',
      checks.map(({ id }) => id),
    )
    .update({ status: to })
  const from = to === 'up' ? 'down' : 'up'
  await preparedTransaction(product.db, (run) =>
    recordFlips(
      run,
      checks.map(({ id }) => ({
        checkId: id,
        at: nowMicros(),
        from,
        to,
        reason: to === 'up' ? '' : 'fail',
        processed: false,
      })),
    ),
  )
}

/** Waits for a number of grouped incidents and ends their delay. */
async function endWait({ db }: HttpProduct, suppression: number): Promise<void> {
  const waiting = () => db('incidents').where({ suppression: 'GROUPING' }).whereNull('resolved_at')
  await eventually(`${suppression} messages to wait for others`, async () => (await waiting()).length === suppression)
  await waiting().update({
    alert_at: db.raw('alert_at - make_interval(secs => ?)', [WITHIN]),
    next_at: db.fn.now(),
  })
}

const requestsAt = (sink: { requests: readonly { url: string; body: Buffer }[] }, path: string) =>
  sink.requests.filter(({ url }) => url.startsWith(path)).map(({ body }) => body.toString())

test.serial('sixty outages of one policy make one digest, and so do their recoveries', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: ['sweeper', 'notifier', 'alerter'] })
  const { db } = product
  const { project, checks } = await underPolicy(product, sink.url)
  await flip(product, checks, 'down')
  await endWait(product, CHECKS)
  await sink.waitFor(CHECKS + 2)
  const [chat, ...moreChats] = requestsAt(sink, '/chat')
  t.is(moreChats.length, 0)
  t.regex(chat ?? '', /60 checks are DOWN/)
  t.regex(chat ?? '', /The connection to this service may be broken\./, 'all checks are silent and no ping arrived')
  const [{ id } = { id: 0 }] = checks
  const explained = await flipToExplain(db, id, null)
  const ofOne = explained ? await integrationsNotifiedOf(db, id, explained, []) : []
  t.deepEqual(
    ofOne.map(({ name, state }) => [name, state !== null]),
    [
      ['slack', true],
      ['webhook', true],
      ['grouped', true],
    ],
    'the digest appears in the log of each check',
  )
  const outcomesOfIntegrations = async () => {
    const [decision] = await listDecisions(db, id, { from: null, before: null, beforeId: null }, 1)
    return decision?.channels.map(({ reason, delivery }) => `${reason} ${delivery?.state}`)
  }
  await eventually('the outcome of the digest', async () =>
    isDeepStrictEqual(await outcomesOfIntegrations(), [
      'IN_DIGEST delivered',
      'FIRST delivered',
      'IN_DIGEST delivered',
    ]),
  )
  const [incident] = await listIncidents(db, project.id, { ...ANY_INCIDENT, checkId: id }, 1)
  const timeline = incident ? await timelineOf(db, incident, { limit: 500 }) : []
  t.deepEqual(
    timeline
      .filter(({ kind }) => kind === 'notification')
      .map(({ what, detail }) => `${what} ${detail.name}`)
      .sort(),
    ['digest grouped', 'digest slack', 'first webhook'],
  )
  t.regex(chat ?? '', /job 100, job 101, .*job 149 and 10 more: http/)
  t.is(requestsAt(sink, '/each').length, CHECKS, 'an integration that keeps records gets one message per check')
  const [grouped] = requestsAt(sink, '/group')
  const notified = JSON.parse(grouped ?? '{}') as { n: number; of: { check: string; name: string; status: string }[] }
  t.is(notified.n, CHECKS)
  t.deepEqual(notified.of.map(({ check }) => check).sort(), checks.map(({ uuid }) => uuid).sort())
  t.is((await db('alert_decisions').where({ outcome: 'suppressed', reason: 'GROUPING' })).length, CHECKS)
  const [decision] = await db('alert_decisions').where({ outcome: 'notified' })
  t.is(decision.channels.filter(({ reason }: { reason: string }) => reason === 'IN_DIGEST').length, 2)

  await flip(product, checks, 'up')
  await eventually('the recoveries to be gathered', async () => {
    const [bundle] = await db('notification_bundles').where({ direction: 'up' })
    const members = await db('notification_bundle_members').where({ bundle_id: bundle?.id ?? null })
    return members.length === CHECKS * 2
  })
  t.is(requestsAt(sink, '/chat').length, 1, 'recoveries are gathered for 30 s')
  await db('notification_bundles').where({ direction: 'up' }).update({ send_at: db.fn.now() })
  await eventually('the digest of recoveries', async () => requestsAt(sink, '/chat').length === 2)
  t.regex(requestsAt(sink, '/chat')[1] ?? '', /60 checks are UP/)
  await eventually('single recoveries', async () => requestsAt(sink, '/each').length === 2 * CHECKS)

  await db('checks').where({ id }).update({ last_ping: db.fn.now() })
  await flip(product, checks.slice(0, 6), 'down')
  await endWait(product, 6)
  await eventually('another digest', async () => requestsAt(sink, '/chat').length === 3)
  t.notRegex(requestsAt(sink, '/chat')[2] ?? '', /may be broken/, 'a ping arrived')
  await flip(product, checks.slice(0, 6), 'up')
  const [after] = await eventually('its recoveries to be gathered', async () => {
    const { rows } =
      await db.raw(`SELECT b.send_at >= (SELECT max(sent_at) FROM notification_bundles WHERE direction = 'up')
        + interval '5 minutes' AS late FROM notification_bundles b WHERE direction = 'up' AND sent_at IS NULL`)
    return rows.length > 0 && rows
  })
  t.true(after.late, 'five minutes after the previous digest of recoveries')
})

test.serial('fewer outages than the policy requires make single messages', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: ['alerter', 'sweeper', 'notifier'] })
  const { db } = product
  const { checks } = await underPolicy(product, sink.url)
  const few = checks.slice(0, 4)
  await flip(product, few, 'down')
  await endWait(product, few.length)
  await eventually('four single messages', async () => requestsAt(sink, '/chat').length === 4)

  const many = checks.slice(10, 20)
  await flip(product, many, 'down')
  await eventually('all to wait', async () => (await db('incidents').where({ suppression: 'GROUPING' })).length === 10)
  await flip(product, many.slice(0, 3), 'up')
  await endWait(product, many.length - 3)
  await eventually('one digest', async () => requestsAt(sink, '/chat').length === 5)
  t.regex(requestsAt(sink, '/chat')[4] ?? '', /7 checks are DOWN/)
  t.is((await db('alert_decisions').where({ reason: 'RECOVERED_FIRST' })).length, 3)
  await flip(product, many.slice(3), 'up')
  await eventually(
    'recoveries',
    async () =>
      (
        await db('notification_bundle_members')
          .join('notification_bundles', 'notification_bundles.id', 'bundle_id')
          .where({ direction: 'up' })
      ).length === 14,
  )
  await db('notification_bundles').where({ direction: 'up' }).update({ send_at: db.fn.now() })
  await eventually('their digest', async () =>
    requestsAt(sink, '/chat').some((text) => text.includes('7 checks are UP')),
  )
})

test.serial('an integration that keeps records gets 500 messages at a time', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: ['alerter', 'sweeper'] })
  const { db, deps } = product
  const { project } = await addProject(deps)
  const group = { checks: 5, within: WITHIN }
  const plan = { ...IMPLICIT_PLAN, group }
  await insertPolicy(db, project.id, { name: 'grouped', match: '*', position: 0, plan })
  const checks = await Promise.all(
    Array.from({ length: 520 }, (_, index) => addCheck(deps, project.id, { name: `job ${index}` })),
  )
  const chat = await addChat(deps, project.id, `${sink.url}/chat`)
  const each = await addWebhook(deps, project.id, `${sink.url}/each`)
  const both = JSON.stringify({ channels: [chat.uuid, each.uuid] })
  const sealedConfig = deps.secrets.seal('integration', both)
  const all = await insertIntegration(db, { projectId: project.id, kind: 'group', name: 'all', sealedConfig })
  await notify(db, checks, [all, each])
  await flip(product, checks, 'down')
  await endWait(product, checks.length)
  const single = () => db('notifications').where({ integration_id: each.id, what: 'first' })
  await eventually('the digest', async () => (await db('notifications').where({ what: 'digest' })).length === 1)
  await eventually('the first 500', async () => (await single()).length === 500)
  t.is((await db('notifications').where({ integration_id: all.id })).length, 0)

  await single().whereIn('id', single().select('id').limit(15)).update({ state: 'delivered', attempts: 1 })
  await eventually('as many as have ended', async () => (await single()).length === 515)
  const notified = new Set((await single()).map(({ check_id: id }) => id))
  const unnotified = checks.filter(({ id }) => !notified.has(id))
  t.is(unnotified.length, 5)
  await flip(product, unnotified, 'up')
  const ended = () => db('incidents').where({ resolution: 'recovered' })
  await eventually('the others to resolve', async () => (await ended()).length === 5)
  await single().update({ state: 'delivered', attempts: 1 })
  const waited = await single().orderBy('created_at', 'desc').first()
  const [latest] = await listDecisions(db, waited.check_id, { from: null, before: null, beforeId: null }, 1)
  t.deepEqual(latest?.channels.map(({ reason, delivery }) => `${reason} ${delivery?.state}`).sort(), [
    'FIRST delivered',
    'IN_DIGEST undefined',
  ])
  await eventually('no pending notification', async () => (await db('pending_notifications')).length === 0)
  t.is((await single()).length, 515)
  t.is((await db('notifications').where({ integration_id: each.id, what: 'recovery' })).length, 0)
})

test.serial('without a grouping delay, every outage and recovery notifies at once', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: ['alerter', 'sweeper', 'notifier'] })
  const { db } = product
  const { checks } = await underPolicy(product, sink.url)
  const some = checks.slice(0, 6)
  await flip(product, some, 'down')
  await endWait(product, some.length)
  await eventually('the digest', async () => requestsAt(sink, '/chat').length === 1)
  const policy = await db('alert_policies').first()
  const plan = { ...IMPLICIT_PLAN, group: { checks: 2, within: 0 } }
  await changePolicy(db, policy.id, { name: 'alone', match: '*', position: 0, plan })

  await flip(product, some, 'up')
  await eventually('six recoveries', async () => requestsAt(sink, '/chat').length === 7)
  await flip(product, some, 'down')
  await eventually('six messages', async () => requestsAt(sink, '/chat').length === 13)
  t.is((await db('alert_decisions').where({ reason: 'GROUPING' })).length, 6, 'only the first outages were delayed')
  t.is((await db('notification_bundles')).length, 1)
})
