import { randomUUID } from 'node:crypto'
import test from 'ava'
import { z } from 'zod'
import { insertContact } from '#shared/monitoring/contacts/contact-store.ts'
import type { Role } from '#shared/tenancy/accounts/roles.ts'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import { eventually } from '../../support/eventually.ts'
import { addIncident } from '../../support/incidents.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'

const WORKERS = ['ping-evaluator', 'alerter', 'sweeper']

let app: HttpProduct
test.before(async () => {
  // No mail is sent, because no mailer runs.
  const env = { SMTP_URL: 'smtp://127.0.0.1:9' }
  app = await openProduct({ listener: 'http', hasRowSecurity: true, workers: WORKERS, env })
})
test.after.always(() => app?.[Symbol.asyncDispose]())

/** Returns a project with persons, each with one method that works, and functions that use the API. */
async function team(names: Readonly<Record<string, Role>>) {
  const { db, deps, url } = app
  const { project, rwKey } = await addProject(deps)
  const tag = randomUUID().slice(0, 8)
  const address = (name: string) => `${name}-${tag}@example.org`
  const methods: Record<string, string> = {}
  for (const [name, role] of Object.entries(names)) {
    const user = await insertUser(db, { email: address(name), name, passwordHash: null })
    if (!user) throw new Error('the address is in use')
    await insertMembership(db, { organisationId: project.organisationId, userId: user.id, role })
    const sealedConfig = deps.secrets.seal('contact', JSON.stringify({ url: 'http://127.0.0.1:9', token: name }))
    const contact = { userId: user.id, kind: 'gotify', name: '', sealedConfig, viaId: null, recoveries: true } as const
    methods[name] = await insertContact(db, { ...contact, isVerified: role !== 'read-only' })
  }
  const post = async (path: string, body: object) => {
    const headers = { 'X-Api-Key': rwKey }
    const answer = await send(url, `/api/v3${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
    return jsonOf(answer) as { id: string; messages?: object[] }
  }
  const get = async (path: string) => jsonOf(await send(url, `/api/v3${path}`, { headers: { 'X-Api-Key': rwKey } }))
  const check = await addCheck(deps, project.id, { name: 'Backup' })
  const ping = (end = '') =>
    eventually('a ping to be accepted', async () => (await fetch(`${url}/ping/${check.uuid}${end}`)).status === 200)
  const rows = async () => {
    const found = await db('notifications').where({ check_id: check.id }).orderBy('created_at')
    const nameOf = (id: string) => Object.keys(methods).find((name) => methods[name] === id)
    // Notifications to the address of the account are left out.
    return found
      .filter((row) => nameOf(row.method_id) !== undefined)
      .map((row) => `${nameOf(row.method_id)} ${row.what} ${row.detail?.reason ?? '-'} ${row.state}`)
  }
  const untilRows = async (...expected: readonly string[]) => {
    await eventually(`rows ${expected.join(', ')}`, async () => {
      const sorted = (await rows()).toSorted()
      return sorted.length === expected.length && sorted.join() === expected.toSorted().join()
    })
  }
  /** Reports that the notification of a person was delivered. */
  const deliver = (name: string) =>
    db('notifications')
      .where({ check_id: check.id, method_id: methods[name] })
      .update({ state: 'delivered', attempts: 1 })
  /** Moves the incident into the past. */
  const pass = (seconds: number) =>
    db('incidents')
      .where({ check_id: check.id })
      .update({ alert_at: db.raw(`alert_at - make_interval(secs => ?)`, [seconds]), next_at: db.raw('now()') })
  return { project, check, address, get, post, ping, rows, untilRows, deliver, pass }
}

test.serial('notifies the person on call, the next one at a shift change, and both of the recovery', async (t) => {
  const { db } = app
  const { check, address, post, ping, untilRows, deliver, pass } = await team({
    anna: 'member',
    ben: 'responder',
    carl: 'member',
  })
  const layers = [{ people: [address('anna')], start: '2026-01-05T09:00', rotation: { unit: 'week' } }]
  const { id: schedule } = await post('/on-call/schedules/', { name: 'Primary', layers })
  const steps = [{ people: [{ schedule }] }, { wait: 900, people: [{ person: address('carl') }] }]
  await post('/policies/', { name: 'p', match: '*', steps })
  await ping()
  await ping('/fail')
  await untilRows('anna first FIRST pending')
  const [row] = await db('notifications').where({ check_id: check.id })
  t.like(row, { integration_id: null, check_status: 'down', entry: 0 })
  t.is(row.detail.schedule, 'Primary')
  const [incident] = await db('incidents').where({ check_id: check.id })
  t.is(incident.sequences.list.length, 1)

  await deliver('anna')
  const until = `${new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)}Z`
  await post(`/on-call/schedules/${schedule}/take`, { person: address('ben'), until })
  await untilRows('anna first FIRST delivered', 'ben first SHIFT_CHANGED pending')
  await deliver('ben')
  await pass(900)
  await untilRows('anna first FIRST delivered', 'ben first SHIFT_CHANGED delivered', 'carl first STEP pending')
  const decided = await db('alert_decisions').where({ check_id: check.id }).orderBy('id')
  const people = decided.flatMap((decision) => decision.people)
  t.true(people.some((one) => one.person === address('anna') && one.reason === 'SHIFT_ENDED'))
  await ping()
  await untilRows(
    'anna first FIRST delivered',
    'ben first SHIFT_CHANGED delivered',
    'carl first STEP suppressed',
    'anna recovery - pending',
    'ben recovery - pending',
  )
})

test.serial('an acknowledgement ends the sequences, and the others are notified of it', async (t) => {
  const { db } = app
  const { check, address, post, ping, untilRows, deliver, pass } = await team({ anna: 'member', ben: 'member' })
  const both = [{ person: address('anna') }, { person: address('ben') }]
  await post('/policies/', { name: 'p', match: '*', steps: [{ people: both, repeat: { every: 600 } }] })
  await ping('/fail')
  await untilRows('anna first FIRST pending', 'ben first FIRST pending')
  await deliver('ben')
  const [incident] = await db('incidents').where({ check_id: check.id })
  await post(`/incidents/${incident.id}/ack`, { by: address('anna') })
  await untilRows('anna first FIRST suppressed', 'ben first FIRST delivered', 'ben ack ACKNOWLEDGED pending')
  await pass(3600)
  const changed = await eventually('an evaluation', () =>
    db('incidents').where({ id: incident.id }).andWhere('next_at', '>', db.raw('now()')).first(),
  )
  t.true(changed.sequences.list.every((one: { isEnded: boolean }) => one.isEnded))
  await untilRows('anna first FIRST suppressed', 'ben first FIRST delivered', 'ben ack ACKNOWLEDGED pending')
})

const Details = z.object({ timeline: z.array(z.object({ kind: z.string(), text: z.string() })) })

test.serial('an assignment ends the acknowledgement and notifies the person, and the policy waits', async (t) => {
  const { db } = app
  const roles = { anna: 'member', ben: 'responder', carl: 'member', rita: 'read-only' } as const
  const { check, address, get, post, ping, rows, untilRows, deliver, pass } = await team(roles)
  const steps = [{ people: [{ person: address('anna') }] }, { wait: 900, people: [{ person: address('carl') }] }]
  await post('/policies/', { name: 'p', match: '*', steps })
  await ping('/fail')
  await untilRows('anna first FIRST pending')
  await deliver('anna')
  const { id } = await db('incidents').where({ check_id: check.id }).first('id')
  const assign = (body: object) => post(`/incidents/${id}/assign`, body)
  await post(`/incidents/${id}/ack`, { by: address('anna') })
  await t.throwsAsync(assign({ to: address('rita') }), { message: /rita-\S+ cannot be reached/ })
  await assign({ to: address('rita'), notify: false })
  t.like(await db('incidents').where({ id }).first(), { state: 'acknowledged', assignee: address('rita') })

  await assign({ to: address('ben'), note: 'Your database.' })
  await untilRows('anna first FIRST delivered', 'ben first REASSIGNED pending')
  t.like(await db('incidents').where({ id }).first(), { state: 'alerting', ack_at: null, assignee: address('ben') })
  await deliver('ben')
  await pass(890)
  await eventually('an evaluation', () =>
    db('incidents').where({ id }).andWhere('next_at', '>', db.raw('now()')).first(),
  )
  t.is((await rows()).length, 2, 'the policy waits')
  await pass(910)
  await untilRows('anna first FIRST delivered', 'ben first REASSIGNED delivered', 'carl first STEP pending')
  const texts = Details.parse(await get(`/incidents/${id}`)).timeline.map(({ kind, text }) => `${kind}: ${text}`)
  t.true(
    texts.some((text) =>
      /^assigned: Assigned to ben-\S+ by .*: the person is notified, and the policy waits/.test(text),
    ),
  )
  t.true(texts.some((text) => /^note: Note by .*: Your database\.$/.test(text)))
  t.true(
    texts.some((text) => /^notified: Notified ben \(Gotify, assigned\)/.test(text)),
    texts.join('\n'),
  )
})

test.serial('an assignment notifies the person also without a policy, but not if the incident is merged', async (t) => {
  const { db } = app
  const { project, check, address, post, ping, untilRows, deliver } = await team({ anna: 'member' })
  await ping('/fail')
  const { id } = await eventually('an incident', () => db('incidents').where({ check_id: check.id }).first())
  const other = await addCheck(app.deps, project.id, { name: 'Router' })
  const lead = await addIncident(db, { projectId: project.id, checkId: other.id })
  await post(`/incidents/${id}/merge`, { into: lead })
  const to = address('anna')
  await t.throwsAsync(post(`/incidents/${id}/assign`, { to }), { message: /is a member of another incident/ })
  await post(`/incidents/${id}/unmerge`, {})
  await post(`/incidents/${id}/assign`, { to })
  await untilRows('anna first REASSIGNED pending')
  await deliver('anna')
  await ping()
  await untilRows('anna first REASSIGNED delivered', 'anna recovery - pending')
})

test.serial('managers get one mail if no step and no fallback reaches a person', async (t) => {
  const { db } = app
  const { check, address, post, ping, rows } = await team({ olga: 'owner', rita: 'read-only' })
  const before = Number((await db('outgoing_mails').count())[0]?.count)
  const steps = [{ people: [{ person: address('rita') }], repeat: { every: 60 } }]
  const fallback = { wait: 60, people: [{ person: address('gone') }] }
  await post('/policies/', { name: 'p', match: '*', steps, fallback })
  await ping('/fail')
  const decision = await eventually('a decision', () =>
    db('alert_decisions').where({ check_id: check.id, reason: 'LAST_RESORT' }).first(),
  )
  t.deepEqual(
    decision.people.map(({ reason }: { reason: string }) => reason),
    ['UNREACHABLE', 'UNREACHABLE'],
  )
  t.is(Number((await db('outgoing_mails').count())[0]?.count), before + 1)
  t.deepEqual(await rows(), [])
  const at = (minutes: number) => `${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19)}+00:00`
  const events = [
    { at: at(50), kind: 'success' },
    { at: at(40), kind: 'fail' },
  ]
  const simulated = await post('/simulations/', { check: check.uuid, events, from: at(60), until: at(30) })
  const mail = { person: address('olga'), kind: 'email', channel: null, what: 'last_resort' }
  t.like(simulated.messages, [{ ...mail, text: 'NO PERSON NOTIFIED | Backup' }])
  t.is(simulated.messages?.length, 1)
})
