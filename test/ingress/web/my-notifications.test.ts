import { randomUUID } from 'node:crypto'
import test from 'ava'
import { contactMessageDue } from '#shared/contracts/worker-messages.ts'
import { nowMicros } from '#shared/time.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

const BASE = '/account/notifications'

let app: HttpProduct
let team: Team
let owner: Visitor
let sink: HttpSink

test.before(async () => {
  app = await sharedProduct({ workers: ['notifier', 'sweeper'] })
  sink = await openHttpSink()
})
test.after.always(async () => {
  await sink?.[Symbol.asyncDispose]()
})
test.serial.beforeEach(async () => {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
  sink.requests.length = 0
})

const methodsOf = async () =>
  await app
    .db('contact_methods')
    .whereIn('user_id', app.db('memberships').where({ organisation_id: team.organisationId }).select('user_id'))
    .whereNotNull('sealed_config')
    .orderBy('n')

/** Adds a Gotify method that sends to the sink, and returns its path. */
async function addGotify(token = 'key', visitor = owner): Promise<string> {
  const made = await visitor.post(`${BASE}/new/gotify`, {
    name: 'My phone',
    'option-url': sink.url,
    'option-token': token,
    recoveries: 'on',
  })
  if (made.status !== 303) throw new Error(made.text)
  return made.headers.location ?? ''
}

async function codeSentTo(path: string, visitor = owner): Promise<string> {
  const count = sink.requests.length
  const sent = await visitor.post(`${path}/code`, {}, path)
  if (sent.status !== 303) throw new Error(`${sent.status}`)
  return /\b(\d{6})\b/.exec((await sink.waitFor(count + 1)).body.toString())?.[1] ?? ''
}

test.serial('a person adds a method, verifies it by its code and tests it', async (t) => {
  const path = await addGotify()
  t.regex((await owner.get(path)).text, /Not verified: nothing is sent/)
  t.is((await owner.post(`${path}/test`, {}, path)).status, 303)
  t.is(sink.requests.length, 0, 'an unverified method receives no message')
  const code = await codeSentTo(path)
  t.regex(code, /^\d{6}$/)
  const wrong = code === '000000' ? '000001' : '000000'
  await owner.post(`${path}/verify`, { code: wrong }, path)
  t.is((await methodsOf())[0].verified_at, null)
  await owner.post(`${path}/verify`, { code: `${code.slice(0, 3)} ${code.slice(3)}` }, path)
  t.not((await methodsOf())[0].verified_at, null)
  const again = await app.db('contact_codes').where({ method_id: (await methodsOf())[0].id })
  t.false(JSON.stringify(again).includes(code), 'only a digest is stored')
  await owner.post(`${path}/test`, {}, path)
  await sink.waitFor(2)
  t.regex((await owner.get(BASE)).text, /My phone.*>Verified</s)
  const audited = await app.db('audit_log').where({ organisation_id: team.organisationId, action: 'contact.verified' })
  t.deepEqual(
    audited.map(({ target }) => target),
    ['gotify'],
  )
})

test.serial('a code expires after five attempts and works once', async (t) => {
  const path = await addGotify()
  const code = await codeSentTo(path)
  const wrong = code === '000000' ? '000001' : '000000'
  for (let n = 0; n < 5; n++) await owner.post(`${path}/verify`, { code: wrong }, path)
  await owner.post(`${path}/verify`, { code }, path)
  t.is((await methodsOf())[0].verified_at, null)
  const second = await codeSentTo(path)
  await app.db('contact_codes').update({ created_at: new Date(Date.now() - 901_000) })
  await owner.post(`${path}/verify`, { code: second }, path)
  t.is((await methodsOf())[0].verified_at, null, 'a code expires after 15 minutes')
})

test.serial('an address gets at most three codes an hour, across deleted methods', async (t) => {
  for (let n = 0; n < 3; n++) {
    const path = await addGotify('same')
    await codeSentTo(path)
    await owner.post(`${path}/delete`, { _confirmed: 'yes' }, path)
  }
  const path = await addGotify('same')
  const refused = await owner.post(`${path}/code`, {}, path)
  t.is(refused.status, 429)
  t.true(Number(refused.headers['retry-after']) > 3000)
})

