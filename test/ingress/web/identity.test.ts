import { randomUUID } from 'node:crypto'
import test from 'ava'
import { trustIssuer } from '#shared/risk/operations/issuers.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import { certificates } from '../../support/identity-certificates.ts'
import { openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { holderJwk, newKeyPair, present } from '../../support/test-wallet.ts'
import { createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

const VCT = 'https://credentials.example/company'
const company = { legalName: 'Zebra Quartz Private Limited', gstin: '27AAACB1234C1ZF' }

let app: HttpProduct
let team: Team
let base: string
let member: Visitor
let reader: Visitor
let stranger: Visitor
let strangers: Team

test.before(async () => {
  app = await sharedProduct({ workers: ['presentation-verifier', 'identity-verifier', 'anchor'] })
  team = await createTeam(app, 'Acme <Finance>')
  await grantFamilies(app.db, team.organisationId, ['identity'])
  base = `/organisations/${team.organisationUuid}/risk/sandbox`
  member = await join(app, team, 'member')
  reader = await join(app, team, 'read-only')
  strangers = await createTeam(app, 'Other')
  await grantFamilies(app.db, strangers.organisationId, ['identity'])
  stranger = await join(app, strangers, 'owner')
})

async function submit(path: string, fields: Record<string, string>, visitor = member) {
  const page = base + path
  const answer = await visitor.post(page.split('?')[0] ?? '', { requestKey: randomUUID(), ...fields }, page)
  return { ...answer, next: (answer.headers.location ?? '').replace(base, '') }
}

const pageWith = (path: string, part: string, visitor = member) =>
  eventually(`${part} on ${path}`, async () => {
    const { text } = await visitor.get(base + path)
    return text.includes(part) && text
  })

const audited = async (action: string) =>
  (await app.db('audit_log').where({ organisation_id: team.organisationId, action })).length

async function addSubject(kind = 'PERSON'): Promise<string> {
  const added = await submit('/identity/subjects/add', { externalRef: 'customer-quartz-9', kind })
  return added.next.split('/').at(-1) ?? ''
}

test.serial('a page requests a presentation and follows it; revealing values is audited', async (t) => {
  const subject = await addSubject('BUSINESS')
  const requested = await submit('/identity/ask', { purpose: 'a <test>', subjectId: subject, retainHours: '2' })
  t.is(requested.status, 303, requested.text)
  t.regex(requested.next, /^\/identity\/presentations\/[0-9a-f-]{36}$/)
  const open = (await member.get(base + requested.next)).text
  t.true(open.includes('data-poll="2000"'))
  const page = /href="http:\/\/[^/]+(\/present\/[\w-]{43})"/.exec(open)?.[1] ?? ''
  const link = /href="(openid4vp:[^"]+)"/.exec((await member.get(page)).text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const holder = await newKeyPair()
  const client = await openClient(app, app.url)
  const issued = await client.post('/v1/sandbox/credentials', {
    holderJwk: holderJwk(holder),
    vct: VCT,
    claims: company,
  })
  t.is((await present(link, issued.json.credential, holder)).status, 200)

  const verified = (await member.get(base + requested.next)).text
  for (const part of [
    'verified',
    'https://issuer.sandbox.example',
    'legal name, GSTIN',
    'npm run -s verify',
    'a &lt;test>',
  ])
    t.true(verified.includes(part), part)
  for (const value of Object.values(company)) t.false(verified.includes(value), value)
  t.false((await reader.get(base + requested.next)).text.includes('Show the values'))
  t.is((await reader.post(`${base}${requested.next}/values`, {}, `${base}/identity/ask`)).status, 403)
  t.is(await audited('presentation.values_read'), 0)
  const shown = await member.post(`${base}${requested.next}/values`, {}, base + requested.next)
  t.is(shown.status, 200)
  for (const value of Object.values(company)) t.true(shown.text.includes(value), value)
  t.is(shown.headers['cache-control'], 'no-store')
  t.is(await audited('presentation.values_read'), 1)
  const { presentationId } = { presentationId: requested.next.split('/').at(-1) ?? '' }

  const checked = await submit(`/identity/subjects/${subject}/verify`, { method: 'PRESENTATION', presentationId })
  t.is(checked.status, 303, checked.text)
  await pageWith(checked.next, 'Assurance then')
  const made = await submit(`/identity/subjects/${subject}/passport`, { purpose: 'loan', validForDays: '30' })
  t.regex(made.next, /^\/identity\/passports\/[0-9a-f-]{36}$/, made.text)
  const whole = await pageWith(`/identity/subjects/${subject}`, 'Passports')
  for (const part of ['substantial', 'Issuer confirmed', 'Presentations', 'CHECKS_STARTED', 'identity.passport_issued'])
    t.true(whole.includes(part), part)
  t.false(whole.includes('customer-quartz-9'), 'the reference of the organisation is not shown')

  const passport = /passports\/([0-9a-f-]{36})\/revoke/.exec(whole)?.[1] ?? ''
  const verification = checked.next.split('/').at(-1) ?? ''
  const verifications = (await member.get(`${base}/identity/verifications`)).text
  for (const part of [`verifications/${verification}`, `subjects/${subject}`, 'Issuer confirmed'])
    t.true(verifications.includes(part), part)
  const passports = (await reader.get(`${base}/identity/passports`)).text
  for (const part of [`passports/${passport}`, 'loan', 'substantial', 'valid']) t.true(passports.includes(part), part)
  t.false(passports.includes('/revoke'), 'readers get no button to revoke')
  const valid = await pageWith(`/identity/passports/${passport}`, 'Anchor: identity passport issued')
  for (const part of ['Presentation of a wallet', 'Issuer confirmed', '/v1/identity/status-lists/', 'eyJ'])
    t.true(valid.includes(part), part)
  const revoked = await submit(`/identity/passports/${passport}/revoke`, { reason: 'lost' })
  t.is(revoked.next, `/identity/passports/${passport}`)
  const dead = await pageWith(revoked.next, 'Anchor: identity passport revoked')
  t.true(dead.includes('<span class="pill bad">revoked</span>'))
  t.false(dead.includes('/revoke"'))
  t.true((await pageWith(`/identity/subjects/${subject}`, 'identity.passport_revoked')).includes('revoked'))
  t.is((await submit(`/identity/subjects/${subject}/erase`, { reason: 'by letter' })).status, 303)
  t.true((await pageWith(`/identity/subjects/${subject}`, 'identity.erased')).includes('reasons are deleted'))
  t.is((await member.post(`${base}${requested.next}/values`, {}, base + requested.next)).status, 404)
  t.is(await audited('subject.erased'), 1)
})

