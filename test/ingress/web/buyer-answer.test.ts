import { randomInt } from 'node:crypto'
import test from 'ava'
import { forgetMailboxes } from '#shared/risk/acceptance/buyer-request-store.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { openSmtpSink, type SmtpSink } from '../../support/smtp-sink.ts'
import { eventsOf, receivable } from '../api-risk/financing-support.ts'
import { createVisitor } from './visitor.ts'

let app: HttpProduct
let smtp: SmtpSink
let lender: ApiClient
let sandbox: ApiClient

test.before(async () => {
  smtp = await openSmtpSink()
  app = await openProduct({
    listener: 'http',
    hasRowSecurity: true,
    workers: ['mailer', 'acceptance-recorder'],
    env: { SMTP_URL: smtp.url },
  })
  lender = await openClient(app, app.url, { env: 'PRODUCTION' })
  sandbox = await openClient(app, app.url)
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await smtp?.[Symbol.asyncDispose]()
})

let mailboxes = 0
const newMailbox = () => `buyer${++mailboxes}@example.com`
const acceptanceRequest = (change: object = {}) => ({
  receivableRef: `RCV-${randomInt(1e9)}`,
  receivable: receivable({ documentNumber: 'INV/001', totalInr: 118_000 }),
  buyerEmail: newMailbox(),
  ...change,
})
const requestAcceptance = (body: object, client = lender) => client.post('/v1/acceptance/requests', body)

async function mailTo(to: string, subject: string): Promise<string> {
  const mail = await smtp.waitFor((one) => one.to.includes(to) && one.raw.toString().includes(`Subject: ${subject}`))
  smtp.mails.splice(smtp.mails.indexOf(mail), 1)
  return mail.raw.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=')
}

/** Returns the path of the link in the mail. */
async function mailedPath(to: string): Promise<string> {
  const text = await mailTo(to, 'Do you accept')
  return new URL(/http:\S+\/a\/[\w-]{43}/.exec(text)?.[0] ?? '').pathname
}

/** Requests a code and reads it from the mail. */
async function mailedCode(path: string, to: string, visitor = createVisitor(app.url)): Promise<string> {
  const answer = await visitor.post(`${path}/code`, {}, path)
  if (answer.status !== 303) throw new Error(`no code: ${answer.status}`)
  return /code is ([0-9]{6})\./.exec(await mailTo(to, 'Your code'))?.[1] ?? ''
}

const timeline = async (ref: string, client = lender) => (await client.get(`/v1/acceptance/${ref}`)).json

test('the mailed code confirms an answer, opening the link does not', async (t) => {
  const body = acceptanceRequest()
  const record = { receivableRef: body.receivableRef, channel: 'IMS', action: 'ACCEPTED', at: '2026-06-20T18:30:00Z' }
  t.is((await lender.post('/v1/acceptance/records', record)).json.tier, 'LENDER_SIDE')
  const requested = await requestAcceptance(body)
  t.is(requested.status, 201, requested.text)
  t.like(requested.json, { state: 'OPEN', receivableRef: body.receivableRef, sandboxUrl: undefined })
  const path = await mailedPath(body.buyerEmail)
  const buyer = createVisitor(app.url)
  const opened = await buyer.get(path)
  for (const part of ['INV/001', '1 May 2026', '₹1,18,000.00']) t.true(opened.text.includes(part), part)
  t.false(opened.text.includes('29AAACR5678D1Z5'), 'the link alone shows number, date and amount')
  for (let n = 0; n < 3; n++) t.is((await createVisitor(app.url).get(path)).status, 200)
  t.false(
    smtp.mails.some(({ to }) => to.includes(body.buyerEmail)),
    'opening the link sends no code',
  )
  t.like(await timeline(body.receivableRef), { requests: [{ state: 'OPEN' }], summary: { tier: 'LENDER_SIDE' } })

  const code = await mailedCode(path, body.buyerEmail, buyer)
  t.regex(code, /^[0-9]{6}$/)
  t.is((await buyer.post(`${path}/answer`, { code, action: 'ACCEPTED' }, path)).status, 303)
  t.true((await buyer.get(path)).text.includes('Already answered'))
  const { records, requests, summary } = await timeline(body.receivableRef)
  t.is(records.length, 2)
  t.like(records[1], {
    channel: 'BUYER_PORTAL',
    action: 'ACCEPTED',
    amountAccepted: 118_000,
    declaredBy: 'BUYER',
    tier: 'ISSUER_CONFIRMED',
    requestId: requested.json.requestId,
  })
  t.is(records[1].anchor.payloadSha256, payloadSha256(records[1]))
  t.false(JSON.stringify(records).includes('example.com'))
  t.like(requests[0], { state: 'ANSWERED', acceptanceId: records[1].acceptanceId })
  t.like(summary, { tier: 'ISSUER_CONFIRMED', action: 'ACCEPTED' })
  await lender.post('/v1/acceptance/records', record)
  t.is(
    (await timeline(body.receivableRef)).summary.tier,
    'ISSUER_CONFIRMED',
    'a repeated request does not lower the tier',
  )
})

