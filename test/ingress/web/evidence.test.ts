import { randomInt, randomUUID } from 'node:crypto'
import test from 'ava'
import { gstinCheckCharacter } from '#shared/risk/identifiers/gstin.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import { openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { receivable, register, scenarioGstin } from '../api-risk/financing-support.ts'
import { createTeam, join, type Team } from './people.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let base: string
let member: Visitor
let reader: Visitor

test.before(async () => {
  app = await sharedProduct({
    workers: ['kyb-verifier', 'financing-registrar', 'acceptance-recorder', 'dilution-measurer', 'anchor'],
  })
  team = await createTeam(app, 'Acme <Finance>')
  await grantFamilies(app.deps.db, team.organisationId, ['kyb', 'first-financing', 'acceptance', 'risk-signals'])
  base = `/organisations/${team.organisationUuid}/risk/sandbox`
  member = await join(app, team, 'member')
  reader = await join(app, team, 'read-only')
})

/** Submits a form with its default values and `fields`. @returns the response with the next path */
async function submit(visitor: Visitor, path: string, fields: Record<string, string>, key: string = randomUUID()) {
  const answer = await visitor.post(base + path, { requestKey: key, ...fields }, `${base}${path}`)
  return { ...answer, next: (answer.headers.location ?? '').replace(base, '') }
}

/** Returns the refusal of a form: in the response if the worker was fast, otherwise from the waiting page. */
async function answered<Answer extends { status: number; text: string; next: string }>(sent: Answer) {
  if (sent.status !== 303) return sent
  return await eventually('the refusal', async () => {
    const page = await member.get(sent.next.startsWith('/organisations') ? sent.next : base + sent.next)
    return page.status !== 200 && page
  })
}

/** Returns a page as soon as it contains the given text. */
async function pageWith(path: string, part: string, visitor = member): Promise<string> {
  return await eventually(`${part} on ${path}`, async () => {
    const { text } = await visitor.get(path.startsWith('/organisations') ? path : base + path)
    return text.includes(part) && text
  })
}

const menuOf = (page: string) => /<details class="menu more-actions">[\s\S]*?<\/details>/.exec(page)?.[0] ?? ''

/** Returns the label of the main action of an object's page. */
const nextAction = (page: string) =>
  /<(?:a|button)[^>]*class="(?:button )?primary"[^>]*>([^<]*)</.exec(
    /<section class="card next-action"[\s\S]*?<\/section>/.exec(page)?.[0].replace(menuOf(page), '') ?? '',
  )?.[1]

const fieldsOf = (document: object, prefix = '') =>
  Object.fromEntries(Object.entries(document).map(([name, value]) => [prefix + name, String(value)]))

const audited = async (action: string) => {
  const rows = await app.deps.db('audit_log').where({ organisation_id: team.organisationId, action })
  return rows.length
}

