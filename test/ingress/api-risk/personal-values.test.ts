import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { queueOf } from '#shared/contracts/define-message.ts'
import { presentationReceived } from '#shared/contracts/worker-messages.ts'
import { openDeadLetterQueues } from '#shared/platform/broker/dead-letter-queue.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import { listeningPort, openProduct, type Product } from '../../support/product.ts'
import { issueCredential, type KeyPair, presentCredential } from '../../support/test-issuer.ts'
import { answerOf, holderJwk, newKeyPair, post, resolveRequest } from '../../support/test-wallet.ts'
import { findTexts } from './stored-texts.ts'

/** Personal values, which occur in no other data of the run. */
const VALUES = {
  legalName: 'Quartzite Ingrid Vornamen',
  gstin: '27AAACB1234C1ZF',
  director: 'Zebrine Hollander-Unasked',
  pan: 'AAAPZ7781Q',
  externalRef: 'CUSTOMER-quartz-778',
  reason: 'she requested it by letter quartz-779',
  revoked: 'passport lost quartz-780',
}
const ALL = Object.values(VALUES)
const VCT = 'https://credentials.example/company'
const ISS = 'https://issuer.example'
const WORKERS = ['presentation-verifier', 'identity-verifier', 'sweeper', 'anchor', 'webhook-deliverer']

/** Starts the product as processes with all log levels. */
async function openAll() {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const product = await openProduct({
    hasRowSecurity: true,
    env: {
      PORT: String(port),
      PUBLIC_URL: base,
      ALLOW_PRIVATE_TARGETS: 'true',
      CHECKPOINT_DIR: await mkdtemp(join(tmpdir(), 'checkpoints-')),
    },
  })
  const noisy = { LOG_LEVEL: 'trace' }
  const ingress = product.spawn('ingress', [], noisy)
  const workers = product.spawn('workers', WORKERS, noisy)
  await listeningPort(ingress)
  // A wallet is kept waiting for ten seconds, and neither process takes part before it is connected.
  await eventually('the workers to be ready', () => workers.output().includes('process.ready'))
  await eventually('the ingress to be ready', async () => (await fetch(`${base}/readyz`)).ok)
  return { product, base, ingress, workers, [Symbol.asyncDispose]: () => product[Symbol.asyncDispose]() }
}

/** Waits until the message of an answer is dead-lettered; its record names the presentation and no value. */
async function seeDeadLetter(t: ExecutionContext, product: Product, presentationId: string): Promise<void> {
  await using deadLetters = await openDeadLetterQueues(product.config.amqpUrl)
  const queue = queueOf(presentationReceived, 'presentation-verifier')
  const letters = await eventually('the dead letter', async () => {
    const seen = await deadLetters.each(
      queue,
      10,
      () => 'keep',
      async () => {},
    )
    return seen.length > 0 && seen
  })
  const written = letters.map(({ message }) => message.body.toString() + JSON.stringify(message.headers)).join('\n')
  t.true(written.includes(presentationId))
  for (const value of ALL) t.false(written.includes(value), value)
}

/** The tables that contain sealed values. No table may contain them unsealed. */
async function sealedIn(t: ExecutionContext, product: Product, value: string): Promise<string[]> {
  const found = await findTexts(product, [value])
  t.deepEqual(
    found.filter(({ isSealed }) => !isSealed),
    [],
    `${value} in the clear`,
  )
  return [...new Set(found.map(({ table }) => table))].toSorted()
}

/** Queries a registry about a subject, moves it, and gives and takes a passport, each with unique words. */
async function notifyAll(t: ExecutionContext, own: ApiClient, subjectId: string): Promise<void> {
  const path = `/v1/identity/subjects/${subjectId}`
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  const consent = { subjectId, purpose: 'identity verification', fields: ['pan'], expiresAt }
  const { consentId } = (await own.post('/v1/identity/consents', consent)).json
  const registry = { method: 'REGISTRY', registry: 'PAN', identifier: VALUES.pan, consentId }
  t.is((await own.post(`${path}/verifications`, registry)).status, 201)
  for (const to of ['SUSPENDED', 'VERIFIED'])
    t.is((await own.post(`${path}/transitions`, { to, reason: VALUES.reason })).status, 201)
  const passport = (await own.post(`${path}/passports`, { purpose: 'onboarding' })).json
  const revoke = `/v1/identity/passports/${passport.passportId}/revoke`
  t.is((await own.post(revoke, { reason: VALUES.revoked })).status, 200)
  await own.post(revoke, { reason: VALUES.revoked, [VALUES.director]: VALUES.pan })
}