test.serial('a person gets at most five codes in 10 minutes, and an organisation 50 in a day', async (t) => {
  for (let n = 0; n < 5; n++) await codeSentTo(await addGotify(`key${n}`))
  const path = await addGotify('key5')
  t.is((await owner.post(`${path}/code`, {}, path)).status, 429)
  const colleague = await join(app, team, 'manager', `second${team.organisationId}@example.com`)
  const other = await addGotify('other', colleague)
  const { user_id: userId } = (await methodsOf())[0]
  const earlier = { user_id: userId, address_digest: Buffer.from('a'), code_digest: Buffer.from('c') }
  const created_at = new Date(Date.now() - 3_600_000)
  const rows = Array.from({ length: 45 }, () => ({ id: randomUUID(), ...earlier, created_at }))
  await app.db('contact_codes').insert(rows.slice(1))
  await codeSentTo(other, colleague)
  t.is((await colleague.post(`${other}/code`, {}, other)).status, 429, 'the codes of colleagues count')
})

test.serial('a redelivered message does not send a code again', async (t) => {
  const path = await addGotify()
  await codeSentTo(path)
  const { id: methodId } = (await methodsOf())[0]
  const { id: messageId } = await app.db('contact_codes').where({ method_id: methodId }).first('id')
  const sealedText = app.deps.secrets.seal('contact', '123456')
  const sendAgain = async (more: object) => {
    const message = {
      messageId,
      methodId,
      what: 'code' as const,
      sealedText,
      beginBy: nowMicros() + 30_000_000,
      ...more,
    }
    const reply = app.deps.replies.wait(message.messageId, 10_000)
    const { replyTo } = app.deps.replies
    await app.deps.outbox.run((_tx, enqueue) => enqueue(contactMessageDue, { ...message, replyTo }))
    return JSON.parse(String(await reply)).error
  }
  t.is(await sendAgain({}), '')
  t.is(sink.requests.length, 1)
  t.is(await sendAgain({ what: 'disabled', messageId: randomUUID() }), 'The contact method is not verified')
  await app.db('contact_methods').where({ id: methodId }).update({ verified_at: new Date() })
  t.regex(
    await sendAgain({ what: 'test', messageId: randomUUID(), beginBy: nowMicros() - 1 }),
    /too much else is waiting/,
  )
  t.is(sink.requests.length, 1)
})

test.serial('a changed address must be verified again, a changed name not', async (t) => {
  const path = await addGotify()
  await owner.post(`${path}/verify`, { code: await codeSentTo(path) }, path)
  const form = { name: 'Other', 'option-url': sink.url, 'option-token': '', recoveries: 'on' }
  t.is((await owner.post(path, form)).status, 303)
  t.not((await methodsOf())[0].verified_at, null)
  t.is((await owner.post(path, { ...form, 'option-token': 'new' })).status, 303)
  t.is((await methodsOf())[0].verified_at, null)
})

test.serial('a permanent failure disables a method and notifies the other methods', async (t) => {
  const path = await addGotify('first')
  await owner.post(`${path}/verify`, { code: await codeSentTo(path) }, path)
  const other = await addGotify('second')
  await owner.post(`${other}/verify`, { code: await codeSentTo(other) }, other)
  sink.enqueue({ status: 410 })
  await owner.post(`${path}/test`, {}, path)
  await eventually('the method to be disabled', async () => (await methodsOf())[0].disabled_at !== null)
  const notice = await eventually('a notice', () =>
    sink.requests.find(({ query, body }) => query.get('token') === 'second' && /was disabled/.test(body.toString())),
  )
  t.regex(notice.body.toString(), /My phone/)
  t.regex((await owner.get(path)).text, /Disabled: /)
  await owner.post(`${path}/enable`, {}, path)
  t.is((await methodsOf())[0].disabled_at, null)
})

