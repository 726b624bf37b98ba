import { hash } from 'node:crypto'
import test from 'ava'
import { inflateList, statusAt } from '#shared/risk/credentials/status-list.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { holderJwk, newKeyPair, present } from '../../support/test-wallet.ts'
import { eventsOf } from './financing-support.ts'
import { findTexts } from './stored-texts.ts'

let product: HttpProduct
let client: ApiClient

const VCT = 'https://credentials.example/company'
/** Values that must not be stored or logged. */
const SECRETS = {
  legalName: 'Zebra Quartz Components Private Limited',
  externalRef: 'CUSTOMER-quartz-778',
  pan: 'AAAPZ7781Q',
  reason: 'she requested it by letter quartz-778',
}

test.before(async () => {
  product = await sharedProduct({ workers: ['presentation-verifier', 'identity-verifier', 'sweeper'] })
  client = await openClient(product, product.url)
})

const path = (subjectId: string, what = '') => `/v1/identity/subjects/${subjectId}${what}`

async function makeSubject(own = client, kind = 'PERSON'): Promise<string> {
  const made = await own.post('/v1/identity/subjects', { externalRef: SECRETS.externalRef, kind })
  if (made.status !== 201) throw new Error(made.text)
  return made.json.subjectId
}

async function consent(own: ApiClient, subjectId: string, more: object = {}) {
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  const body = { subjectId, purpose: 'identity verification', fields: ['pan'], expiresAt, ...more }
  return await own.post('/v1/identity/consents', body)
}

const verify = (own: ApiClient, subjectId: string, body: object) => own.post(path(subjectId, '/verifications'), body)
const byRegistry = (consentId?: string) => ({
  method: 'REGISTRY',
  registry: 'PAN',
  identifier: SECRETS.pan,
  ...(consentId === undefined ? {} : { consentId }),
})

/** A presentation of the sandbox's issuer, verified. */
async function presented(own: ApiClient, more: object = {}, legalName = SECRETS.legalName): Promise<string> {
  const holder = await newKeyPair()
  const body = { purpose: 'onboarding', template: 'company-basic', ...more }
  const requested = await own.post('/v1/identity/presentations', body)
  const claims = { legalName, gstin: '29AAACR5678D1Z5' }
  const issued = await own.post('/v1/sandbox/credentials', { holderJwk: holderJwk(holder), vct: VCT, claims })
  await present(requested.json.authorizationRequest, issued.json.credential, holder)
  const { presentationId } = requested.json
  // A wallet gets its acknowledgement while a slow verifier is still at work.
  const state = async () => (await own.get(`/v1/identity/presentations/${presentationId}`)).json.state
  await eventually('it to be verified', async () => (await state()) === 'VERIFIED')
  return presentationId
}

const stateOf = async (own: ApiClient, subjectId: string) => (await own.get(path(subjectId))).json.state
const move = (own: ApiClient, subjectId: string, to: string, more: object = {}) =>
  own.post(path(subjectId, '/transitions'), { to, reason: SECRETS.reason, ...more })

test.serial('a presentation and a registry verify a subject as HIGH, with anchored transitions', async (t) => {
  const own = await openClient(product, product.url)
  const subjectId = await makeSubject(own)
  const presentationId = await presented(own, { subjectId })
  const first = await verify(own, subjectId, { method: 'PRESENTATION', presentationId })
  t.is(first.status, 201, first.text)
  t.like(first.json, { tier: 'ISSUER_CONFIRMED', assurance: { level: 'SUBSTANTIAL' } })
  t.is(await stateOf(own, subjectId), 'VERIFIED')
  const agreed = await consent(own, subjectId)
  t.is(agreed.status, 201, agreed.text)
  const second = await verify(own, subjectId, byRegistry(agreed.json.consentId))
  t.like(second.json, { tier: 'REGISTRY_VERIFIED', assurance: { level: 'HIGH' } })
  t.false(second.text.includes(SECRETS.pan))
  const seen = await own.get(path(subjectId))
  t.deepEqual(
    seen.json.transitions.map(({ from, to }: { from: string; to: string }) => `${from} ${to}`),
    ['PENDING VERIFIED', 'UNVERIFIED PENDING'],
  )
  for (const transition of seen.json.transitions) t.is(transition.anchor.payloadSha256, payloadSha256(transition))
  t.is(seen.json.externalRef, SECRETS.externalRef)
  t.is((await verify(own, subjectId, { method: 'PRESENTATION', presentationId })).status, 409, 'it counts once')
  t.deepEqual(await eventsOf(product, own), [
    'identity.state_changed',
    'identity.state_changed',
    'oid4vp.presentation_received',
  ])
  t.like((await own.get('/v1/usage')).json.usage, [{ family: 'identity', units: 3 }])
})