test('personal values are sealed at rest, deleted after retainHours and after erasure', async (t) => {
  t.timeout(300_000)
  await using opened = await openAll()
  const { product, base, ingress, workers } = opened
  const own = await openClient(product, base)
  const [issuer, holder] = [await newKeyPair(), await newKeyPair()]
  const row = { iss: ISS, vctValues: [VCT], jwks: { keys: [issuer.publicJwk] } }
  t.is((await own.post('/v1/identity/issuers', row)).status, 201)
  const endpoint = { url: 'https://hooks.example/in', events: ['*'] }
  await own.post('/v1/webhooks/endpoints', endpoint)

  const subject = { externalRef: VALUES.externalRef, kind: 'PERSON' }
  const { subjectId } = (await own.post('/v1/identity/subjects', subject)).json
  const path = `/v1/identity/subjects/${subjectId}`
  const claims = { legalName: VALUES.legalName, gstin: VALUES.gstin, director: VALUES.director }
  const credential = await issueCredential(
    issuer,
    { iss: ISS, vct: VCT, ...claims, cnf: { jwk: holderJwk(holder) } },
    Object.keys(claims),
  )
  const formFor = async (presentation: { authorizationRequest: string }, key: KeyPair) => {
    const request = await resolveRequest(presentation.authorizationRequest)
    const binding = { nonce: request.nonce, aud: request.clientId }
    const token = await presentCredential(credential, key, Object.keys(claims), binding)
    return await answerOf(request, { company: [token] })
  }
  const ask = async (more: object = {}) => {
    const body = { purpose: 'onboarding', template: 'company-basic', subjectId, ...more }
    return (await own.post('/v1/identity/presentations', body)).json
  }

  const requested = await ask()
  const { url, form } = await formFor(requested, holder)
  t.is((await post(url, form)).status, 200)
  const refused = await ask({ responseMode: 'direct_post.jwt' })
  const wrong = await formFor(refused, await newKeyPair())
  t.is((await post(wrong.url, wrong.form)).status, 400)
  const { presentationId } = requested
  t.is((await own.post(`${path}/verifications`, { method: 'PRESENTATION', presentationId })).status, 201)
  await notifyAll(t, own, subjectId)
  t.is((await own.get(`/v1/identity/presentations/${presentationId}/claims`)).json.claims.gstin, VALUES.gstin)

  // The scan finds the stored values, sealed, in their places; an unrequested claim is not stored.
  t.deepEqual(await sealedIn(t, product, VALUES.legalName), ['presentation_values'])
  t.deepEqual(await sealedIn(t, product, VALUES.gstin), ['presentation_values'])
  t.deepEqual(await sealedIn(t, product, VALUES.director), [])
  t.deepEqual(await sealedIn(t, product, VALUES.pan), ['identity_verifications'])
  t.deepEqual(await sealedIn(t, product, VALUES.externalRef), ['identity_subjects'])
  t.deepEqual(await sealedIn(t, product, VALUES.reason), ['identity_transitions'])
  t.deepEqual(await sealedIn(t, product, VALUES.revoked), ['passports'])

  // An answer with a dead-lettered message: its form is sealed in its row, and the dead letter contains an id.
  const stuck = await ask({ responseMode: 'direct_post.jwt' })
  const late = await formFor(stuck, holder)
  const stuckRow = () => product.db('presentations').where({ id: stuck.presentationId })
  const { sealed_secrets } = await stuckRow().first('sealed_secrets')
  await stuckRow().update({ sealed_secrets: 'v2.AAAA' })
  t.is((await post(late.url, late.form)).status, 200, 'it is still being verified')
  await seeDeadLetter(t, product, stuck.presentationId)
  const received = { id: stuck.presentationId, state: 'RECEIVED' }
  t.not((await product.db('presentations').where(received).first('sealed_form')).sealed_form, null)
  await product
    .db('presentations')
    .where(received)
    .update({ received_at: new Date(Date.now() - 25 * 3_600_000) })
  await eventually('the unverified form to be purged', async () => {
    const row = await product.db('presentations').where({ id: stuck.presentationId }).first('state', 'sealed_form')
    return row.state === 'EXPIRED' && row.sealed_form === null
  })

  await stuckRow().update({ sealed_secrets })

  // Another request's values end with retainHours.
  const short = await ask({ retainHours: 0 })
  const brief = await formFor(short, holder)
  t.is((await post(brief.url, brief.form)).status, 200)
  await eventually('values to be purged at retainHours', async () => {
    const left = await product.db('presentation_values').where({ presentation_id: short.presentationId })
    return left.length === 0
  })

  const receipt = await own.post(`${path}/erasure`, { reason: VALUES.reason })
  t.is(receipt.status, 200, receipt.text)
  t.deepEqual(await findTexts(product, ALL), [], 'no column of any table holds a value, sealed or not')
  t.is((await own.get(`/v1/identity/presentations/${presentationId}/claims`)).status, 404)
  const { record } = (await own.get(`/v1/identity/presentations/${presentationId}`)).json
  t.is(record.anchor.payloadSha256, payloadSha256(record))

  const inbox = await own.get('/v1/sandbox/webhook-inbox')
  for (const [what, text] of Object.entries({
    ingress: ingress.output(),
    workers: workers.output(),
    inbox: inbox.text,
  })) {
    t.not(text, '', `there is something of ${what}`)
    for (const value of ALL) t.false(text.includes(value), `${what} contains ${value}`)
  }
})
