import { createPrivateKey, X509Certificate } from 'node:crypto'
import test from 'ava'
import { compactVerify, decodeProtectedHeader, type JWK } from 'jose'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { certificates } from '../../support/identity-certificates.ts'
import { type ApiClient, openClient, send } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'
import type { KeyPair } from '../../support/test-issuer.ts'
import { presentCredential } from '../../support/test-issuer.ts'
import { answerOf, holderJwk, newKeyPair, post, resolveRequest } from '../../support/test-wallet.ts'
import {
  client,
  company,
  holder,
  iss,
  issuer,
  newCredential,
  product,
  readPresentation,
  requestPresentation,
  serveDocument,
  start,
  stop,
  submitPresentation,
  trust,
  VCT,
} from './presentation-support.ts'

const BOTH = { names: ['legalName', 'gstin'] }

test.before(start)
test.after.always(stop)

const rawOf = (pem: string) => new X509Certificate(pem).raw.toString('base64')
const pairOf = (pem: string): KeyPair => {
  const privateJwk = createPrivateKey(pem).export({ format: 'jwk' }) as JWK
  const { kty, crv, x, y } = privateJwk as { kty: string; crv: string; x: string; y: string }
  return { privateJwk, publicJwk: { kty, crv, x, y } }
}
const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

test.serial('trusts an x5c chain to a stored authority only for the host of its issuer', async (t) => {
  const own = await openClient(product, product.url)
  const { authority } = certificates
  for (const name of ['issuer.test', 'elsewhere.test']) {
    const row = { iss: `https://${name}`, vctValues: [VCT], caCertificates: [authority] }
    t.is((await own.post('/v1/identity/issuers', row)).status, 201)
  }
  const signed = async (host: string, leaf: string, key: string, chain: string[] = []) => {
    const x5c = [rawOf(leaf), ...chain.map(rawOf)]
    return await newCredential({ iss: `https://${host}` }, pairOf(key), { kid: undefined, x5c })
  }
  const { issuer: leaf, issuerKey, other, otherKey } = certificates
  const tries: [string, string, string | null][] = [
    ['its own certificate', await signed('issuer.test', leaf, issuerKey), null],
    ['its own certificate and the authority', await signed('issuer.test', leaf, issuerKey, [authority]), null],
    ['a certificate of another host', await signed('issuer.test', other, otherKey), 'ISSUER_UNTRUSTED'],
    ['its certificate for another name', await signed('elsewhere.test', leaf, issuerKey), 'ISSUER_UNTRUSTED'],
    ['its certificate, signed by another key', await signed('issuer.test', leaf, otherKey), 'ISSUER_SIGNATURE'],
    [
      'a chain with a certificate of another issuer',
      await signed('issuer.test', leaf, issuerKey, [other]),
      'ISSUER_UNTRUSTED',
    ],
  ]
  for (const [what, credential, reason] of tries) {
    const requested = await requestPresentation(own)
    t.is((await submitPresentation(requested, { credential })).status, reason === null ? 200 : 400, what)
    const expected =
      reason === null ? { state: 'VERIFIED', issuer: { tier: 'DOCUMENT_SIGNED' } } : { reasons: [reason] }
    t.like((await readPresentation(own, requested)).json, expected, what)
  }
})

test.serial('ignores keys in the header of a credential', async (t) => {
  const stranger = await newKeyPair()
  for (const header of [{ jwk: holderJwk(stranger) }, { jku: `${iss}/jwks` }, { x5u: `${iss}/x5u` }]) {
    const requested = await requestPresentation(client)
    const credential = await newCredential({}, { ...stranger, publicJwk: issuer.publicJwk }, header)
    t.is((await submitPresentation(requested, { credential })).status, 400)
    t.deepEqual((await readPresentation(client, requested)).json.reasons, ['ISSUER_SIGNATURE'])
  }
})

test.serial('uses keys of the issuer’s metadata only if issuerMetadata is set', async (t) => {
  const key = await newKeyPair()
  const credential = await newCredential({}, key)
  serveDocument('/.well-known/jwt-vc-issuer', JSON.stringify({ issuer: iss, jwks: { keys: [key.publicJwk] } }))
  const own = await openClient(product, product.url)
  const row = { iss, vctValues: [VCT], issuerMetadata: true }
  t.is((await own.post('/v1/identity/issuers', row)).status, 201)
  t.is((await submitPresentation(await requestPresentation(own), { credential })).status, 200)
  const without = await requestPresentation(client)
  t.is((await submitPresentation(without, { credential })).status, 400)
  t.deepEqual((await readPresentation(client, without)).json.reasons, ['ISSUER_UNTRUSTED'])
})