test.serial('a form requests a person’s name or another credential without JSON', async (t) => {
  const form = (await member.get(`${base}/identity/ask`)).text
  for (const template of ['company-basic', 'person', 'other'])
    t.regex(form, new RegExp(`type="radio"[^>]*name="template" value="${template}"`))
  t.regex(form, /<details class="more"><summary>Advanced[\s\S]*name="query"/)
  t.notRegex(form, /name="query"[^>]*required/)
  const person = await submit('/identity/ask', { purpose: 'KYC', template: 'person' })
  t.regex((await member.get(base + person.next)).text, /given name, family name, birthdate/)
  const another = { purpose: 'KYC', template: 'other' }
  const wrong = await submit('/identity/ask', another)
  t.is(wrong.status, 422)
  for (const name of ['type', 'claims']) t.true(wrong.text.includes(`id="${name}-error"`), name)
  const other = await submit('/identity/ask', {
    ...another,
    type: 'urn:example:licence',
    claims: 'number, holder.name',
  })
  t.regex((await member.get(base + other.next)).text, /number, holder\.name/)
  const stored = await app.db('presentations').where('id', other.next.split('/').at(-1)).first('query')
  t.like(JSON.parse(stored.query).credentials[0], {
    meta: { vct_values: ['urn:example:licence'] },
    claims: [{ path: ['number'] }, { path: ['holder', 'name'] }],
  })
})

test.serial('the page of a subject offers the next step and the possible states', async (t) => {
  const subject = await addSubject()
  const page = (await member.get(`${base}/identity/subjects/${subject}`)).text
  t.regex(page, /Next step[\s\S]*class="button primary"[^>]*>Request from a wallet</)
  t.regex(page, /class="menu-foot"><a[^>]*>Erase…</)
  t.false((await reader.get(`${base}/identity/subjects/${subject}`)).text.includes('Next step'))
  const move = (await member.get(`${base}/identity/subjects/${subject}/move`)).text
  t.deepEqual(
    [...move.matchAll(/name="to" value="(\w+)"/g)].map(([, to]) => to),
    ['PENDING', 'REVOKED'],
  )
  t.regex(move, new RegExp(`href="${base}/identity/subjects/${subject}">\\s*Cancel`))
})

test.serial('consents are recorded, used for a query, listed and withdrawn', async (t) => {
  const subject = await addSubject()
  const consent = { subjectId: subject, purpose: 'identity verification', fields: 'pan, ckyc' }
  const past = await submit('/identity/consents/record', { ...consent, expiresAt: '2020-01-01T00:00:00Z' })
  t.is(past.status, 422)
  t.true(past.text.includes('id="expiresAt-error"'))
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  t.is((await submit('/identity/consents/record', { ...consent, expiresAt })).next, `/identity/subjects/${subject}`)
  const list = (await member.get(`${base}/identity/consents`)).text
  t.true(list.includes('PAN, CKYC'))
  const id = /consents\/([0-9a-f-]{36})\/withdraw/.exec(list)?.[1] ?? ''
  const offered = (await member.get(`${base}/identity/subjects/${subject}/verify`)).text
  t.regex(offered, new RegExp(`<option value="${id}">identity verification: PAN, CKYC, until [0-9]`))
  const pan = { method: 'REGISTRY', registry: 'PAN', identifier: 'AAAPZ7781Q', consentId: id }
  const checked = await submit(`/identity/subjects/${subject}/verify`, pan)
  t.false((await pageWith(checked.next, 'Registry verified')).includes('AAAPZ7781Q'))
  t.is((await submit(`/identity/consents/${id}/withdraw`, {})).next, '/identity/consents')
  t.true((await pageWith('/identity/consents', 'withdrawn')).includes('identity verification'))
  t.true((await pageWith(`/identity/subjects/${subject}`, 'no longer valid')).includes('identity.consent_withdrawn'))
  t.is((await submit(`/identity/subjects/${subject}/move`, { to: 'VERIFIED', reason: 'x' })).status, 409)
})