test('a link accepts one answer, which is metered as one unit', async (t) => {
  const own = await openClient(app, app.url, { env: 'PRODUCTION' })
  const body = acceptanceRequest()
  await requestAcceptance(body, own)
  t.deepEqual((await own.get('/v1/usage')).json.usage, [])
  const path = await mailedPath(body.buyerEmail)
  const code = await mailedCode(path, body.buyerEmail)
  const [first, second] = [createVisitor(app.url), createVisitor(app.url)]
  const tokens = await Promise.all([first, second].map((visitor) => visitor.token(path)))
  const answers = await Promise.all(
    [first, second].map((visitor, index) =>
      visitor.send(`${path}/answer`, {
        _csrf: tokens[index] ?? '',
        code,
        action: index === 0 ? 'ACCEPTED' : 'REJECTED',
      }),
    ),
  )
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [303, 409])
  const late = await first.send(`${path}/answer`, { _csrf: tokens[0] ?? '', code, action: 'REJECTED' })
  t.is(late.status, 409)
  t.is((await first.send(`${path}/code`, { _csrf: tokens[0] ?? '' })).status, 409)
  t.is((await timeline(body.receivableRef, own)).records.length, 1)
  const { usage } = (await own.get('/v1/usage')).json
  t.deepEqual(
    usage.map(({ family, units }: { family: string; units: number }) => [family, units]),
    [['acceptance', 1]],
  )
  t.true((await eventsOf(app, own)).includes('acceptance.recorded'))
  const row = await app.db('acceptance_requests').where({ receivable_ref: body.receivableRef }).first()
  t.is(row.sealed_details, null, 'the answer deletes the mailbox')
})

test('five wrong codes lock the link permanently', async (t) => {
  const body = acceptanceRequest()
  await requestAcceptance(body)
  const path = await mailedPath(body.buyerEmail)
  const buyer = createVisitor(app.url)
  const code = await mailedCode(path, body.buyerEmail, buyer)
  const wrong = code === '000000' ? '000001' : '000000'
  const _csrf = await buyer.token(path)
  for (let left = 4; left >= 0; left--) {
    const answer = await buyer.send(`${path}/answer`, { _csrf, code: wrong, action: 'ACCEPTED' })
    t.is(answer.status, 400)
    t.true(answer.text.includes(left === 0 ? 'locked' : `Attempts left: ${left}`))
  }
  t.is((await buyer.send(`${path}/answer`, { _csrf, code, action: 'ACCEPTED' })).status, 409)
  t.is((await buyer.send(`${path}/code`, { _csrf })).status, 409)
  t.true((await buyer.get(path)).text.includes('This link is locked'))
  const { records, requests } = await timeline(body.receivableRef)
  t.deepEqual(records, [])
  t.is(requests[0].state, 'LOCKED')
})

test('at most three codes are sent, and wrong attempts count together', async (t) => {
  const body = acceptanceRequest()
  await requestAcceptance(body)
  const path = await mailedPath(body.buyerEmail)
  const buyer = createVisitor(app.url)
  const first = await mailedCode(path, body.buyerEmail, buyer)
  const second = await mailedCode(path, body.buyerEmail, buyer)
  const old = await buyer.post(`${path}/answer`, { code: first, action: 'ACCEPTED' }, path)
  t.is(old.status, first === second ? 303 : 400)
  const third = await mailedCode(path, body.buyerEmail, buyer)
  const _csrf = await buyer.token(path)
  t.is((await buyer.send(`${path}/code`, { _csrf })).status, 409)
  await app
    .db('acceptance_requests')
    .where({ receivable_ref: body.receivableRef })
    .update({ code_expires_at: new Date(0) })
  t.true((await buyer.get(path)).text.includes('No further code is sent'))
  const late = await buyer.send(`${path}/answer`, { _csrf, code: third, action: 'ACCEPTED' })
  t.is(late.status, 400)
  t.true(late.text.includes('Attempts left: 3'))
})

