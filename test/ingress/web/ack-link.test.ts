import { randomUUID } from 'node:crypto'
import test from 'ava'
import { ackLinkOf } from '#shared/monitoring/notifications/ack-link.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addIntegration, addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

const MINUTE = 60_000

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct({ env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
})

let scenarios = 0

/** Stores a sent message about checks that went down. Each scenario has an address, because requests are limited. */
async function openScenario(names: readonly string[], isBundle = false) {
  const { db, secrets } = app.deps
  const { project } = await addProject(app.deps)
  const { id: integrationId } = await addIntegration(app.deps, project.id, 'On-call')
  const ids: string[] = []
  const past = (ms: number) => new Date(Date.now() - ms)
  for (const name of names) {
    const check = await addCheck(app.deps, project.id, { name, tz: 'Asia/Kolkata' })
    const id = randomUUID()
    const times = { down_at: past(26 * MINUTE), alert_at: past(26 * MINUTE) }
    await db('incidents').insert({
      id,
      project_id: project.id,
      check_id: check.id,
      state: 'alerting',
      is_direct: false,
      notified: JSON.stringify([1]),
      severity: 'critical',
      ...times,
    })
    ids.push(id)
  }
  const [only] = ids
  const id = randomUUID()
  const { path, digest } = ackLinkOf(id, secrets.digest)
  const bundleId = isBundle ? randomUUID() : null
  const bundle = { id: bundleId, project_id: project.id, policy_id: 1, direction: 'down', opened_at: past(0) }
  if (isBundle) {
    await db('notification_bundles').insert({ ...bundle, sent_at: past(0) })
    for (const incident_id of ids)
      await db('notification_bundle_members').insert({
        bundle_id: bundleId,
        integration_id: integrationId,
        incident_id,
        included: true,
      })
  }
  await db('notifications').insert({
    id,
    integration_id: integrationId,
    check_status: 'down',
    what: isBundle ? 'digest' : 'first',
    state: 'delivered',
    incident_id: isBundle ? null : only,
    bundle_id: bundleId,
    link_digest: digest,
  })
  const incidents = () => db('incidents').whereIn('id', ids).orderBy('n')
  const headers = { 'X-Forwarded-For': `192.0.2.${++scenarios}` }
  const act = (body?: string, method = 'POST', suffix = '') =>
    send(app.url, path + suffix, { method, headers, ...(body !== undefined && { body }) })
  /** Moves the acknowledgement into the past instead of waiting. */
  const age = (minutes: number) =>
    db('incidents')
      .whereIn('id', ids)
      .update({ ack_at: past(minutes * MINUTE) })
  return { incidents, act, age, project }
}

test.serial('the page of a link shows the incident in less than 20 kB without scripts', async (t) => {
  const { act, project } = await openScenario(['db-backup'])
  const page = await act(undefined, 'GET')
  t.is(page.status, 200)
  const text = page.text.replaceAll('&#39;', "'")
  for (const part of [
    />Down</,
    /db-backup/,
    /Down for 26 min \(since (?:\d{1,2} \w{3}, )?\d\d:\d\d GMT\+5:30\)/,
    />critical</,
    />On-call</,
  ])
    t.regex(text, part)
  t.regex(text, /name="do" value="ack"[^>]*>Acknowledge</)
  t.regex(text, /name="do" value="snooze"[^>]*>Mute 1 h</)
  t.regex(text, /href="\/incidents\/[0-9a-f-]{36}"[^>]*>Open incident</)
  t.notRegex(text, /<script|style=|escalate/)
  t.is(page.headers['set-cookie'], undefined)
  t.is(page.headers['x-robots-tag'], 'noindex')
  t.is(page.headers['referrer-policy'], 'no-referrer')
  const style = /rel="stylesheet" href="([^"]+)"/.exec(text)?.[1] ?? ''
  t.true(page.bytes.byteLength + (await send(app.url, style)).bytes.byteLength < 20_000)
  t.false(text.includes(String(project.uuid)))
})

test.serial('previews and bare POST requests change nothing; one POST with the field acknowledges', async (t) => {
  const { act, incidents } = await openScenario(['db-backup'])
  for (const [method, body, status] of [
    ['GET', undefined, 200],
    ['HEAD', undefined, 200],
    ['POST', undefined, 400],
    ['POST', 'do=', 400],
    ['POST', 'do=delete', 400],
    ['POST', 'do=escalate', 303],
    ['POST', 'List-Unsubscribe=One-Click', 400],
    ['POST', `do=ack&${'x'.repeat(2000)}`, 413],
  ] as const) {
    t.is((await act(body, method)).status, status, `${method} ${body?.slice(0, 30)}`)
    t.is((await incidents())[0].state, 'alerting')
  }
  t.is((await act('do=ack')).status, 303)
  t.like((await incidents())[0], { state: 'acknowledged', ack_by: 'through On-call', ack_via: 'link', ack_until: null })
  t.regex((await act(undefined, 'GET')).text, />Acknowledged<.*via On-call,.*value="unack"[^>]*>Undo</s)
})

