import { createHmac, randomUUID } from 'node:crypto'
import test from 'ava'
import { pathToken } from '#shared/risk/colending/lms-signature.ts'
import { grantFamilies, revokeFamilies } from '#shared/tenancy/organisations/store.ts'
import { openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let product: HttpProduct
let base = ''
let client: Awaited<ReturnType<typeof openClient>>
let url = ''
let key: Buffer

test.before(async () => {
  product = await sharedProduct()
  base = product.url
  client = await openClient(product, base)
  url = `${base}/v1/colending/lms-events/${client.credentials.lmsIntegrationId}`
  key = Buffer.from(String(client.credentials.lmsSecret).slice('whsec_'.length), 'base64')
})

const sign = (body: string, encoding: 'hex' | 'base64' = 'hex', by: Buffer | string = key) =>
  createHmac('sha256', by).update(body).digest(encoding)

async function post(body: string, headers: Record<string, string>, to = url) {
  return await send(to, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
}

function envelope(over: object = {}) {
  return JSON.stringify({
    event: 'loan.disbursed',
    id: randomUUID(),
    created_at: '2026-11-21T10:00:00Z',
    payload: { loan_id: 'L-1', principal: '125000.50', lender_share: 20, colender_share: 80, borrower: { name: 'X' } },
    ...over,
  })
}

const forms: Record<string, (body: string) => string> = {
  'lower-case hex': (body) => sign(body),
  'upper-case hex': (body) => sign(body).toUpperCase(),
  'sha256= and hex': (body) => `sha256=${sign(body)}`,
  base64: (body) => sign(body, 'base64'),
  'hex under the text of the secret': (body) => sign(body, 'hex', String(client.credentials.lmsSecret)),
}
for (const [name, form] of Object.entries(forms)) {
  test(`a signature as ${name} is accepted`, async (t) => {
    const body = envelope()
    const answer = await post(body, { 'x-lms-signature': form(body) })
    t.is(answer.status, 200, answer.text)
    t.is(answer.json.eventType, 'loan.disbursed')
  })
}

test.serial('an event is accepted only while the organisation has the family', async (t) => {
  const own = await openClient(product, base)
  const secret = Buffer.from(String(own.credentials.lmsSecret).slice('whsec_'.length), 'base64')
  const to = `${base}/v1/colending/lms-events/${own.credentials.lmsIntegrationId}`
  const body = envelope()
  const headers = { 'x-lms-signature': sign(body, 'hex', secret) }
  const organisation = await product.db('organisations').where({ uuid: own.credentials.organisationId }).first('id')
  await revokeFamilies(product.db, Number(organisation.id), ['colending'])
  const count = async () => Number((await product.db('colending_events').count('* as n').first())?.n)
  const before = await count()
  const refused = await post(body, headers, to)
  t.is(refused.status, 403, refused.text)
  t.is(refused.json.code, 'FORBIDDEN')
  t.is(await count(), before)
  t.is(
    (await post(body, { 'x-lms-signature': sign(body, 'hex', 'x') }, to)).status,
    401,
    'a stranger does not learn it',
  )
  await grantFamilies(product.db, Number(organisation.id), ['colending'])
  t.is((await post(body, headers, to)).status, 200)
})

test.serial('other signatures get 401 and store nothing', async (t) => {
  const body = envelope()
  const reserialised = JSON.stringify(JSON.parse(body), null, 1)
  const cases: Record<string, [string, Record<string, string>]> = {
    missing: [body, {}],
    empty: [body, { 'x-lms-signature': '' }],
    short: [body, { 'x-lms-signature': sign(body).slice(1) }],
    long: [body, { 'x-lms-signature': `${sign(body)}0` }],
    'not hex': [body, { 'x-lms-signature': 'z'.repeat(64) }],
    'not ASCII': [body, { 'x-lms-signature': '\u00e9'.repeat(64) }],
    'of the re-serialised body': [body, { 'x-lms-signature': sign(reserialised) }],
    'with a changed body': [body.replace('L-1', 'L-2'), { 'x-lms-signature': sign(body) }],
    'of another secret': [body, { 'x-lms-signature': sign(body, 'hex', 'other') }],
    'of an old time': [body, { 'x-lms-timestamp': '1000', 'x-lms-signature': sign(`1000.${body}`) }],
    'of no time, with one': [body, { 'x-lms-timestamp': now(), 'x-lms-signature': sign(body) }],
  }
  const before = await product.db('colending_events').count('* as n').first()
  for (const [name, [sent, headers]] of Object.entries(cases)) {
    const answer = await post(sent, headers)
    t.is(answer.status, 401, name)
    t.is(answer.json.code, 'UNAUTHORIZED', name)
  }
  const unknown = await post(body, { 'x-lms-signature': sign(body) }, `${base}/v1/colending/lms-events/${randomUUID()}`)
  t.is(unknown.status, 401)
  const at = now()
  const timed = await post(body, { 'x-lms-timestamp': at, 'x-lms-signature': sign(`${at}.${body}`) })
  t.is(timed.status, 200, timed.text)
  t.deepEqual(Number((await product.db('colending_events').count('* as n').first())?.n), Number(before?.n) + 1)
})

function now(): string {
  return String(Math.floor(Date.now() / 1000))
}

test('an integration without a secret gets 503', async (t) => {
  const [row] = await product
    .db('lms_integrations')
    .insert({
      id: randomUUID(),
      organisation_id: product.db('organisations').select('id').limit(1),
      env: 'SANDBOX',
      sealed_secret: null,
    })
    .returning('id')
  const answer = await post('{}', { 'x-lms-signature': sign('{}') }, `${base}/v1/colending/lms-events/${row?.id}`)
  t.is(answer.status, 503)
  t.is(answer.json.code, 'SERVICE_UNAVAILABLE')
})

test('a repetition gets the same answer and has no second effect', async (t) => {
  const body = envelope({ id: 'evt-1', payload: { loan_id: 'L-repeat' } })
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(body, { 'x-lms-signature': sign(body) })))
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.is(new Set(answers.map(({ text }) => text)).size, 1)
  t.is(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1)
  // The same event id, regardless of the rest of the envelope.
  const other = envelope({ id: 'evt-1', payload: { loan_id: 'L-repeat', principal: 5 } })
  t.is((await post(other, { 'x-lms-signature': sign(other) })).text, answers[0]?.text ?? '')
  const evidence = await client.get('/v1/colending/evidence?loanRef=L-repeat')
  t.is(evidence.json.evidence.length, 1)
  const events = await client.get('/v1/webhooks/events?event=lms.event_mapped')
  const { contractId } = JSON.parse(answers[0]?.text ?? '{}')
  t.is(events.json.events.filter(({ dealId }: { dealId: string }) => dealId === contractId).length, 1)
})

