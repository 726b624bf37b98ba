import test from 'ava'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink, type RecordedRequest } from '../../support/http-sink.ts'
import { addDown, addMethod, addPerson, type Down, notifyOf } from '../../support/personal.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'

const NUMBER = '+15550100'

let app: HttpProduct
let twilio: HttpSink
let gotify: HttpSink

test.before(async () => {
  twilio = await openHttpSink()
  gotify = await openHttpSink()
  app = await openProduct({
    listener: 'http',
    workers: ['notifier', 'sweeper', 'ping-evaluator'],
    env: {
      PUBLIC_URL: 'https://status.example.org',
      TWILIO_URL: twilio.url,
      TWILIO_ACCOUNT: 'account',
      TWILIO_AUTH: 'auth',
      TWILIO_FROM: '+15550000',
    },
  })
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await twilio?.[Symbol.asyncDispose]()
  await gotify?.[Symbol.asyncDispose]()
})
test.serial.beforeEach(() => {
  twilio.requests.length = 0
  gotify.requests.length = 0
})

async function aPerson() {
  const { project, rwKey } = await addProject(app.deps)
  const person = await addPerson(app.deps, project.organisationId)
  return { project, person, rwKey }
}

const rowsOf = async (methodId: string) => await app.db('notifications').where({ method_id: methodId })

async function rowsIn(methodId: string, state: string, count: number) {
  await eventually(`${count} to be ${state}`, async () => {
    return (await rowsOf(methodId)).filter((row) => row.state === state).length === count
  })
}

/** Waits until so many notifications were not sent, because the method got a message a short time ago. */
async function toWait(methodId: string, count: number) {
  await eventually(`${count} to wait`, async () => {
    const method = await app.db('contact_methods').where({ id: methodId }).first()
    const rows = (await rowsOf(methodId)).filter((row) => row.state === 'pending' && row.leader_id === null)
    const waiting = rows.filter((row) => row.attempts === 0 && row.next_attempt_at - method.notified_at > 14_000)
    return waiting.length === count
  })
}

/** Moves the last message and the next attempts into the past instead of waiting. */
async function passWindow(methodId: string): Promise<void> {
  await app
    .db('contact_methods')
    .where({ id: methodId })
    .update({ notified_at: new Date(Date.now() - 61_000) })
  const pending = { method_id: methodId, state: 'pending' }
  const earliest = await app.db('notifications').where(pending).orderBy('next_attempt_at').first('next_attempt_at')
  await app
    .db('notifications')
    .where(pending)
    .update({
      next_attempt_at: app.db.raw("next_attempt_at - (?::timestamptz - now()) - interval '1 millisecond'", [
        earliest.next_attempt_at,
      ]),
    })
}

/** Without the escapes of Markdown. */
const textOf = (request: RecordedRequest | undefined) =>
  String(JSON.parse(request?.body.toString() ?? '{}').message).replaceAll('\\', '')
const formOf = (index: number) => new URLSearchParams(twilio.requests[index]?.body.toString())
const tokenIn = (text: string) => /\/a\/([\w-]{22})/.exec(text)?.[1] ?? ''
const act = (text: string, body: string, suffix = '') =>
  send(app.url, `/a/${tokenIn(text)}${suffix}`, { method: 'POST', body })

test.serial('300 checks that go down cause two calls, each with one link for all of its checks', async (t) => {
  const { project, person } = await aPerson()
  const methodId = await addMethod(app.deps, person.id, 'call', { value: NUMBER })
  const incidents: Down[] = []
  while (incidents.length < 300) incidents.push(await addDown(app.deps, project.id, `check ${incidents.length}`))
  const target = { userId: person.id, methodId }
  await notifyOf(app.deps, target, incidents.slice(0, 1))
  await rowsIn(methodId, 'delivered', 1)
  await notifyOf(app.deps, target, incidents.slice(1, 150))
  await notifyOf(app.deps, target, incidents.slice(150))
  await toWait(methodId, 299)
  t.is(twilio.requests.length, 1)
  const due = (await rowsOf(methodId))
    .filter(({ state }) => state === 'pending')
    .map((row) => Number(row.next_attempt_at))
  t.is(due.filter((at) => at < Math.min(...due) + 4_000).length, 1, 'one becomes due first, and includes the others')
  await passWindow(methodId)
  await rowsIn(methodId, 'delivered', 300)
  t.is(twilio.requests.length, 2)
  const twiml = formOf(1).get('Twiml') ?? ''
  t.regex(twiml, /299 checks are DOWN\. check 1, check 10.* and \d+ more\. Press 1 to acknowledge/)
  t.regex(twiml, /action="https:\/\/status\.example\.org\/a\/[\w-]{22}\/keys"/)
  t.is((await act(twiml, 'Digits=1', '/keys')).status, 200)
  const acts = await app.db('incident_events').whereIn(
    'incident_id',
    incidents.map(({ incidentId }) => incidentId),
  )
  t.is(acts.length, 299)
  t.true(acts.every(({ kind, actor_name: by, via }) => kind === 'ack' && by === person.email && via === 'call'))
})