for (const alg of ['ES256', 'ES384', 'EdDSA'] as const)
  test.serial(`issuer and holder may sign with ${alg}`, async (t) => {
    const [signer, subject] = [await newKeyPair(alg), await newKeyPair(alg)]
    const own = await openClient(product, product.url)
    t.is((await trust(own, { jwks: { keys: [signer.publicJwk] } })).status, 201)
    const credential = await newCredential({ cnf: { jwk: holderJwk(subject) } }, signer)
    t.like(decodeProtectedHeader(credential.split('~')[0] ?? ''), { alg })
    const requested = await requestPresentation(own)
    t.is((await submitPresentation(requested, { credential, by: subject })).status, 200)
    t.is((await readPresentation(own, requested)).json.state, 'VERIFIED')
  })

test.serial('serves a request object ten times with equal claims, and adds the wallet nonce of a POST', async (t) => {
  const requested = await requestPresentation(client)
  const { requestUri } = requested.json
  const first = await send(requestUri)
  t.is(first.headers.get('content-type'), 'application/oauth-authz-req+jwt')
  t.is(first.headers.get('cache-control'), 'no-store')
  t.like(decodeProtectedHeader(first.text), { typ: 'oauth-authz-req+jwt', alg: 'ES256' })
  const claims = claimsOf(first.text)
  t.is(claims.exp - claims.iat, 300)
  t.is(claims.wallet_nonce, undefined)
  for (const name of ['nonce', 'state']) t.is(Buffer.from(claims[name], 'base64url').length, 32, name)
  t.deepEqual(claims.dcql_query.credentials[0].claims, [{ path: ['legalName'] }, { path: ['gstin'] }])
  const posted = await send(requestUri, { method: 'POST', body: new URLSearchParams({ wallet_nonce: 'w-1' }) })
  t.deepEqual(claimsOf(posted.text), { ...claims, wallet_nonce: 'w-1' })
  for (let n = 3; n <= 10; n++) t.deepEqual(claimsOf((await send(requestUri)).text), claims, `fetch ${n}`)
  t.is((await send(requestUri)).status, 410)
})

test.serial('answered and expired requests return 410', async (t) => {
  const requested = await requestPresentation(client)
  t.is((await submitPresentation(requested)).status, 200)
  t.is((await send(requested.json.requestUri)).status, 410)
  const late = await requestPresentation(client)
  const request = await resolveRequest(late.json.authorizationRequest)
  const { presentationId } = late.json
  await product
    .db('presentations')
    .where({ id: presentationId })
    .update({ expires_at: new Date(Date.now() - 1) })
  t.is((await send(late.json.requestUri)).status, 410)
  const binding = { nonce: request.nonce, aud: request.clientId }
  const presentation = await presentCredential(await newCredential(), holder, BOTH.names, binding)
  const { form } = await answerOf(request, { company: [presentation] })
  t.is((await post(request.responseUri, form)).status, 410)
  t.is((await readPresentation(client, late)).json.state, 'EXPIRED')
})

/** Returns a redirect URI, which it allows for the client's organisation as the operator does. */
async function redirectOf(own: ApiClient): Promise<string> {
  const uri = 'https://app.example/back?from=wallet'
  const { organisation_id } = await product.db('clients').where({ client_id: own.credentials.clientId }).first()
  await product.db('presentation_redirects').insert({ organisation_id, env: 'SANDBOX', uri })
  return uri
}

test.serial('with a redirect URI, a client reads the claims only with the response code', async (t) => {
  const redirectUri = await redirectOf(client)
  const requested = await requestPresentation(client, { redirectUri })
  t.is(requested.status, 201, requested.text)
  const { status, text } = await submitPresentation(requested)
  t.is(status, 200)
  const back = new URL(JSON.parse(text).redirect_uri)
  t.is(back.origin + back.pathname, 'https://app.example/back')
  t.is(back.searchParams.get('from'), 'wallet')
  const code = back.searchParams.get('response_code') ?? ''
  t.is(Buffer.from(code, 'base64url').length, 32)
  const claims = `/v1/identity/presentations/${requested.json.presentationId}/claims`
  t.is((await client.get(claims)).status, 404)
  t.is((await client.get(`${claims}?responseCode=${code.slice(1)}A`)).status, 404)
  t.deepEqual((await client.get(`${claims}?responseCode=${code}`)).json.claims, company)
  const refused = await requestPresentation(client, { redirectUri })
  t.is((await submitPresentation(refused, { change: () => 'x' })).text, '{"error":"invalid_presentation"}')
})

const claimsQuery = (names: string[]) => names.map((name) => ({ id: name, path: [name] }))
const credentialQuery = (id: string, more: object = {}) => ({
  id,
  format: 'dc+sd-jwt',
  meta: { vct_values: [VCT] },
  claims: claimsQuery(['legalName', 'gstin']),
  ...more,
})

/** Requests a presentation with the query and submits the answers, which are grouped by credential id. */
async function answered(query: object, answers: Record<string, { names: string[]; credential?: string }[]>) {
  const requested = await requestPresentation(client, { template: undefined, query })
  if (requested.status !== 201) throw new Error(requested.text)
  const request = await resolveRequest(requested.json.authorizationRequest)
  const binding = { nonce: request.nonce, aud: request.clientId }
  const token: Record<string, string[]> = {}
  for (const [id, list] of Object.entries(answers)) {
    token[id] = await Promise.all(
      list.map(async ({ names, credential }) =>
        presentCredential(credential ?? (await newCredential()), holder, names, binding),
      ),
    )
  }
  const { form } = await answerOf(request, token)
  const { status } = await post(request.responseUri, form)
  return { status, seen: (await readPresentation(client, requested)).json }
}