test('a mapped event is anchored and lists its unused fields', async (t) => {
  const body = envelope({
    payload: { loan_id: 'L-map', principal: '100.50', outstanding: 'n/a', customer: { pan: 'X' } },
  })
  const answer = await post(body, { 'x-lms-signature': sign(body) })
  const { json } = await client.get('/v1/colending/evidence?loanRef=L-map')
  const [contract] = json.evidence
  t.is(contract.contractId, answer.json.contractId)
  t.is(contract.occurredAt, '2026-11-21T10:00:00.000Z')
  t.deepEqual(contract.amounts, { principal: 100.5, interest: null, outstanding: null })
  t.is(contract.dpd, null, 'missing is not zero')
  t.is(contract.tier, 'LENDER_SIDE')
  t.deepEqual(contract.unmapped, ['payload.outstanding', 'payload.customer.pan'])
  t.false(JSON.stringify(contract).includes('L-map'))
  const leaf = await product
    .db('log_entries')
    .where({ leaf_hash: Buffer.from(contract.anchor.txId, 'hex') })
    .first()
  t.is(JSON.parse(leaf.entry.toString()).payloadSha256, contract.anchor.payloadSha256)
  const verified = await client.post('/v1/anchors/verify', { object: contract })
  t.is(verified.json.payloadSha256 ?? contract.anchor.payloadSha256, contract.anchor.payloadSha256, verified.text)
})