test.serial('the link in a text message acts for its person, and may be undone for ten minutes', async (t) => {
  const { project, person, rwKey } = await aPerson()
  const methodId = await addMethod(app.deps, person.id, 'sms', { value: NUMBER })
  const incident = await addDown(app.deps, project.id, 'db-backup')
  await notifyOf(app.deps, { userId: person.id, methodId }, [incident])
  await rowsIn(methodId, 'delivered', 1)
  await app.db.raw(`UPDATE notifications SET detail = detail || '{"schedule": "Primary"}' WHERE method_id = ?`, [
    methodId,
  ])
  const text = formOf(0).get('Body') ?? ''
  t.regex(text, /"db-backup" is DOWN.*Acknowledge: https:\/\/status\.example\.org\/a\//)
  t.is((await act(text, 'do=ack')).status, 303)
  const stored = () => app.db('incidents').where({ id: incident.incidentId }).first()
  t.like(await stored(), { state: 'acknowledged', ack_by: person.email, ack_via: 'sms' })
  const page = await send(app.url, `/a/${tokenIn(text)}`)
  t.regex(page.text, /by Anna \(SMS\)/)
  t.regex(page.text, /\(since [^)]* UTC\)/, 'the zone of the check')
  await app.db('user_reports').insert({ user_id: person.id, report: 'off', reminder: 'off', tz: 'Asia/Kolkata' })
  t.regex((await send(app.url, `/a/${tokenIn(text)}`)).text, /\(since [^)]* GMT\+5:30\)/, 'the zone of the person')
  const api = await send(app.url, `/api/v3/incidents/${incident.incidentId}`, { headers: { 'X-Api-Key': rwKey } })
  const { ack, timeline } = JSON.parse(api.text)
  t.like(ack, { by: person.email, via: 'sms' })
  const texts = timeline.map((entry: { text: string }) => entry.text).join('\n')
  t.regex(texts, /Notified Anna \(SMS, step 1, Primary\): delivered/)
  t.regex(texts, /Acknowledged by Anna \(SMS\)/)
  t.false(api.text.includes(NUMBER))
  const [audit] = await app.db('audit_log').where({ user_id: person.id })
  t.like(audit, { action: 'incident.ack', actor: person.email })
  const age = (minutes: number) =>
    app
      .db('incidents')
      .where({ id: incident.incidentId })
      .update({ ack_at: new Date(Date.now() - minutes * 60_000) })
  await age(11)
  await act(text, 'do=unack')
  t.is((await stored()).state, 'acknowledged')
  await age(9)
  await act(text, 'do=unack')
  t.is((await stored()).state, 'alerting')
  await app.db('memberships').where({ user_id: person.id }).delete()
  t.is((await act(text, 'do=ack')).status, 404, 'a former member')
})

test.serial('a message to a person names the schedule, the policy and the next step', async (t) => {
  const { project, person } = await aPerson()
  const methodId = await addMethod(app.deps, person.id, 'gotify', { url: gotify.url, token: 'key' })
  const steps = [0, 900].map((wait) => ({ ...IMPLICIT_PLAN.steps[0], wait }))
  const [policy] = await app
    .db('alert_policies')
    .insert({ project_id: project.id, name: 'Nights', match: '', position: 1, plan: { ...IMPLICIT_PLAN, steps } })
    .returning('id')
  const incident = await addDown(app.deps, project.id, 'db')
  await app
    .db('incidents')
    .where({ id: incident.incidentId })
    .update({ policy_id: policy.id, alert_at: new Date(), notified: '[1, 0]', state: 'alerting' })
  const detail = { step: 0, repeat: 0, reason: 'WINDOW_ENDED', dueAt: Date.now() * 1000, name: 'Patch night' } as const
  const fields = { detail: { ...detail, schedule: 'Primary' } }
  await notifyOf(app.deps, { userId: person.id, methodId }, [incident], fields)
  const message = textOf(await gotify.waitFor(1))
  t.regex(message, /Notified because:\*\* You are on call \(Primary\), policy "Nights"\./)
  t.regex(message, /Step:\*\* 1 of 2, next in 15 minutes/)
  t.regex(message, /Delayed until now by maintenance "Patch night"/)
})