test('a business is verified, found by its identifiers and shown with tiers', async (t) => {
  const fields = {
    gstin: '29AAACR5678D1Z5',
    cin: 'U28999MH2015PTC123456',
    legalName: 'Synthetic Components Private Limited',
  }
  const key = randomUUID()
  const sent = await submit(member, '/businesses/verify', fields, key)
  t.is(sent.status, 303, sent.text)
  t.is(
    (await submit(member, '/businesses/verify', fields, key)).next,
    sent.next,
    'a form that is sent twice creates one verification',
  )
  const page = await pageWith(sent.next, 'GSTIN: legal name')
  for (const part of ['Registry verified', '100 % similar', 'of GSTIN 29', 'Check this record', 'npm run -s verify']) {
    t.true(page.includes(part), part)
  }
  const vei = /businesses\/([A-Z2-7]{25}[0-9A-Z])/.exec(page)?.[1] ?? ''
  t.regex(await pageWith('/businesses', vei), />GSTIN 29AAACR5678D1Z5<[^$]*>CIN U28999[^$]*>all \d checks match</)
  for (const requested of [vei, '29aaacr5678d1z5', 'U28999MH2015PTC123456'])
    t.is((await reader.get(`${base}/businesses?q=${requested}`)).headers.location, `${base}/businesses/${vei}`)
  t.true((await reader.get(`${base}/businesses?q=%3Cb%3E`)).text.includes('No business with this identifier'))
  t.regex(
    (await member.get(`${base}/businesses?q=29AAACR5678D1Z9`)).text,
    /href="[^"]+\/verify\?gstin=29AAACR5678D1Z9[^"]*">Verify this business/,
  )

  const membership = { organisation: 'Bridge <Consortium>', role: 'lender', action: 'JOIN', effectiveOn: '2026-11-01' }
  t.is((await submit(member, `/businesses/${vei}/memberships/change`, { ...membership, action: 'LEAVE' })).status, 409)
  t.is((await submit(member, `/businesses/${vei}/memberships/change`, membership)).next, `/businesses/${vei}`)
  const owners = 'Asha Rao; person; 6,000; shares\nHolding & Sons; BUSINESS; 25 %; votes'
  t.is((await submit(member, `/businesses/${vei}/owners/state`, { owners })).next, `/businesses/${vei}`)
  const tooMuch = await submit(member, `/businesses/${vei}/owners/state`, { owners: 'A; PERSON; 10,001; x' })
  t.is(tooMuch.status, 422)
  t.true(tooMuch.text.includes('id="owners-error"'))
  t.is(
    (await submit(member, `/businesses/${vei}/passports/issue`, { purpose: 'loan', validForDays: '30' })).status,
    303,
  )
  t.is(await audited('business.passport-issued'), 1)
  const entity = await pageWith(`/businesses/${vei}`, 'Passports')
  for (const part of ['60.00 %', 'Not stated: 15.00 %', 'Memberships', 'identity.passport_issued'])
    t.true(entity.includes(part), part)
  const revoke = /(\/businesses\/[0-9A-Z]{26}\/passports\/[0-9a-f-]{36}\/revoke)"/.exec(entity)?.[1] ?? ''
  t.is((await submit(member, revoke, { reason: 'closed' })).status, 303)
  await pageWith(`/businesses/${vei}`, 'identity.passport_revoked')
  t.is((await submit(member, revoke, { reason: 'closed' })).status, 409)
  t.is(
    (await submit(member, revoke.replace(/passports.*/, `passports/${randomUUID()}/revoke`), { reason: 'x' })).status,
    404,
  )
  for (const name of ['Asha Rao', 'Holding &amp; Sons'])
    t.false(entity.includes(name), 'names of owners are not on the page')
  const again = await submit(member, `/businesses/${vei}/verify`, {})
  t.true(again.next.startsWith('/businesses/verifications/'))
  t.is(
    (await submit(member, `/businesses/${vei}/erase`, { reason: 'request' })).status,
    409,
    'a company cannot be erased',
  )
})

test('a person is erased after a confirmation, and no PAN is shown', async (t) => {
  const sent = await submit(member, '/businesses/verify', { pan: 'AAAPR5678D' })
  const vei = /businesses\/([A-Z2-7]{25}[0-9A-Z])/.exec(await pageWith(sent.next, 'pan.form'))?.[1] ?? ''
  const page = await pageWith(`/businesses/${vei}`, 'of a person')
  t.false(page.includes('AAAPR5678D'))
  const path = `/businesses/${vei}/erase`
  const question = 'Erase this person for good?'
  const requested = await submit(member, path, { reason: 'request', _question: question })
  t.is(requested.status, 200)
  t.true(requested.text.includes('Are you sure?'))
  t.is((await submit(member, path, { reason: 'request', _question: question, _confirmed: 'yes' })).status, 303)
  await pageWith(`/businesses/${vei}`, 'Erased')
  t.is((await reader.get(`${base}/businesses?q=AAAPR5678D`)).status, 200)
})