test.serial('several credentials are presented together, and one failure refuses all', async (t) => {
  const query = {
    credentials: [credentialQuery('one', { claims: claimsQuery(['legalName']) }), credentialQuery('two')],
  }
  const good = await answered(query, { two: [BOTH], one: [{ names: ['legalName'] }] })
  t.is(good.status, 200)
  t.deepEqual(
    good.seen.fields,
    ['["one",0,"legalName"]', '["two",0,"legalName"]', '["two",0,"gstin"]'],
    'fields of several credentials contain credential id and presentation number',
  )
  t.deepEqual(
    good.seen.record.credentials.map(({ id }: { id: string }) => id),
    ['one', 'two'],
  )
  t.is(good.seen.record.anchor.payloadSha256, payloadSha256(good.seen.record))
  const missing = await answered(query, { one: [{ names: ['legalName'] }] })
  t.deepEqual([missing.status, missing.seen.reasons], [400, ['QUERY_NOT_SATISFIED']])
  const expired = await newCredential({ exp: Math.floor(Date.now() / 1000) - 600 })
  const bad = await answered(query, { one: [{ names: ['legalName'] }], two: [{ ...BOTH, credential: expired }] })
  t.deepEqual([bad.status, bad.seen.reasons, bad.seen.fields], [400, ['CREDENTIAL_EXPIRED'], []])
})

test.serial('a credential set accepts any option, and optional sets may be missing', async (t) => {
  const credentials = ['one', 'two', 'three'].map((id) => credentialQuery(id))
  const credential_sets = [{ options: [['one', 'two'], ['three']] }, { options: [['one']], required: false }]
  t.is((await answered({ credentials, credential_sets }, { three: [BOTH] })).status, 200)
  t.is((await answered({ credentials, credential_sets }, { one: [BOTH], two: [BOTH] })).status, 200)
  t.deepEqual((await answered({ credentials, credential_sets }, { two: [BOTH] })).seen.reasons, ['QUERY_NOT_SATISFIED'])
})

test.serial('multiple allows up to five presentations of one credential', async (t) => {
  const query = { credentials: [credentialQuery('many', { multiple: true })] }
  t.is((await answered(query, { many: [BOTH, BOTH] })).status, 200)
  const six = await answered(query, { many: Array.from({ length: 6 }, () => BOTH) })
  t.deepEqual(six.seen.reasons, ['TOO_MANY_PRESENTATIONS'])
})

test.serial('claim sets: the first complete set is used, unrequested claims are discarded and counted', async (t) => {
  const claims = claimsQuery(['director', 'legalName', 'gstin'])
  const claim_sets = [['director', 'legalName'], ['gstin']]
  const query = { credentials: [credentialQuery('company', { claims, claim_sets })] }
  const second = await answered(query, { company: [{ names: ['gstin'] }] })
  t.deepEqual([second.status, second.seen.fields, second.seen.discardedClaims], [200, ['gstin'], 0])
  const neither = await answered(query, { company: [{ names: ['legalName'] }] })
  t.deepEqual([neither.status, neither.seen.reasons], [400, ['CLAIM_MISSING']])
  const one = { credentials: [credentialQuery('company', { claims: claimsQuery(['gstin']) })] }
  const more = await answered(one, { company: [BOTH] })
  t.deepEqual([more.seen.fields, more.seen.discardedClaims], [['gstin'], 1])
  const id = more.seen.presentationId
  t.deepEqual((await client.get(`/v1/identity/presentations/${id}/claims`)).json.claims, { gstin: company.gstin })
})

test.serial('signs production requests with OID4VP_CERT, with its host name as client id', async (t) => {
  const { verifier, verifierKey } = certificates
  await using own = await openProduct({
    listener: 'http',
    workers: [],
    env: { PUBLIC_URL: 'https://verify.example', OID4VP_CERT: verifier, OID4VP_KEY: verifierKey },
  })
  const base = `http://127.0.0.1:${own.port}`
  const live = await openClient(own, base, { env: 'PRODUCTION' })
  const requested = await requestPresentation(live)
  t.is(requested.status, 201, requested.text)
  const clientId = 'x509_san_dns:verify.example'
  t.is(new URL(requested.json.authorizationRequest).searchParams.get('client_id'), clientId)
  const { text } = await send(requested.json.requestUri.replace('https://verify.example', base))
  const certificate = new X509Certificate(verifier)
  t.deepEqual(decodeProtectedHeader(text).x5c, [certificate.raw.toString('base64')])
  const { payload } = await compactVerify(text, certificate.publicKey)
  t.like(JSON.parse(Buffer.from(payload).toString()), { client_id: clientId, aud: 'https://self-issued.me/v2' })
})