test.serial('a permanent failure disables the method, and other methods get a notice', async (t) => {
  const { project, person } = await aPerson()
  const methodId = await addMethod(app.deps, person.id, 'sms', { value: NUMBER })
  await addMethod(app.deps, person.id, 'gotify', { url: gotify.url, token: 'key' })
  const incidents = await Promise.all(['a', 'b', 'c', 'd'].map((name) => addDown(app.deps, project.id, name)))
  const target = { userId: person.id, methodId }
  twilio.enqueue({ status: 400, body: JSON.stringify({ code: 21211 }) })
  await notifyOf(app.deps, target, incidents.slice(0, 1))
  const notice = await gotify.waitFor(1)
  t.regex(textOf(notice), /SMS \(\+1555\*\*\*0100\) receives nothing until you enable it/)
  await rowsIn(methodId, 'failed', 1)
  await eventually('the next step to be evaluated', async () => {
    const incident = await app.db('incidents').where({ id: incidents[0]?.incidentId }).first()
    return incident.evaluated_at > Date.now() - 60_000
  })
  await notifyOf(app.deps, target, incidents.slice(1, 2))
  await rowsIn(methodId, 'suppressed', 1)
  await app.db('contact_methods').where({ id: methodId }).update({ disabled_at: null, verified_at: null })
  await notifyOf(app.deps, target, incidents.slice(2, 3), { entry: 1 })
  await rowsIn(methodId, 'suppressed', 2)
  await app.db('contact_methods').where({ id: methodId }).delete()
  await notifyOf(app.deps, target, incidents.slice(3), { entry: 2 })
  await eventually('the notification to end', async () => {
    return (await app.db('notifications').where({ user_id: person.id, state: 'pending' })).length === 0
  })
  const errors = await app.db('notifications').where({ user_id: person.id, state: 'suppressed' }).orderBy('entry')
  t.deepEqual(
    errors.map(({ error }) => error),
    ['The contact method is disabled', 'The contact method is not verified', 'The contact method was deleted'],
  )
  t.is(twilio.requests.length, 1)
})

test.serial('a failed message is replaced by the next one, with the newest state of each check', async (t) => {
  const { project, person } = await aPerson()
  const methodId = await addMethod(app.deps, person.id, 'gotify', { url: gotify.url, token: 'key' })
  const target = { userId: person.id, methodId }
  const [web, db, mail] = [
    await addDown(app.deps, project.id, 'web'),
    await addDown(app.deps, project.id, 'db'),
    await addDown(app.deps, project.id, 'mail'),
  ]
  const { promise: allWait, resolve: answer } = Promise.withResolvers<void>()
  gotify.respond = async () => {
    await allWait
    gotify.respond = () => ({ status: 200 })
    return { status: 500 }
  }
  await notifyOf(app.deps, target, [web])
  await gotify.waitFor(1)
  await notifyOf(app.deps, target, [web], { what: 'recovery', status: 'up' })
  await notifyOf(app.deps, target, [db])
  await notifyOf(app.deps, target, [mail])
  await toWait(methodId, 3)
  await app
    .db('incidents')
    .where({ id: mail.incidentId })
    .update({ state: 'acknowledged', ack_at: new Date(), ack_by: 'Ops' })
  await notifyOf(app.deps, target, [mail], { what: 'ack' })
  await toWait(methodId, 4)
  answer()
  await rowsIn(methodId, 'delivered', 4)
  const message = textOf(gotify.requests.at(-1))
  t.regex(message, /1 check is DOWN, 1 is UP, 1 is acknowledged. db DOWN, web UP, mail acknowledged/)
  const rows = await rowsOf(methodId)
  t.is(rows.find((row) => row.what === 'first' && row.check_id === mail.checkId)?.error, 'Superseded')
  t.regex(tokenIn(message), /./)
})

test.serial('a notice of an acknowledgement names the person and the way', async (t) => {
  const { project, person } = await aPerson()
  const methodId = await addMethod(app.deps, person.id, 'gotify', { url: gotify.url, token: 'key' })
  const incident = await addDown(app.deps, project.id, 'db')
  const ack = { state: 'acknowledged', ack_at: new Date(), ack_by: person.email, ack_via: 'sms' }
  await app.db('incidents').where({ id: incident.incidentId }).update(ack)
  await notifyOf(app.deps, { userId: person.id, methodId }, [incident], { what: 'ack' })
  t.regex(textOf(await gotify.waitFor(1)), /ACK \| db: acknowledged by Anna \(SMS\)/)
})

test.serial('a failure that the gateway reports later disables the method, with a notice', async (t) => {
  const { project, person } = await aPerson()
  const methodId = await addMethod(app.deps, person.id, 'sms', { value: NUMBER })
  await addMethod(app.deps, person.id, 'gotify', { url: gotify.url, token: 'key' })
  await notifyOf(app.deps, { userId: person.id, methodId }, [await addDown(app.deps, project.id, 'db')])
  await rowsIn(methodId, 'delivered', 1)
  const { pathname, search } = new URL(formOf(0).get('StatusCallback') ?? '')
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  await send(app.url, pathname + search, { method: 'POST', headers, body: 'error=Unreachable.&mark_disabled=1' })
  t.regex(textOf(await gotify.waitFor(1)), /receives nothing until you enable it: Unreachable/)
  t.like((await rowsOf(methodId))[0], { state: 'failed', error: 'Unreachable.' })
})