test.serial('issuers are trusted and distrusted with audit entries', async (t) => {
  const iss = 'https://issuer.example'
  const { publicJwk } = await newKeyPair()
  const { authority } = certificates
  const fields = { iss, vctValues: `${VCT}\nhttps://other.example/x`, assurance: 'SUBSTANTIAL' }
  const none = await submit('/identity/issuers/trust', fields)
  t.is(none.status, 422)
  t.true(none.text.includes('id="jwks-error"'))
  const jwks = JSON.stringify({ keys: [publicJwk] })
  const sent = {
    ...fields,
    jwks,
    caCertificates: `${authority}\n${authority}`,
    issuerMetadata: 'on',
    statusHosts: 'a.example',
  }
  t.is((await submit('/identity/issuers/trust', sent)).next, '/identity/issuers')
  t.is((await submit('/identity/issuers/trust', sent)).status, 409, 'it is trusted already')
  await trustIssuer(
    app.db,
    { organisationId: null, env: 'SANDBOX' },
    {
      iss: 'https://operators.example',
      vctValues: [VCT],
      issuerMetadata: true,
      statusHosts: [],
      assurance: 'HIGH',
    },
    app.deps,
  )
  const page = (await member.get(`${base}/identity/issuers`)).text
  for (const part of [
    iss,
    'its key set, its certificate authority, its metadata',
    'https://operators.example',
    'for all organisations',
  ])
    t.true(page.includes(part), part)
  t.is(page.match(/\/distrust"/g)?.length, 1, 'an issuer of the operator has no button to distrust')
  const [row] = await app.db('trusted_issuers').where({ organisation_id: team.organisationId })
  t.like(row, { vct_values: [VCT, 'https://other.example/x'], has_metadata: true, status_hosts: ['a.example'] })
  t.is(row.ca_certificates.length, 2)
  const read = (await reader.get(`${base}/identity/issuers`)).text
  t.true(read.includes(iss))
  t.false(read.includes('distrust'))
  const theirs = `/organisations/${strangers.organisationUuid}/risk/sandbox/identity/issuers/${row.id}/distrust`
  t.is((await stranger.post(theirs, { requestKey: randomUUID() }, theirs)).status, 404, 'not of another organisation')
  t.is((await submit(`/identity/issuers/${row.id}/distrust`, {})).next, '/identity/issuers')
  t.is((await submit(`/identity/issuers/${row.id}/distrust`, {})).status, 404)
  t.false((await member.get(`${base}/identity/issuers`)).text.includes('distrust'))
  t.deepEqual([await audited('issuer.trusted'), await audited('issuer.distrusted')], [1, 1])
})

test.serial('forms validate like the API, and readers cannot change anything', async (t) => {
  const subject = await addSubject()
  t.is((await submit('/identity/ask', { purpose: 'x', template: 'own' })).status, 422)
  const query = await submit('/identity/ask', { purpose: 'x', query: '{not json' })
  t.is(query.status, 422)
  const mdoc = {
    credentials: [{ id: 'a', format: 'mso_mdoc', meta: { vct_values: ['x'] }, claims: [{ path: ['y'] }] }],
  }
  const other = await submit('/identity/ask', { purpose: 'x', query: JSON.stringify(mdoc) })
  t.is(other.status, 422)
  t.true(other.text.includes('must be dc+sd-jwt'))
  const lists = ['', '/verifications', '/presentations', '/passports', '/consents', '/issuers']
  for (const path of [`/identity/subjects/${subject}`, ...lists.map((list) => `/identity${list}`)])
    t.is((await stranger.get(base + path)).status, 404, path)
  const passport = await app.db('passports').first('id')
  const theirs = `/organisations/${strangers.organisationUuid}/risk/sandbox`
  t.is((await stranger.get(`${theirs}/identity/passports/${passport.id}`)).status, 404)
  for (const list of ['/verifications', '/passports'])
    t.true((await stranger.get(`${theirs}/identity${list}`)).text.includes('class="card empty-card"'), list)
  for (const path of ['/identity/ask', '/identity/subjects/add', `/identity/subjects/${subject}/erase`])
    t.is((await reader.get(base + path)).status, 403, path)
  t.is((await member.get(`${base}/identity/subjects/${randomUUID()}`)).status, 404)
  t.is((await member.get(`${base}/identity/subjects/x`)).status, 404)
  t.true((await reader.get(`${base}/identity`)).text.includes('sr_'))
})