test.serial('a registry query about a person requires live consent for field and purpose', async (t) => {
  const subjectId = await makeSubject()
  const read = async (consentId?: string, more: object = {}) =>
    (await verify(client, subjectId, { ...byRegistry(consentId), ...more })).json
  t.like(await read(), { tier: 'MISSING', missingReason: 'NO_CONSENT' })
  t.is(await stateOf(client, subjectId), 'UNVERIFIED', 'a failed verification')
  const other = await consent(client, subjectId, { fields: ['name'] })
  t.like(await read(other.json.consentId), { missingReason: 'NO_CONSENT' })
  const agreed = await consent(client, subjectId)
  t.like(await read(agreed.json.consentId, { purpose: 'marketing' }), { missingReason: 'NO_CONSENT' })
  t.like(await read(agreed.json.consentId), { tier: 'REGISTRY_VERIFIED' })
  t.is(await stateOf(client, subjectId), 'VERIFIED')
  const { consentId } = agreed.json
  const stored = () => product.db('identity_verifications').where({ consent_id: consentId }).first('sealed_values')
  t.truthy((await stored()).sealed_values)
  const withdrawn = await client.post(`/v1/identity/consents/${consentId}/withdraw`, {})
  t.is(withdrawn.status, 200, withdrawn.text)
  t.is(withdrawn.json.anchor.payloadSha256, payloadSha256(withdrawn.json))
  t.is((await stored()).sealed_values, null, 'what was read under it is gone')
  t.is((await client.post(`/v1/identity/consents/${consentId}/withdraw`, {})).status, 409)
  t.like(await read(consentId), { missingReason: 'CONSENT_REVOKED' })
  await product
    .db('consents')
    .where({ id: other.json.consentId })
    .update({ fields: ['pan'], expires_at: new Date(0) })
  t.like(await read(other.json.consentId), { missingReason: 'CONSENT_EXPIRED' })
  await eventually('the sweeper to let it expire', async () => (await stateOf(client, subjectId)) === 'EXPIRED')
  const states = (await client.get(`/v1/identity/consents?subjectId=${subjectId}`)).json.consents
  t.deepEqual(states.map(({ state }: { state: string }) => state).toSorted(), ['EXPIRED', 'WITHDRAWN'])
})

test.serial('two sweepers expire an assurance with one transition and one event', async (t) => {
  const own = await openClient(product, product.url)
  await using other = await product.workers(['sweeper'])
  const subjectId = await makeSubject(own)
  const over = { state: 'VERIFIED', assurance_expires_at: new Date(Date.now() - 1_000) }
  await product.db('identity_subjects').where({ id: subjectId }).update(over)
  await eventually('it to expire', async () => (await stateOf(own, subjectId)) === 'EXPIRED')
  t.is((await own.get(path(subjectId))).json.transitions.length, 1)
  t.deepEqual(await eventsOf(product, own), ['identity.state_changed'])
  t.truthy(other)
})

test.serial('an issuer’s status list suspends an identity', async (t) => {
  const subjectId = await makeSubject()
  const presentationId = await presented(client, { subjectId })
  await verify(client, subjectId, { method: 'PRESENTATION', presentationId })
  const rows = product.db('identity_verifications').where({ subject_id: subjectId })
  const { sealed_status: sealed } = await rows.clone().first('sealed_status')
  const { secrets } = product.deps
  const [reference] = JSON.parse(secrets.open('identity', sealed))
  const revoked = secrets.seal('identity', JSON.stringify([{ ...reference, idx: 1 }]))
  await rows.clone().update({ sealed_status: revoked, status_checked_at: new Date(0) })
  await eventually('it to be suspended', async () => (await stateOf(client, subjectId)) === 'SUSPENDED')
  t.like((await client.get(path(subjectId))).json, { assurance: { level: 'NONE' } })
})