test.serial('contact methods of other persons cannot be seen or changed', async (t) => {
  const path = await addGotify()
  const colleague = await join(app, team, 'manager', `colleague${team.organisationId}@example.com`)
  t.is((await colleague.get(path)).status, 404)
  for (const action of ['', '/code', '/test', '/verify', '/enable', '/delete'])
    t.is((await colleague.post(`${path}${action}`, { code: '1', _confirmed: 'yes' }, BASE)).status, 404, action)
  t.notRegex((await colleague.get(BASE)).text, /My phone/)
  t.is((await methodsOf()).length, 1)
})

test.serial('at most 10 methods of personal kinds can be added', async (t) => {
  for (const kind of ['webhook', 'shell', 'slack', 'pd', 'apprise', 'group'])
    t.is((await owner.get(`${BASE}/new/${kind}`)).status, 404, kind)
  for (let n = 0; n < 9; n++) await addGotify(`key${n}`)
  t.is((await owner.post(`${BASE}/new/gotify`, { 'option-url': sink.url, 'option-token': 'x' })).status, 403)
})

test.serial('members may use an integration of their organisation as the server', async (t) => {
  const created = await owner.post(`/projects/${team.project.uuid}/integrations/new/ntfy`, {
    name: 'Push server',
    'option-url': sink.url,
    'option-topic': 'team',
    'option-token': 'tk_secret',
  })
  const via = /\/integrations\/([0-9a-f-]{36})/.exec(created.headers.location ?? '')?.[1] ?? ''
  t.regex((await owner.get(`${BASE}/new/ntfy`)).text, /Integration Push server/)
  const stranger = await join(app, await createTeam(app, 'Elsewhere'), 'owner')
  const form = { name: 'Push', via, 'option-topic': 'anna' }
  t.is((await stranger.post(`${BASE}/new/ntfy`, form)).status, 400)
  const path = (await owner.post(`${BASE}/new/ntfy`, form)).headers.location ?? ''
  await codeSentTo(path)
  const [request] = sink.requests
  t.is(request?.headers.authorization, 'Bearer tk_secret')
  t.is(JSON.parse(String(request?.body)).topic, 'anna')
  t.false((await owner.get(path)).text.includes('tk_secret'))
  await app.db('memberships').where({ organisation_id: team.organisationId }).delete()
  t.regex((await owner.get(path)).text, /Settings are missing/)
})

test.serial('saves rules, quiet hours and notices, and shows errors at fields', async (t) => {
  const path = await addGotify()
  const id = path.split('/').at(-1) ?? ''
  const rules = {
    'critical[0].method': id,
    'critical[0].after': '0',
    'critical[0].after_unit': 'minutes',
    'critical[3].method': id,
    'critical[3].after': '5',
    'critical[3].after_unit': 'minutes',
  }
  t.is((await owner.post(`${BASE}/rules`, rules, BASE)).status, 303)
  t.deepEqual(
    (await app.db('contact_rules').where({ method_id: id }).orderBy('after_seconds')).map((row) => row.after_seconds),
    [0, 300],
  )
  const late = await owner.post(`${BASE}/rules`, { ...rules, 'critical[3].after': '500' }, BASE)
  t.is(late.status, 400)
  t.regex(late.text, /id="critical\[3\]\.after-error"[^>]*>Must be between 0 and 7200 seconds/)
  const settings = {
    'quiet[0].every': 'Mon..Fri 22:00',
    'quiet[0].for': '9',
    'quiet[0].for_unit': 'hours',
    'quiet[0].tz': 'Europe/Berlin',
    before: '3600',
    end: 'on',
  }
  t.is((await owner.post(`${BASE}/settings`, settings, BASE)).status, 303)
  const stored = await app
    .db('on_call_settings')
    .whereIn('user_id', app.db('memberships').where({ organisation_id: team.organisationId }).select('user_id'))
  t.deepEqual(stored[0].quiet, [{ every: 'Mon..Fri 22:00', for: 32_400, tz: 'Europe/Berlin' }])
  t.deepEqual(stored[0].notices, { before: [3600], start: false, end: true })
  t.regex((await owner.get(BASE)).text, /value="Mon..Fri 22:00"/)
  const wrong = await owner.post(`${BASE}/settings`, { ...settings, 'quiet[0].every': 'never' }, BASE)
  t.is(wrong.status, 400)
  t.regex(wrong.text, /id="quiet\[0\]\.every-error"/)
})