test('an unknown event is received and reported as not mapped', async (t) => {
  const body = envelope({ event: 'customer.birthday' })
  const answer = await post(body, { 'x-lms-signature': sign(body) })
  t.is(answer.status, 200)
  t.deepEqual([answer.json.mapped, answer.json.reason], [false, 'EVENT_UNKNOWN'])
  t.is((await post('[1]', { 'x-lms-signature': sign('[1]') })).status, 400)
  t.is((await post('{"a":1,"a":2}', { 'x-lms-signature': sign('{"a":1,"a":2}') })).status, 400)
})

test('an Apache Fineract hook is authenticated by its path and deduplicated by its body', async (t) => {
  const { lmsIntegrationId, lmsSecret } = client.credentials
  const body = JSON.stringify({
    officeId: 1,
    clientId: 7,
    loanId: 42,
    resourceId: 42,
    changes: { transactionDate: '24 September 2026', transactionAmount: '50000.00', locale: 'en' },
  })
  const headers = { 'x-fineract-entity': 'LOAN', 'x-fineract-action': 'DISBURSE' }
  const to = `${url}/hooks/${pathToken(String(lmsSecret), lmsIntegrationId)}`
  const answer = await post(body, headers, to)
  t.is(answer.status, 200, answer.text)
  t.is(answer.json.eventType, 'loan.disbursed')
  t.is((await post(body, headers, to)).text, answer.text)
  t.not((await post(body, { ...headers, 'x-fineract-action': 'CLOSE' }, to)).text, answer.text)
  t.is((await post(body, headers, `${url}/hooks/${'0'.repeat(64)}`)).status, 401)
  const { json } = await client.get('/v1/colending/evidence?loanRef=42')
  const disbursed = json.evidence.find(({ eventType }: { eventType: string }) => eventType === 'loan.disbursed')
  t.is(disbursed.occurredAt, '2026-09-24')
  t.is(disbursed.amounts.principal, 50_000)
  t.is(disbursed.sourceFormat, 'fineract-hook@1')
})

test.serial('a mapping can be tried without any effect', async (t) => {
  const mappings = await client.get('/v1/colending/mappings')
  t.true(mappings.json.mappings.some(({ id }: { id: string }) => id === 'fineract-hook@1'))
  const before = await product.db('colending_events').count('* as n').first()
  const preview = await client.post('/v1/colending/mappings/generic-envelope@1/preview', {
    record: JSON.parse(envelope()),
  })
  t.is(preview.status, 200, preview.text)
  t.is(preview.json.recognised, true)
  t.deepEqual(preview.json.contract.share, { lender: 20, colender: 80 })
  t.deepEqual(await product.db('colending_events').count('* as n').first(), before)
  t.is((await client.post('/v1/colending/mappings/no-such@9/preview', { record: {} })).status, 404)
})

test('another organisation sees no event, and stored references are not those of the partner', async (t) => {
  const body = envelope({ payload: { loan_id: 'L-secret-77' } })
  await post(body, { 'x-lms-signature': sign(body) })
  const stranger = await openClient(product, base)
  t.deepEqual((await stranger.get('/v1/colending/evidence?loanRef=L-secret-77')).json.evidence, [])
  t.is((await client.get('/v1/colending/evidence?loanRef=L-secret-77')).json.evidence.length, 1)
  const stored = JSON.stringify(await product.db('colending_events').select('*'))
  t.false(stored.includes('L-secret-77'))
})