test.serial('only a document signed by a trusted issuer is a factor', async (t) => {
  const issuer = await newKeyPair()
  const iss = 'https://notary.example'
  await client.post('/v1/identity/issuers', { iss, vctValues: ['x'], jwks: { keys: [issuer.publicJwk] } })
  const documentSha256 = hash('sha256', 'a document')
  const { CompactSign, importJWK } = await import('jose')
  const sign = async (text: string, key = issuer) =>
    await new CompactSign(Buffer.from(text))
      .setProtectedHeader({ alg: 'ES256', kid: issuer.publicJwk.kid ?? '', iss })
      .sign(await importJWK(key.privateJwk, 'ES256'))
  const subjectId = await makeSubject()
  const body = (signature: string) => ({ method: 'DOCUMENT', documentSha256, signature })
  const foreign = await verify(client, subjectId, body(await sign(documentSha256, await newKeyPair())))
  t.like(foreign.json, { tier: 'MISSING', missingReason: 'UNPARSEABLE' })
  t.like((await verify(client, subjectId, body(await sign(hash('sha256', 'x'))))).json, { tier: 'MISSING' })
  const right = await verify(client, subjectId, body(await sign(documentSha256)))
  t.like(right.json, { tier: 'DOCUMENT_SIGNED', assurance: { level: 'LOW' } })
})

test.serial('anyone can verify a passport, as JSON and as credential, until it is revoked', async (t) => {
  const subjectId = await makeSubject()
  const early = await client.post(path(subjectId, '/passports'), { purpose: 'onboarding' })
  t.like(early.json, { status: 409, errors: [{ code: 'UNVERIFIED' }] })
  await verify(client, subjectId, { method: 'PRESENTATION', presentationId: await presented(client, { subjectId }) })
  const made = await client.post(path(subjectId, '/passports'), { purpose: 'onboarding', validForDays: 30 })
  t.is(made.status, 201, made.text)
  const { record, credential, passportId } = made.json
  t.is(record.anchor.payloadSha256, payloadSha256(record))
  t.like(record, { kind: 'KYC', assurance: { level: 'SUBSTANTIAL' }, evidence: [{ key: 'presentation' }] })
  const other = await openClient(product, product.url)
  const check = async (passport: unknown) => (await other.post('/v1/identity/passports/verify', { passport })).json
  t.like(await check(record), { valid: true, reasons: [], summary: { passportId, subjectRef: record.subjectRef } })
  t.like(await check(credential), { valid: true, reasons: [], summary: { passportId } })
  t.like(await check({ ...record, purpose: 'another' }), { valid: false, reasons: ['ANCHOR_UNKNOWN', 'HASH_MISMATCH'] })
  t.like(await check(`${credential.slice(0, -9)}AAAAAAAA~`), { valid: false, reasons: ['SIGNATURE'], summary: null })
  const list = async () => {
    const answer = await send(record.statusList.uri)
    const [, payload = ''] = answer.text.split('.')
    const { status_list: lst, sub } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    t.is(sub, record.statusList.uri)
    const inflated = await inflateList(lst)
    return inflated && statusAt(inflated, record.statusList.idx)
  }
  t.is(await list(), 'VALID')
  const revoked = await client.post(`/v1/identity/passports/${passportId}/revoke`, { reason: SECRETS.reason })
  t.is(revoked.status, 200, revoked.text)
  t.is(await list(), 'REVOKED')
  t.like(await check(record), { valid: false, reasons: ['REVOKED'] })
  t.like(await check(credential), { valid: false, reasons: ['REVOKED'] })
  t.is((await client.post(`/v1/identity/passports/${passportId}/revoke`, { reason: 'again' })).status, 409)
  await product
    .db('passports')
    .where({ id: passportId })
    .update({ expires_at: new Date(0) })
  const keys = (await send(`${product.url}/.well-known/jwt-vc-issuer`)).json
  t.is(keys.issuer, product.url)
  t.is(keys.jwks.keys.length, 2)
  t.is(keys.jwks.keys[0].d, undefined)
})

