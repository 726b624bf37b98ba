import test from 'ava'
import { createTeam, emailOf, join, SESSION_COOKIE } from '../../ingress/web/people.ts'
import { createVisitor } from '../../ingress/web/visitor.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { addDown, notifyOf } from '../../support/personal.ts'
import { listeningPort, openProduct } from '../../support/product.ts'

const BASE = '/account/notifications'
const NUMBER = '15550100123'
const TOKEN = 'gotify-token-4711'
const AUTH = 'twilio-auth-4711'

test('no log line contains the number, the secrets or the codes of a contact method', async (t) => {
  await using sink = await openHttpSink()
  await using app = await openProduct({
    listener: 'http',
    env: { TWILIO_URL: sink.url, TWILIO_ACCOUNT: 'account', TWILIO_AUTH: AUTH, TWILIO_FROM: '+15550000' },
  })
  const level = { LOG_LEVEL: 'trace' }
  const ingress = app.spawn('ingress', [], level)
  const workers = app.spawn('workers', ['notifier', 'sweeper'], level)
  const team = await createTeam(app, 'Team')
  const joined = await join(app, team, 'owner')
  const owner = createVisitor(`http://127.0.0.1:${await listeningPort(ingress)}`)
  owner.cookies.set(SESSION_COOKIE, joined.cookies.get(SESSION_COOKIE) ?? '')
  const user = await app
    .db('users')
    .where({ email: emailOf(team, 'owner') })
    .first('id')

  /** Adds a method through the page and verifies it. */
  const addVerified = async (kind: string, options: Record<string, string>) => {
    const made = await owner.post(`${BASE}/new/${kind}`, { name: 'Mine', ...options })
    const path = made.headers.location ?? ''
    const count = sink.requests.length
    await owner.post(`${path}/code`, {}, path)
    const message = decodeURIComponent((await sink.waitFor(count + 1)).body.toString().replaceAll('+', ' '))
    const code = (/Your code is \W*((?:\d[, ]*){6})/.exec(message)?.[1] ?? '').replaceAll(/\D/g, '')
    await owner.post(`${path}/verify`, { code: '12' }, path)
    await owner.post(`${path}/verify`, { code }, path)
    const id = path.split('/').at(-1) ?? ''
    t.not((await app.db('contact_methods').where({ id }).first()).verified_at, null, message)
    return { path, id, code }
  }
  const phone = await addVerified('call', { 'option-value': `+${NUMBER}` })
  const gotify = await addVerified('gotify', { 'option-url': sink.url, 'option-token': TOKEN })
  const methods = [phone, gotify]
  const notify = async (name: string, state: string) => {
    await app.db('contact_methods').update({ notified_at: null })
    const down = await addDown(app.deps, team.project.id, name)
    for (const { id: methodId } of methods) await notifyOf(app.deps, { userId: user.id, methodId }, [down])
    await eventually(`both to be ${state}`, async () => {
      return (await app.db('notifications').where({ incident_id: down.incidentId, state })).length === methods.length
    })
  }
  await notify('db', 'delivered')
  // A gateway repeats the number in its refusal.
  const refusal = JSON.stringify({ code: 21_211, message: `The number +${NUMBER} is not valid: ${TOKEN}` })
  sink.respond = ({ body }) => ({ status: body.includes('Twiml') ? 400 : 410, body: refusal })
  await notify('web', 'failed')
  sink.respond = () => ({ misbehave: 'reset' })
  for (const { path } of methods) {
    await owner.post(`${path}/enable`, {}, path)
    await owner.post(`${path}/test`, {}, path)
    await owner.post(`${path}/delete`, { _confirmed: 'yes' }, path)
  }
  const left = await app.db('contact_methods').whereIn(
    'id',
    methods.map(({ id }) => id),
  )
  t.is(left.length, 0)

  await Promise.all([ingress.stop(), workers.stop()])
  const output = ingress.output() + workers.output()
  for (const event of ['contact.attempted', 'notification.attempted', '"outcome":"permanent"', '"outcome":"temporary"'])
    t.true(output.includes(event), `${event} is logged`)
  const secrets = [NUMBER, TOKEN, AUTH, ...methods.map(({ code }) => code)]
  const found = output.split('\n').filter((line) => secrets.some((secret) => new RegExp(`\\b${secret}\\b`).test(line)))
  t.deepEqual(found, [])
})