test.serial('only the same link can undo an acknowledgement, for 10 minutes', async (t) => {
  const it = await openScenario(['db-backup'])
  await it.act('do=ack')
  await it.age(9)
  t.is((await it.act('do=unack')).status, 303)
  t.is((await it.incidents())[0].state, 'alerting')
  await it.act('do=ack')
  await it.age(11)
  await it.act('do=unack')
  t.is((await it.incidents())[0].state, 'acknowledged')
  t.notRegex((await it.act(undefined, 'GET')).text, /Undo/)
  await app.deps.db('incidents').where({ project_id: it.project.id }).update({ ack_at: new Date(), ack_via: 'page' })
  await it.act('do=unack')
  t.is((await it.incidents())[0].state, 'acknowledged', 'acknowledged on a page')
})

test.serial('muting acknowledges for one hour', async (t) => {
  const { act, incidents } = await openScenario(['db-backup'])
  await act('do=snooze')
  const [{ state, ack_at: at, ack_until: until }] = await incidents()
  t.is(state, 'acknowledged')
  t.is(Math.round((until - at) / 1000), 3600)
})

test.serial('the button or key 2 sends the next step at once', async (t) => {
  for (const [body, suffix] of [
    ['do=escalate', ''],
    ['Digits=2', '/keys'],
  ] as const) {
    const { act, incidents, project } = await openScenario(['db-backup'])
    t.notRegex((await act(undefined, 'GET')).text, /Escalate now/)
    await app.deps.db('incidents').where({ project_id: project.id }).update({ notified: '[]' })
    t.regex((await act(undefined, 'GET')).text, /value="escalate"[^>]*>Escalate now</)
    await act(body, 'POST', suffix)
    t.is((await incidents())[0].is_escalating, true, body)
    t.notRegex((await act(undefined, 'GET')).text, /Escalate now/)
  }
})

test.serial('the link of a bundle lists and acknowledges all of its open incidents', async (t) => {
  const { act, incidents } = await openScenario(['one', 'two', 'three'], true)
  await app.deps
    .db('incidents')
    .where({ id: (await incidents())[2].id })
    .update({ state: 'resolved', resolved_at: new Date() })
  t.regex((await act(undefined, 'GET')).text, /2 checks are down.*one.*two.*three.*Acknowledge all 2</s)
  await act('do=ack')
  t.deepEqual(
    (await incidents()).map(({ state }) => state),
    ['acknowledged', 'acknowledged', 'resolved'],
  )
})

test.serial('key 1 in a call acknowledges, other keys repeat the message', async (t) => {
  const { act, incidents } = await openScenario(['db-backup'])
  const press = (body: string, method = 'POST') => act(body, method, '/keys')
  t.is((await press('', 'GET')).status, 404)
  t.regex((await press('Digits=5')).text, /^<Response>.*db-backup is down\./)
  t.is((await incidents())[0].state, 'alerting')
  const pressed = await press('Digits=1')
  t.is(pressed.headers['content-type'], 'text/xml; charset=utf-8')
  t.is(pressed.text, '<Response><Say>Acknowledged.</Say></Response>')
  t.is((await incidents())[0].state, 'acknowledged')
})

test.serial('the page and the list of a bundle state that no further notification follows', async (t) => {
  for (const [names, sentence] of [
    [['one'], /<p>No further notification until it is up again\.<\/p>/],
    [['one', 'two'], /<p>No further notification for 1 of them until they are up again\.<\/p>/],
  ] as const) {
    const { act, incidents } = await openScenario(names, names.length > 1)
    t.notRegex((await act(undefined, 'GET')).text, /No further notification/)
    const [{ id }] = await incidents()
    await app.deps.db('incidents').where({ id }).update({ exhausted_at: new Date() })
    t.regex((await act(undefined, 'GET')).text, sentence)
    await act('do=ack')
    t.notRegex((await act(undefined, 'GET')).text, /No further notification/)
  }
})

test.serial('the link shows a resolved incident for 7 days, then 404', async (t) => {
  const { act, incidents } = await openScenario(['db-backup'])
  const resolve = (days: number) =>
    app.deps
      .db('incidents')
      .where('id', id)
      .update({ state: 'resolved', resolved_at: new Date(Date.now() - days * 86_400_000) })
  const [{ id }] = await incidents()
  await resolve(6)
  t.regex((await act(undefined, 'GET')).text, />Resolved</)
  const ack = { ack_at: new Date(), ack_by: 'through On-call', ack_via: 'link' }
  await app.deps.db('incidents').where({ id }).update(ack)
  t.regex((await act(undefined, 'GET')).text, /<dt>Acknowledged<\/dt><dd>via On-call, [^<]* GMT\+5:30</)
  await act('do=ack')
  t.is((await incidents())[0].state, 'resolved')
  await resolve(8)
  t.is((await act(undefined, 'GET')).status, 404)
  t.is((await act('do=ack')).status, 404)
})
