import { randomUUID } from 'node:crypto'
import test from 'ava'
import { z } from 'zod'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { addIncident } from '../../support/incidents.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const List = z.object({ incidents: z.array(z.looseObject({ id: z.string() })) })

async function setUp() {
  const { project, rwKey, roKey } = await addProject(app.deps)
  const call = (method: string, path: string, body?: unknown, key = rwKey) =>
    send(app.url, `/api/v3/incidents/${path}`, {
      method,
      headers: { 'X-Api-Key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const add = async (name: string, columns: Record<string, unknown> = {}) => {
    const check = await addCheck(app.deps, project.id, { name })
    return await addIncident(app.db, { projectId: project.id, checkId: check.id }, columns)
  }
  const idsOf = async (query: string) => List.parse(jsonOf(await call('GET', query))).incidents.map(({ id }) => id)
  return { project, roKey, call, add, idsOf }
}

test('the list filters by state, severity, person and part of the name', async (t) => {
  const { call, add, idsOf, roKey } = await setUp()
  const resolved = await add('old', { state: 'resolved', resolution: 'recovered', resolved_at: app.db.raw('now()') })
  const ack = { state: 'acknowledged', ack_at: new Date(), ack_by: 'Anna@example.org', suppression: 'ACKNOWLEDGED' }
  const acknowledged = await add('search_index', ack)
  const suppressed = await add('backup', { suppression: 'MAINTENANCE', severity: 'info' })
  const alerting = await add('billing')
  t.deepEqual(await idsOf('?state=open'), [alerting, suppressed, acknowledged])
  t.deepEqual(await idsOf('?state=alerting'), [alerting])
  t.deepEqual(await idsOf('?state=suppressed'), [suppressed])
  t.deepEqual(await idsOf('?state=acknowledged'), [acknowledged])
  t.deepEqual(await idsOf('?state=resolved'), [resolved])
  t.deepEqual(await idsOf('?severity=info'), [suppressed])
  t.deepEqual(await idsOf('?person=anna@example.org'), [acknowledged])
  t.deepEqual(await idsOf('?q=H_I'), [acknowledged], 'a wildcard of SQL is a character')
  t.is((await call('GET', `?policy=${randomUUID()}`)).status, 404)
  t.regex((await call('GET', '?severity=fatal')).text, /severity must be one of info, warning, critical/)
  const reduced = List.parse(jsonOf(await call('GET', '?person=anna@example.org', undefined, roKey))).incidents
  t.is(reduced.length, 4, 'a read-only key cannot search for people')
  t.true(reduced.every((incident) => !('ack_seconds' in incident) && 'duration' in incident))
})

test('an incident states its duration and the time to its first acknowledgement', async (t) => {
  const { call, add } = await setUp()
  const id = await add('billing', { minutes: 20 })
  await call('POST', `${id}/ack`, { by: 'anna@example.org' })
  await app
    .db('incident_events')
    .where({ incident_id: id })
    .update({ at: app.db.raw(`now() - interval '15 minutes'`) })
  await app
    .db('incidents')
    .where({ id })
    .update({ resolved_at: app.db.raw(`down_at + interval '90 seconds'`) })
  t.like(jsonOf(await call('GET', id)), { duration: 90, ack_seconds: 300 })
})

test('an incident is exhausted when neither its plan nor its fallback has an entry left', async (t) => {
  const { project, call, add } = await setUp()
  const plan = { ...IMPLICIT_PLAN, fallback: { wait: 600, people: [], channels: [randomUUID()] } }
  const [policy] = await app
    .db('alert_policies')
    .insert({ project_id: project.id, name: 'P', match: '', plan: JSON.stringify(plan) })
    .returning('id')
  const id = await add('billing', { is_direct: false, policy_id: policy.id })
  const isExhausted = async (columns: Record<string, unknown>) => {
    await app.db('incidents').where({ id }).update(columns)
    return z.object({ exhausted: z.boolean() }).parse(jsonOf(await call('GET', id))).exhausted
  }
  t.false(await isExhausted({ exhausted_at: null }))
  t.false(await isExhausted({ exhausted_at: new Date() }), 'the fallback follows')
  t.true(await isExhausted({ sequences: JSON.stringify({ isFallbackUsed: true }) }))
  t.false(await isExhausted({ state: 'acknowledged', ack_at: new Date(), ack_by: 'anna' }))
})

test('a bulk acknowledgement answers per incident and touches no other project', async (t) => {
  const { call, add } = await setUp()
  const other = await setUp()
  const [open, foreign] = [await add('billing'), await other.add('theirs')]
  const resolved = await add('old', { state: 'resolved', resolution: 'recovered', resolved_at: app.db.raw('now()') })
  const answer = await call('POST', 'ack', { ids: [open, resolved, foreign], by: 'Anna', note: 'on it' })
  t.deepEqual(jsonOf(answer), {
    incidents: [
      { id: open, error: null },
      { id: resolved, error: 'incident is resolved' },
      { id: foreign, error: 'incident is not known' },
    ],
  })
  t.like(jsonOf(await call('GET', open)), { state: 'acknowledged', ack: { by: 'Anna' } })
  t.like(jsonOf(await other.call('GET', foreign)), { state: 'alerting', ack: null })
  t.regex((await call('POST', 'ack', { ids: ['x'] })).text, /ids\[0\] must be the id of an incident/)
  t.regex((await call('POST', 'ack', { ids: Array(101).fill(open) })).text, /ids must have at most 100 elements/)
  t.regex((await call('POST', 'ack', { ids: [open], until: 1 })).text, /until is not a known member/)
})