test('an expired link gets the response of an unknown one', async (t) => {
  const body = acceptanceRequest()
  await requestAcceptance(body)
  const path = await mailedPath(body.buyerEmail)
  const of = { receivable_ref: body.receivableRef }
  await app
    .db('acceptance_requests')
    .where(of)
    .update({ expires_at: new Date(Date.now() - 1_000) })
  const visitor = createVisitor(app.url)
  t.is((await visitor.get(path)).status, 404)
  t.is((await visitor.get(`/a/${'A'.repeat(43)}`)).status, 404)
  t.is((await visitor.get('/a/short')).status, 404)
  t.is((await timeline(body.receivableRef)).requests[0].state, 'EXPIRED')
  await forgetMailboxes(app.db, 100)
  t.is((await app.db('acceptance_requests').where(of).first()).sealed_details, null)
})

test('the sandbox returns the link and shows the code instead of mails', async (t) => {
  const body = acceptanceRequest()
  const requested = await requestAcceptance(body, sandbox)
  const path = new URL(requested.json.sandboxUrl).pathname
  const buyer = createVisitor(app.url)
  t.is((await buyer.post(`${path}/code`, {}, path)).status, 303)
  const code = /Your code is ([0-9]{6})/.exec((await buyer.get(path)).text)?.[1] ?? ''
  t.is((await buyer.post(`${path}/answer`, { code, action: 'REJECTED' }, path)).status, 303)
  const { summary } = await timeline(body.receivableRef, sandbox)
  t.like(summary, { tier: 'ISSUER_CONFIRMED', action: 'REJECTED' })
  t.deepEqual((await eventsOf(app, sandbox)).filter((type) => type === 'acceptance.disputed').length, 1)
  t.false(smtp.mails.some(({ to }) => to.includes(body.buyerEmail)))
})

test('the token and the mailbox are never stored in plain text', async (t) => {
  const body = acceptanceRequest()
  const requested = await requestAcceptance(body, sandbox)
  const token = requested.json.sandboxUrl.split('/a/')[1]
  const tables = ['acceptance_requests', 'acceptance_receivables', 'idempotency_keys', 'rate_limits', 'outgoing_mails']
  for (const table of tables) {
    const rows = JSON.stringify(await app.db(table))
    t.false(rows.includes(body.buyerEmail), table)
    t.false(rows.includes(token), table)
  }
})

test('a mailbox receives at most five requests an hour from all organisations', async (t) => {
  const buyerEmail = newMailbox()
  const other = await openClient(app, app.url, { env: 'PRODUCTION' })
  for (let n = 0; n < 5; n++)
    t.is((await requestAcceptance(acceptanceRequest({ buyerEmail }), n % 2 ? lender : other)).status, 201)
  const refused = await requestAcceptance(acceptanceRequest({ buyerEmail: buyerEmail.toUpperCase() }))
  t.is(refused.status, 429)
  t.truthy(refused.headers.get('retry-after'))
})

test('refuses another receivable for a reference, and a cross-site form', async (t) => {
  const body = acceptanceRequest()
  await requestAcceptance(body, sandbox)
  const again = await requestAcceptance({ ...body, receivable: receivable() }, sandbox)
  t.like(again.json, { status: 409, errors: [{ path: 'receivable', code: 'OTHER_RECEIVABLE' }] })
  const path = new URL((await requestAcceptance(body, sandbox)).json.sandboxUrl).pathname
  t.is((await createVisitor(app.url).send(`${path}/code`, {})).status, 403)
})

const faults: [string, object, string][] = [
  ['an invalid mailbox', { buyerEmail: 'a@b@c' }, 'buyerEmail'],
  ['a mailbox over two lines', { buyerEmail: 'a@example.com\nBcc: b@example.com' }, 'buyerEmail'],
  ['no receivable', { receivable: undefined }, 'receivable'],
  ['a number with markup', { receivable: receivable({ documentNumber: '<b>1</b>' }) }, 'receivable.documentNumber'],
  ['a reserved reference', { receivableRef: 'requests' }, 'receivableRef'],
  ['an unknown member', { note: 'pay now' }, 'note'],
]

for (const [what, change, path] of faults)
  test(`refuses ${what} with 400 for ${path}`, async (t) => {
    const { status, json, text } = await requestAcceptance(acceptanceRequest(change))
    t.is(status, 400, text)
    t.is(json.errors[0].path, path)
  })

test('without a mail server a live request gets 503 and is not stored', async (t) => {
  const { base } = await app.ingress({}, { SMTP_URL: '', PORT: '0' })
  const mute = await openClient(app, base, { env: 'PRODUCTION' })
  const body = acceptanceRequest()
  const refused = await requestAcceptance(body, mute)
  t.is(refused.status, 503, refused.text)
  t.is(await app.db('acceptance_requests').where({ receivable_ref: body.receivableRef }).first(), undefined)
})
