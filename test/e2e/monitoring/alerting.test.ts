import { randomUUID } from 'node:crypto'
import test from 'ava'
import { z } from 'zod'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'

let app: HttpProduct
test.before(async () => {
  app = await openProduct({
    listener: 'http',
    hasRowSecurity: true,
    workers: ['ping-evaluator', 'notifier', 'sweeper'],
  })
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
})

const BODY = '$NAME $STATUS $SEVERITY $STEP $REPEAT $INCIDENT $ACK_URL'

/** Creates a project with one check under one policy, whose integrations send to the sink. */
async function openScenario(sink: HttpSink, policy: Record<string, unknown>, names: readonly string[] = ['chat']) {
  const { project, rwKey, roKey } = await addProject(app.deps)
  const headers = { 'X-Api-Key': rwKey }
  const call = async (method: string, path: string, body?: unknown, key = rwKey) => {
    const sent = await send(app.url, `/api/v3${path}`, {
      method,
      headers: { 'X-Api-Key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: sent.status, text: sent.text, json: sent.text.startsWith('{') ? object(jsonOf(sent)) : {} }
  }
  for (const name of names) {
    const url = `${sink.url}/${name}`
    const side = (way: string) => ({ [`url_${way}`]: url, [`method_${way}`]: 'POST', [`body_${way}`]: BODY })
    await call('POST', '/channels/', { kind: 'webhook', name, config: { ...side('down'), ...side('up') } })
  }
  const made = await call('POST', '/policies/', { name: 'On call', match: 'prod', ...policy })
  const check = (await call('POST', '/checks/', { name: 'db-backup', tags: 'prod', channels: '*' })).json
  const ping = async (what: string) => {
    await send(app.url, `${new URL(String(check.ping_url)).pathname}${what}`)
  }
  const incidents = async () =>
    z.array(z.record(z.string(), z.unknown())).parse((await call('GET', '/incidents/')).json.incidents)
  const incident = async () => {
    const [first] = await eventually('an incident', async () => {
      const found = await incidents()
      return found.length > 0 && found
    })
    return object(first)
  }
  /** Moves the incident into the past instead of waiting. */
  const pass = async (seconds: number) => {
    const span = `interval '${seconds} seconds'`
    await app.deps.db.raw(
      `UPDATE incidents SET alert_at = alert_at - ${span}, evaluated_at = evaluated_at - ${span}, down_at = down_at - ${span},
         next_at = now() WHERE resolved_at IS NULL AND project_id = ?`,
      [project.id],
    )
  }
  return { project, headers, roKey, call, check, policy: made.json, ping, incident, incidents, pass }
}

function object(value: unknown): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(value)
}

test('a policy escalates, repeats, stops after an acknowledgement and sends recoveries', async (t) => {
  await using sink = await openHttpSink()
  const steps = [
    { wait: 0, channels: 'chat', repeat: { every: 3600 } },
    { wait: 900, channels: 'phone', severity: 'critical' },
  ]
  const it = await openScenario(sink, { steps }, ['chat', 'phone'])
  await it.ping('')
  await it.ping('/fail')
  const first = await sink.waitFor(1)
  const { id } = await it.incident()
  const text = first.body.toString().split(' ')
  t.deepEqual(text.slice(0, 6), ['db-backup', 'down', 'critical', '1', '0', String(id)])
  t.is(first.path, '/chat')
  t.is(first.headers['x-signalbox-incident'], String(id))
  await it.pass(900)
  t.is((await sink.waitFor(2)).path, '/phone')
  await it.pass(2700)
  const third = await sink.waitFor(3)
  t.is(third.body.toString().split(' ').slice(3, 5).join(' '), '1 1', 'the first repeat of step 1')

  const link = new URL(String(text[6])).pathname
  for (let n = 0; n < 20; n++) t.is((await send(app.url, link, { method: n % 2 === 0 ? 'GET' : 'HEAD' })).status, 200)
  t.is((await it.incident()).state, 'alerting', 'opening the link acknowledges nothing')
  const page = await send(app.url, link)
  t.regex(link, /^\/a\/[\w-]{22}$/)
  t.regex(page.text, /Acknowledge/)
  await it.pass(3600)
  await sink.waitFor(4)
  t.is((await send(app.url, link, { method: 'POST', body: 'do=ack' })).status, 303)
  t.like(await it.incident(), { state: 'acknowledged' })
  t.like((await it.incident()).ack, { by: 'through chat', via: 'link' })
  await eventually('the acknowledgement to apply', async () => (await it.incident()).suppression === 'ACKNOWLEDGED')
  await it.pass(7200)
  await it.ping('')
  await sink.waitFor(6)
  t.deepEqual(
    sink.requests
      .slice(4)
      .map(({ path, body }) => `${path} ${body.toString().split(' ')[1]}`)
      .sort(),
    ['/chat up', '/phone up'],
  )
  t.like(await it.incident(), { state: 'resolved', resolution: 'recovered' })
})

test('actions on an incident are in its timeline, and invalid ones are refused', async (t) => {
  await using sink = await openHttpSink()
  const it = await openScenario(sink, { steps: [{}] })
  await it.ping('/fail')
  await sink.waitFor(1)
  const { id } = await it.incident()
  const act = (verb: string, body: unknown = {}) => it.call('POST', `/incidents/${id}/${verb}`, body)
  t.deepEqual(await act('unack').then(({ status, text }) => [status, text]), [409, 'incident is not acknowledged'])
  t.like((await act('ack', { by: 'anna@example.org', note: 'on it' })).json, { state: 'acknowledged' })
  t.like((await act('ack', { by: 'bob@example.org' })).json.ack, { by: 'anna@example.org', via: 'api' })
  t.like((await act('unack')).json, { state: 'alerting', ack: null })
  t.is((await act('note', { text: 'disk full' })).status, 200)
  t.is((await act('report', { text: 'It was the disk.' })).json.report, 'It was the disk.')
  t.deepEqual((await act('note', { text: '' })).json, { error: 'json validation error: text must not be empty' })
  t.deepEqual((await act('note', {})).json, { error: 'json validation error: text is required' })
  t.deepEqual((await act('ack', { bye: 1 })).json, { error: 'json validation error: bye is not a known member' })
  t.deepEqual((await act('assign', { to: 'unknown@example.org' })).json, {
    error: 'json validation error: to must be the address of a member',
  })
  const { db } = app.deps
  const to = `${randomUUID()}@example.org`
  const user = await insertUser(db, { email: to, name: 'Anna', passwordHash: null })
  await insertMembership(db, { organisationId: it.project.organisationId, userId: user?.id ?? 0, role: 'member' })
  t.like(await act('assign', { to }), { status: 409, text: `${to} cannot be reached` })
  t.is((await act('assign', { to, notify: false })).json.assignee, to)
  t.is((await act('assign', { to: null })).json.assignee, null)
  const timeline = z
    .array(z.object({ kind: z.string(), text: z.string() }))
    .parse((await it.call('GET', `/incidents/${id}`)).json.timeline)
  const texts = timeline.map(({ kind, text }) => `${kind}: ${text}`)
  t.is(texts[0], 'opened: Down: a failure was reported')
  t.regex(texts[1] ?? '', /^notified: Notif(?:ied|ying) .*\(Webhook, step 1\)/)
  const kinds = timeline.map(({ kind }) => kind).filter((kind) => !/opened|failure|notified|suppressed/.test(kind))
  t.deepEqual(kinds, ['acknowledged', 'unacknowledged', 'note', 'report', 'assigned', 'assigned'])
  t.true(texts.includes('acknowledged: Acknowledged by anna@example.org: on it'))
  await it.ping('')
  await sink.waitFor(2)
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  await db.raw('UPDATE incidents SET down_at = ? WHERE id = ?', [ago(4500), String(id)])
  const gap = { listener: 'http', shards: 1, kind: 'full', cause: 'nothing listened' }
  await db('coverage_gaps').insert([
    { ...gap, from_at: ago(4560), until_at: ago(4530) },
    { ...gap, from_at: ago(4510), until_at: ago(4440) },
  ])
  const row = z.looseObject({ kind: z.string(), at: z.string() })
  const seen = z.array(row).parse((await it.call('GET', `/incidents/${id}`)).json.timeline)
  t.like(seen[0], { kind: 'coverage', text: 'Pings could not be received (nothing listened)' })
  // A busy machine may have had later gaps.
  const early = seen.filter(({ kind, at }) => kind === 'coverage' && Date.parse(at) < ago(4400).getTime())
  t.is(early.length, 1, 'a gap before the incident is omitted')
  t.true(seen.some(({ kind }) => kind === 'resolved'))
  t.deepEqual(await act('ack').then(({ status, text }) => [status, text]), [409, 'incident is resolved'])
  t.is((await act('report', { text: 'Afterwards.' })).json.report, 'Afterwards.')
  await app.deps.db('incident_events').insert(Array.from({ length: 193 }, () => ({ incident_id: id, kind: 'note' })))
  t.is((await act('note', { text: 'one too many' })).status, 403)
})

test('each decision has a sentence and the outcome of its messages', async (t) => {
  await using sink = await openHttpSink()
  const it = await openScenario(sink, { when: { failures: 2 }, steps: [{}] })
  await it.ping('')
  await it.ping('/fail')
  await it.incident()
  await it.ping('/fail')
  await sink.waitFor(1)
  await it.ping('')
  await sink.waitFor(2)
  const decisions = await eventually('both messages to be recorded', async () => {
    const { decisions } = (await it.call('GET', `/checks/${it.check.uuid}/decisions/`)).json
    return (
      JSON.stringify(decisions).split('"delivered"').length === 3 &&
      z.array(z.record(z.string(), z.unknown())).parse(decisions)
    )
  })
  t.deepEqual(
    decisions.map(({ outcome, reason, text }) => `${outcome} ${reason}: ${text}`),
    [
      'notified RECOVERY: Notified: it is up again.',
      'notified FIRST: Notified: the conditions of the policy were met.',
      'suppressed FAILURES: Not notified: 1 of 2 failures so far.',
      'none FIRST_SUCCESS: Not notified: the first successful ping does not trigger a notification.',
    ],
  )
  const second = z.object({ next: z.string(), decisions: z.array(z.unknown()) })
  const page = second.parse((await it.call('GET', `/checks/${it.check.uuid}/decisions/?limit=2`)).json)
  t.is(page.decisions.length, 2)
  const rest = (await it.call('GET', `/checks/${it.check.uuid}/decisions/?before=${page.next}`)).json
  t.is(z.array(z.unknown()).parse(rest.decisions).length, 2)
  t.is(rest.next, null)
})

test('a flip without a notification also has a decision', async (t) => {
  await using sink = await openHttpSink()
  const it = await openScenario(sink, { steps: [{}] })
  const { db } = app.deps
  const { id } = await db('checks').where({ uuid: it.check.uuid }).first('id')
  await it.ping('')
  await eventually('the check to be up', async () => (await db('checks').where({ id }).first()).status === 'up')
  await it.call('POST', `/checks/${it.check.uuid}/pause`, {})
  await it.call('POST', `/checks/${it.check.uuid}/resume`, {})
  await it.call('POST', `/checks/${it.check.uuid}/pause`, {})
  await it.ping('')
  const decisions = await eventually('the last flip to be decided', async () => {
    const { decisions } = (await it.call('GET', `/checks/${it.check.uuid}/decisions/`)).json
    const read = z.array(z.record(z.string(), z.unknown())).parse(decisions)
    return read.length === 5 && read
  })
  t.deepEqual(
    decisions.map(({ outcome, reason, text }) => `${outcome} ${reason}: ${text}`),
    [
      'none WAS_PAUSED: Not notified: it was paused before.',
      'none PAUSED: Not notified: it was paused.',
      'none RESUMED: Not notified: it was resumed.',
      'none PAUSED: Not notified: it was paused.',
      'none FIRST_SUCCESS: Not notified: the first successful ping does not trigger a notification.',
    ],
  )
  // One decision per flip.
  const flips = await db('flips').where({ check_id: id }).orderBy('id').pluck('id')
  t.deepEqual(await db('alert_decisions').where({ check_id: id }).orderBy('id').pluck('flip_id'), flips)
})

test('lists of incidents have filters, pages and a reduced view for read-only keys', async (t) => {
  await using sink = await openHttpSink()
  const it = await openScenario(sink, { steps: [{}] })
  for (let n = 0; n < 3; n++) {
    await it.ping('/fail')
    await it.ping('')
    await eventually('the incident to resolve', async () => (await it.incidents()).length === n + 1)
  }
  const list = async (query: string, key?: string) =>
    z
      .object({ incidents: z.array(z.record(z.string(), z.unknown())), next: z.string().nullable() })
      .parse((await it.call('GET', `/incidents/${query}`, undefined, key)).json)
  await eventually('all incidents to resolve', async () => (await list('?state=resolved')).incidents.length === 3)
  t.is((await list('?state=open')).incidents.length, 0)
  t.is((await list('?tag=prod')).incidents.length, 3)
  t.is((await list('?tag=pro')).incidents.length, 0)
  t.is((await list(`?check=${it.check.uuid}&limit=2`)).incidents.length, 2)
  const now = Math.floor(Date.now() / 1000)
  const [oldest] = await app.db('incidents').where({ project_id: it.project.id }).orderBy('n').limit(1).pluck('id')
  await app
    .db('incidents')
    .where({ id: oldest })
    .update({ down_at: new Date((now - 7200) * 1000) })
  const idsOf = async (query: string) => (await list(query)).incidents.map(({ id }) => id)
  t.deepEqual(await idsOf(`?end=${now - 3600}`), [oldest], 'older than the end')
  t.is((await idsOf(`?start=${now - 3600}`)).length, 2)
  t.deepEqual(await idsOf(`?start=${now - 7200}&end=${now - 7199}`), [oldest], 'not older than the start')
  t.deepEqual(await idsOf(`?start=${now - 9000}&end=${now - 7200}`), [])
  const { next, incidents } = await list('?limit=2')
  t.is((await list(`?before=${next}`)).incidents.length, 1)
  t.is(incidents[0]?.previous, incidents[1]?.id)
  t.regex((await it.call('GET', '/incidents/?limit=101')).text, /^{"error":"json validation error: limit must be/)
  t.is((await it.call('GET', '/incidents/?state=over')).status, 400)
  const reduced = (await list('', it.roKey)).incidents[0]
  t.false(JSON.stringify(reduced).includes(String(it.check.uuid)))
  t.deepEqual(
    ['assignee', 'ack', 'report', 'check', 'policy'].filter((name) => name in object(reduced)),
    [],
  )
  const one = (await it.call('GET', `/incidents/${reduced?.id}`, undefined, it.roKey)).json
  t.false('timeline' in one)
})

test('does not retry a DOWN message after the UP message', async (t) => {
  await using sink = await openHttpSink()
  const it = await openScenario(sink, { match: '', steps: [{}] })
  sink.enqueue({ status: 500, headers: { 'retry-after': '3600' } })
  await it.ping('/fail')
  await sink.waitFor(1)
  await eventually('the attempt to be recorded', () =>
    app.deps.db('notifications').where({ state: 'pending', attempts: 1 }).whereNull('lease_until').first(),
  )
  await it.ping('')
  await sink.waitFor(2)
  const [down] = await app.deps.db('notifications').where({ check_status: 'down', state: 'suppressed' }).select('error')
  t.is(down?.error, 'Superseded')
  t.deepEqual(
    sink.requests.map(({ body }) => body.toString().split(' ')[1]),
    ['down', 'up'],
  )
})