test('a receivable is checked, registered, financed, offered and released by buttons', async (t) => {
  const invoice = receivable()
  const clean = await submit(member, '/financing/check', { ...fieldsOf(invoice), statement: 'on' })
  t.is(clean.status, 303, clean.text)
  const page = await pageWith(clean.next, 'No similar receivable is registered')
  for (const part of ['No other organisation has registered this receivable.', 'class="button primary" href'])
    t.true(page.includes(part), part)
  t.true(page.includes('SHA-256 of the record'), 'the page has the hash of the anchored record')
  const made = await submit(member, '/financing/register', {
    ...fieldsOf(invoice),
    dueDate: '2026-08-01',
    dealId: '<i>D</i>',
  })
  const registration = await pageWith(made.next, 'Extend')
  for (const part of [invoice.documentNumber, 'registered', '&lt;i>D&lt;/i>', 'SHA-256 of the record'])
    t.true(registration.includes(part), part)
  t.is(nextAction(registration), 'Mark as financed')
  t.regex(menuOf(registration), /Extend[\s\S]*class="menu-foot"[\s\S]*Cancel the registration/, 'last and apart')
  t.false((await reader.get(base + made.next)).text.includes('Next step'), 'readers get no actions')
  const list = (await member.get(`${base}/financing`)).text
  t.deepEqual(
    [/class="button primary"[^>]*>([^<]*)</.exec(list)?.[1], menuOf(list).includes('/financing/dispute')],
    ['Check a receivable', true],
  )
  t.true((await reader.get(`${base}/financing`)).text.includes(made.next.split('/').at(-1) ?? '-'))

  const other = await openClient(app, app.url)
  await other.post('/v1/first-financing/checks', invoice)
  await pageWith(made.next, 'Checks by others')
  const dispute = await other.post('/v1/first-financing/disputes', { receivable: invoice, reason: 'ours' })
  t.is(dispute.status, 201, dispute.text)
  t.is(nextAction(await pageWith(made.next, dispute.json.disputeId)), 'Answer the dispute')
  const disputed = `/financing/disputes/${dispute.json.disputeId}`
  t.true((await member.get(base + disputed)).text.includes('Confirm our claim'))
  t.is((await member.post(`${base}${disputed}/confirm`, {}, base + disputed)).status, 303)
  await pageWith(disputed, 'confirmed')

  const press = (action: string, extra: Record<string, string> = {}) =>
    member.post(`${base}${made.next}/${action}`, extra, base + made.next)
  t.is((await press('release')).status, 409)
  t.is((await press('finance')).status, 303)
  const financed = await pageWith(made.next, 'Offer a transfer')
  t.is(nextAction(financed), undefined, 'giving the receivable up is never the main action')
  t.true(menuOf(financed).includes('Release the receivable'))
  t.is((await press('transfer')).status, 303)
  const shown = (await member.get(base + made.next)).text
  const token = /<code>([\w-]{43})<\/code>/.exec(shown)?.[1] ?? ''
  t.not(token, '')
  t.false((await member.get(base + made.next)).text.includes(token), 'shown once')
  t.is((await press('release', { _question: 'Sure?' })).status, 200, 'a confirmation comes first')
  t.is((await press('release', { _question: 'Sure?', _confirmed: 'yes' })).status, 303)
  await pageWith(made.next, 'released')
  t.is(await audited('registration.release'), 1)
})

test('a foreign duplicate is reported without details; a transfer is accepted', async (t) => {
  const other = await openClient(app, app.url)
  const invoice = receivable()
  const held = await register(other, invoice)
  const refused = await answered(await submit(member, '/financing/register', fieldsOf(invoice)))
  t.is(refused.status, 409)
  t.true(refused.text.includes(invoice.documentNumber), 'the form keeps its values')
  const check = await submit(member, '/financing/check', fieldsOf(invoice))
  const page = await pageWith(check.next, 'another organisation')
  for (const secret of [held.json.registrationId, other.credentials.organisationId]) t.false(page.includes(secret))
  await other.post(`/v1/first-financing/registrations/${held.json.registrationId}/finance`, {})
  const offer = await other.post(`/v1/first-financing/registrations/${held.json.registrationId}/transfer`, {})
  const taken = await submit(member, '/financing/accept', {
    transferToken: offer.json.transferToken,
    ...fieldsOf(invoice, 'receivable.'),
  })
  t.is(taken.status, 303, taken.text)
  await pageWith(taken.next, 'financed')
  const foreign = await member.get(`${base}/financing/${held.json.registrationId}`)
  t.is(foreign.status, 404)
})

