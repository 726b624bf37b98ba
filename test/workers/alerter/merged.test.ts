import test from 'ava'
import type { Knex } from 'knex'
import { z } from 'zod'
import { promoteMembers } from '#shared/monitoring/alerting/merge-store.ts'
import { transferCheck } from '#shared/monitoring/operations/projects.ts'
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

/** Open members whose lead is resolved or has an open lead too. */
const invalidMembers = (db: Knex) =>
  db('incidents as m')
    .join('incidents as lead', 'lead.id', 'm.lead_id')
    .leftJoin('incidents as above', 'above.id', 'lead.lead_id')
    .whereNull('m.resolved_at')
    .andWhere((either) =>
      either.whereNotNull('lead.resolved_at').orWhereRaw('above.id IS NOT NULL AND above.resolved_at IS NULL'),
    )

async function withoutAlerter() {
  const product = await openProduct({ listener: 'http' })
  const { db, deps, url } = product
  const { project, rwKey } = await addProject(deps)
  const add = async () => addIncident(db, { projectId: project.id, checkId: (await addCheck(deps, project.id)).id })
  const merge = async (id: string, into: string) => {
    const headers = { 'X-Api-Key': rwKey }
    return await send(url, `/api/v3/incidents/${id}/merge`, { method: 'POST', headers, body: JSON.stringify({ into }) })
  }
  const uuidOf = async (id: string): Promise<string> => {
    const check = await db('checks').whereIn('id', db('incidents').where({ id }).select('check_id')).first('uuid')
    return check.uuid
  }
  /** Deletes the check of an incident. */
  const remove = async (id: string) => {
    const path = `/api/v3/checks/${await uuidOf(id)}`
    await send(url, path, { method: 'DELETE', headers: { 'X-Api-Key': rwKey } })
  }
  /** Moves the check of an incident to another project. */
  const move = async (id: string) => {
    const { project: to } = await addProject(deps)
    const actor = { kind: 'operator', name: 'tester' } as const
    await transferCheck(db, actor, { uuid: await uuidOf(id), from: project, to }, deps)
  }
  /** Resolves an incident as the alerter does. */
  const resolve = async (tx: Knex, id: string) => {
    await tx('incidents')
      .where({ id })
      .update({ state: 'resolved', resolved_at: tx.raw('now()'), next_at: null })
    await promoteMembers(tx, [id])
  }
  const blocked = () =>
    eventually('a transaction to wait for the lock', async () => {
      const { rows } = await db.raw(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      )
      return rows.length > 0
    })
  return { product, db, add, merge, remove, move, resolve, blocked }
}

test.serial('concurrent merges and ends leave neither a chain nor a member of a resolved lead', async (t) => {
  const { product, db, add, merge, resolve } = await withoutAlerter()
  await using _ = product
  const ids: string[] = []
  while (ids.length < 8) ids.push(await add())
  const pairs = ids.flatMap((id) => ids.filter((into) => into !== id).map((into) => [id, into] as const))
  for (let round = 0; round < 4; round++) {
    const chosen = pairs.filter((_pair, index) => index % 4 === round)
    const ended = ids[round] ?? ''
    const [answers] = await Promise.all([
      Promise.all(chosen.map(([id, into]) => merge(id, into))),
      db.transaction((tx) => resolve(tx, ended)),
    ])
    for (const { status, text } of answers) t.true(status === 200 || status === 409, `${status} ${text}`)
    t.deepEqual(await invalidMembers(db), [])
  }
  t.true((await db('incidents').whereNotNull('lead_id')).length > 0)
})

test.serial('a merge waits for an end of one of both incidents, and is refused', async (t) => {
  const { product, db, add, merge, resolve, blocked } = await withoutAlerter()
  await using _ = product
  for (const ends of ['the lead', 'the member']) {
    const [lead, member] = [await add(), await add()]
    const resolving = await db.transaction()
    await resolve(resolving, ends === 'the lead' ? lead : member)
    const merging = merge(member, lead)
    await blocked()
    await resolving.commit()
    t.is((await merging).text, 'incident is resolved', ends)
    t.is((await db('incidents').where({ id: member }).first()).lead_id, null)
  }
})

test.serial('a member that ends together with its lead does not become the next lead', async (t) => {
  const { product, db, add, merge, resolve, blocked } = await withoutAlerter()
  await using _ = product
  const [lead, oldest, second, third] = [await add(), await add(), await add(), await add()]
  for (const id of [oldest, second, third]) t.is((await merge(id, lead)).status, 200)
  const resolving = await db.transaction()
  await resolve(resolving, oldest)
  const ending = db.transaction((tx) => resolve(tx, lead))
  await blocked()
  await resolving.commit()
  await ending
  t.is((await db('incidents').where({ id: second }).first()).lead_id, null)
  t.is((await db('incidents').where({ id: third }).first()).lead_id, second)
  t.deepEqual(await invalidMembers(db), [])
})

for (const [change, name] of [
  ['remove', 'deleted'],
  ['move', 'moved to another project'],
] as const)
  test.serial(`after the check of a lead was ${name}, the oldest member leads the others and is due`, async (t) => {
    const { db, add, ...helpers } = await withoutAlerter()
    await using _ = helpers.product
    const { merge } = helpers
    const [lead, oldest, second] = [await add(), await add(), await add()]
    for (const id of [oldest, second]) t.is((await merge(id, lead)).status, 200)
    await db('incidents').update({ next_at: db.raw("now() + interval '1 hour'") })
    await helpers[change](lead)
    t.is((await db('incidents').where({ id: oldest }).first()).lead_id, null)
    t.is((await db('incidents').where({ id: second }).first()).lead_id, oldest)
    t.is((await db('incidents').whereIn('id', [oldest, second]).where('next_at', '<=', db.fn.now())).length, 2)
    t.deepEqual(await invalidMembers(db), [])
  })

test.serial('members are notified again after their lead ended during the merge', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { db } = product
  const names = ['router 1', 'web 1', 'router 2', 'web 2', 'router 3', 'web 3']
  const { checks, post, ping } = await withChecks(product, sink, names)
  await post('/policies/', { name: 'p', match: '*', steps: [{}, { wait: 3600 }] })
  for (const check of checks) await ping(check, '/fail')
  await sink.waitFor(6)
  const idOf = async ({ id }: { id: number }) => (await db('incidents').where({ check_id: id }).first()).id
  const pairs = [0, 1, 2].flatMap((n) => {
    const [lead, member] = checks.slice(n * 2)
    return lead && member ? [{ lead, member }] : []
  })
  for (const { lead, member } of pairs) {
    const [id, into] = [await idOf(member), await idOf(lead)]
    const [answer] = await Promise.all([post(`/incidents/${id}/merge`, { into }), ping(lead)])
    t.true(answer.status === 200 || answer.text === 'incident is resolved', answer.text)
  }
  await sink.waitFor(9)
  await db('incidents')
    .whereNull('resolved_at')
    .update({ alert_at: db.raw(`alert_at - interval '2 hours'`), next_at: db.raw('now()') })
  await sink.waitFor(12)
  t.deepEqual(notifiedOf(sink).slice(9).sort(), pairs.map(({ member }) => `down ${member.uuid}`).sort())
  t.deepEqual(await invalidMembers(db), [])
})