test.serial('erasing a subject deletes all values and revokes its passport; anchors still verify', async (t) => {
  const own = await openClient(product, product.url)
  const subjectId = await makeSubject(own)
  const legalName = 'Erasable Amber Works Private Limited'
  const presentationId = await presented(own, { subjectId }, legalName)
  await verify(own, subjectId, { method: 'PRESENTATION', presentationId })
  await verify(own, subjectId, byRegistry((await consent(own, subjectId)).json.consentId))
  await move(own, subjectId, 'SUSPENDED')
  await move(own, subjectId, 'VERIFIED')
  const { record } = (await own.post(path(subjectId, '/passports'), { purpose: 'onboarding' })).json
  const claims = `/v1/identity/presentations/${presentationId}/claims`
  t.is((await own.get(claims)).json.claims.legalName, legalName)
  const kept = (await findTexts(product, [legalName])).map(({ table, isSealed }) => [table, isSealed])
  t.deepEqual(kept.toSorted(), [
    ['idempotency_keys', true],
    ['presentation_values', true],
  ])
  const reads = await product.db('audit_log').where({ action: 'presentation.values_read', target: presentationId })
  t.is(reads.length, 1, 'each read is in the audit log')
  const receipt = await own.post(path(subjectId, '/erasure'), { reason: SECRETS.reason })
  t.is(receipt.status, 200, receipt.text)
  t.like(receipt.json, { counts: { values: 1, identifiers: 3, reasons: 2, passports: 1 } })
  t.is(receipt.json.anchor.payloadSha256, payloadSha256(receipt.json))
  t.deepEqual((await own.post(path(subjectId, '/erasure'), { reason: 'again' })).json, receipt.json)
  t.is((await own.get(claims)).status, 404)
  t.is(await stateOf(own, subjectId), 'REVOKED')
  t.is((await own.get(path(subjectId))).json.externalRef, null)
  const check = await own.post('/v1/identity/passports/verify', { passport: record })
  t.like(check.json, { valid: false, reasons: ['REVOKED'] })
  t.is((await verify(own, subjectId, byRegistry())).status, 409)
  const shown = await own.get(`/v1/identity/presentations/${presentationId}`)
  t.is(shown.json.record.anchor.payloadSha256, payloadSha256(shown.json.record))
  const rows = async (table: string, where: object) => await product.db(table).where(where)
  t.deepEqual(await rows('presentation_values', { presentation_id: presentationId }), [])
  t.deepEqual(await findTexts(product, [legalName]), [], 'nor the answer in which the sandbox issued it')
  for (const row of await rows('identity_verifications', { subject_id: subjectId })) {
    t.is(row.sealed_values, null)
    t.is(row.sealed_status, null)
  }
  for (const row of await rows('identity_transitions', { subject_id: subjectId })) t.is(row.sealed_reason, null)
})

test.serial('values are deleted after retainHours', async (t) => {
  const legalName = 'Fleeting Amber Works Private Limited'
  const presentationId = await presented(client, { retainHours: 0 }, legalName)
  t.is((await client.get(`/v1/identity/presentations/${presentationId}`)).json.state, 'VERIFIED')
  t.is((await client.get(`/v1/identity/presentations/${presentationId}/claims`)).status, 404)
  await eventually('the sweeper to purge them', async () => {
    const left = await product.db('presentation_values').where({ presentation_id: presentationId })
    return left.length === 0
  })
  t.deepEqual(await findTexts(product, [legalName]), [])
})

test.serial('no table contains an unsealed personal value', async (t) => {
  const tables: { name: string }[] = await product
    .db('pg_class')
    .select('relname as name')
    .where({ relkind: 'r' })
    .whereRaw(`relnamespace = 'public'::regnamespace`)
  t.true(tables.length > 80)
  for (const { name } of tables)
    for (const [what, value] of Object.entries(SECRETS)) {
      const { rows } = await product.db.raw(`SELECT 1 FROM ?? t WHERE t::text LIKE ? LIMIT 1`, [name, `%${value}%`])
      t.is(rows.length, 0, `${name} holds ${what}`)
    }
  t.is((await client.get('/v1/identity/subjects')).json.subjects[0].externalRef, SECRETS.externalRef, 'it was stored')
})