test('the timeline of a receivable has records, adjustments and requests', async (t) => {
  const receivableRef = `RCV ${randomInt(1e9)} <b>`
  const at = '2026-06-20T18:30'
  const form = {
    receivableRef,
    channel: 'IMS',
    action: 'DEEMED_ACCEPTED',
    at,
    amountAccepted: '1,18,000',
    declaredBy: 'LENDER',
  }
  const next = `/acceptance/receivables/${encodeURIComponent(receivableRef)}`
  t.regex(
    (await member.get(`${base}/acceptance/record`)).text,
    />Date and time \(UTC\)<\/label><input [^>]*type="datetime-local"/,
  )
  const made = await submit(member, '/acceptance/record', form)
  t.is(made.next, next, made.text)
  const again = await answered(await submit(member, '/acceptance/record', { ...form, action: 'PENDING' }))
  t.is(again.status, 409)
  const unclear = await submit(member, '/acceptance/record', { ...form, at: 'soon', 'receivable.documentNumber': 'X' })
  t.is(unclear.status, 422)
  for (const part of ['id="at-error"', 'id="receivable.supplierGstin-error"']) t.true(unclear.text.includes(part), part)
  const adjustment = { receivableRef, kind: 'CREDIT_NOTE', amountInr: '5,900', at: '2026-07-01T00:00:00Z' }
  t.is((await submit(member, '/acceptance/adjust', adjustment)).next, next)
  const invoice = fieldsOf(receivable({ totalInr: 118_000 }), 'receivable.')
  const sent = await submit(member, '/acceptance/ask', { receivableRef, buyerEmail: 'buyer@example.com', ...invoice })
  t.is(sent.next, next, sent.text)
  const page = (await member.get(base + next)).text
  const parts = [
    '₹5,900.00',
    '5.00 %',
    '<span class="pill good">deemed accepted</span>',
    'Newest anchor: acceptance recorded',
    '20 Jun 2026, 18:30:00 UTC',
    '&lt;b>',
    'SHA-256 of the record',
  ]
  for (const part of parts) t.true(page.includes(part), part)
  t.is(nextAction(page), 'Record an adjustment')
  const unanswered = { receivableRef: `NEW ${randomInt(1e9)}`, channel: 'IMS', action: 'PENDING', at }
  const fresh = await submit(member, '/acceptance/record', { ...unanswered, declaredBy: 'LENDER' })
  t.is(nextAction(await pageWith(fresh.next, 'pending')), 'Ask the buyer')
  const link = /<code>(http:\S+\/a\/[\w-]{43})<\/code>/.exec(page)?.[1] ?? ''
  t.is((await createVisitor(app.url).get(new URL(link).pathname)).status, 200)
  t.false(page.includes('buyer@example.com'))
  t.true((await reader.get(`${base}/acceptance`)).text.includes(encodeURIComponent(receivableRef)))
})

test('the dilution of a pair is measured once and shown', async (t) => {
  const pair = { supplierGstin: scenarioGstin('44', gstinCheckCharacter), buyerGstin: '27AAACB1234C1ZF' }
  const measured = await submit(member, '/acceptance/measure', pair)
  t.is(measured.status, 303, measured.text)
  const page = await pageWith(measured.next, 'CREDIT_NOTES_HIGH')
  for (const part of ['12.00 %', 'One figure exceeds its threshold', '5.00 %']) t.true(page.includes(part), part)
  t.is((await member.get(`${base}/acceptance/dilution?supplierGstin=x`)).status, 400)
})
