import test from 'ava'
import { z } from 'zod'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { addIncident } from '../../support/incidents.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { notifiedOf, withChecks } from './checks-with-webhook.ts'

const WORKERS = ['ping-evaluator', 'alerter', 'notifier', 'sweeper']

test.serial('members are silent while their lead is open, and each sends its own recovery', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { db } = product
  const { checks, post, ping } = await withChecks(product, sink, ['router', 'web', 'shop'])
  const [router, web, shop] = checks
  await post('/policies/', { name: 'p', match: '*', steps: [{}, { wait: 3600 }] })
  for (const check of checks) await ping(check)
  for (const check of checks) await ping(check, '/fail')
  await sink.waitFor(3)
  const idOf = async (check: { id: number } | undefined) =>
    (await db('incidents').where({ check_id: check?.id }).first()).id
  const [lead, second, third] = [await idOf(router), await idOf(web), await idOf(shop)]
  t.is((await post(`/incidents/${second}/merge`, { into: lead })).status, 200)
  t.is((await post(`/incidents/${third}/merge`, { into: lead })).status, 200)
  t.is((await post(`/incidents/${lead}/merge`, { into: second })).text, 'is a member of another incident')
  t.regex((await post(`/incidents/${lead}/merge`, { into: lead })).text, /into must be another incident/)
  await eventually(
    'both to be suppressed',
    async () => (await db('incidents').where({ suppression: 'MERGED' })).length === 2,
  )
  await db('incidents').update({ alert_at: db.raw(`alert_at - interval '2 hours'`), next_at: db.raw('now()') })
  await sink.waitFor(4)
  t.is(notifiedOf(sink)[3], `down ${router?.uuid}`, 'only the lead escalates')

  t.is((await post(`/incidents/${lead}/ack`, { by: 'anna' })).status, 200)
  t.deepEqual(await db('incidents').distinct().pluck('ack_by'), ['anna'])
  await eventually('one decision each', async () => {
    const decided = await db('alert_decisions').where({ reason: 'ACKNOWLEDGED' }).distinct('incident_id')
    return decided.length === 3
  })
  await ping(router)
  await sink.waitFor(5)
  t.is(notifiedOf(sink)[4], `up ${router?.uuid}`)
  const heir = await eventually('the oldest member to lead', () =>
    db('incidents').where({ id: second, lead_id: null }).first(),
  )
  t.like(heir, { state: 'acknowledged', ack_by: 'anna' })
  t.is((await db('incidents').where({ id: third }).first()).lead_id, second)
  for (const check of [web, shop]) await ping(check)
  await sink.waitFor(7)
  t.deepEqual(notifiedOf(sink).slice(5).sort(), [`up ${web?.uuid}`, `up ${shop?.uuid}`].sort())
  t.is((await post(`/incidents/${third}/merge`, { into: second })).text, 'incident is resolved')
})

test.serial('a separated incident continues its plan', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { db } = product
  const { checks, post, ping } = await withChecks(product, sink, ['router', 'web'])
  await post('/policies/', { name: 'p', match: '*', steps: [{ repeat: { every: 3600 } }] })
  for (const check of checks) await ping(check, '/fail')
  await sink.waitFor(2)
  const [lead, member] = await db('incidents').orderBy('n').pluck('id')
  t.is((await post(`/incidents/${member}/unmerge`, {})).text, 'incident is not merged')
  await post(`/incidents/${member}/merge`, { into: lead })
  await eventually('it to be suppressed', () => db('incidents').where({ id: member, suppression: 'MERGED' }).first())
  t.is((await post(`/incidents/${member}/unmerge`, {})).status, 200)
  await eventually('it to continue', () => db('incidents').where({ id: member, suppression: null }).first())
  await db('incidents')
    .where({ id: member })
    .update({ alert_at: db.raw(`alert_at - interval '2 hours'`), next_at: db.raw('now()') })
  await sink.waitFor(3)
})

const Shown = z.object({ members: z.number(), lead: z.string().nullable() })

test.serial('a group has at most 500 members, and one acknowledgement is for all', async (t) => {
  await using product = await openProduct({ listener: 'http' })
  const { db, deps, url } = product
  const { project, rwKey } = await addProject(deps)
  const other = await addProject(deps)
  const add = async (projectId: number) => {
    const check = await addCheck(deps, projectId, { name: 'x' })
    return await addIncident(db, { projectId, checkId: check.id })
  }
  const call = (id: string, verb: string, body: object) =>
    send(url, `/api/v3/incidents/${id}/${verb}`, {
      method: 'POST',
      headers: { 'X-Api-Key': rwKey },
      body: JSON.stringify(body),
    })
  const lead = await add(project.id)
  for (let n = 0; n < 499; n++) await add(project.id)
  await db('incidents')
    .whereNot({ id: lead })
    .update({ lead_id: lead, merged_at: db.raw('now()') })
  const [last, surplus, foreign] = [await add(project.id), await add(project.id), await add(other.project.id)]
  t.is((await call(last, 'merge', { into: lead })).status, 200)
  t.is((await call(surplus, 'merge', { into: lead })).status, 403)
  t.regex((await call(surplus, 'merge', { into: foreign })).text, /into must be an incident of the project/)
  t.is((await call(lead, 'ack', { by: 'anna' })).status, 200)
  t.is((await db('incidents').where({ state: 'acknowledged', ack_by: 'anna' })).length, 501)
  t.is((await db('incident_events').where({ kind: 'ack' })).length, 501)
  t.is((await call(lead, 'unack', {})).status, 200)
  t.is((await db('incidents').where({ state: 'acknowledged' })).length, 0)
  const shown = await send(url, `/api/v3/incidents/${lead}`, { headers: { 'X-Api-Key': rwKey } })
  t.deepEqual(Shown.parse(jsonOf(shown)), { members: 500, lead: null })
})
