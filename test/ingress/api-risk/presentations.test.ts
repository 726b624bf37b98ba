import test from 'ava'
import { commitmentOf } from '#shared/risk/evidence/commitment.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { holderJwk, newKeyPair, present, resolveRequest } from '../../support/test-wallet.ts'
import { eventsOf } from './financing-support.ts'

let product: HttpProduct
let client: ApiClient

const VCT = 'https://credentials.example/company'
const company = { legalName: 'Synthetic Components Private Limited', gstin: '29AAACR5678D1Z5' }

test.before(async () => {
  product = await sharedProduct({ workers: ['presentation-verifier'] })
  client = await openClient(product, product.url)
})

const ask = (own: ApiClient, more: object = {}) =>
  own.post('/v1/identity/presentations', { purpose: 'onboarding', template: 'company-basic', ...more })

for (const responseMode of ['direct_post', 'direct_post.jwt'])
  test(`${responseMode}: a wallet of another library presents, and the presentation is VERIFIED`, async (t) => {
    const own = await openClient(product, product.url)
    const holder = await newKeyPair()
    const requested = await ask(own, { responseMode, dealId: 'DEAL-7' })
    t.is(requested.status, 201, requested.text)
    t.regex(requested.json.authorizationRequest, /^openid4vp:\/\/\?client_id=decentralized_identifier%3Adid%3Ajwk%3A/)
    t.is((await own.get(`/v1/identity/presentations/${requested.json.presentationId}`)).json.state, 'CREATED')
    const issued = await own.post('/v1/sandbox/credentials', {
      holderJwk: holderJwk(holder),
      vct: VCT,
      claims: { ...company, director: 'Asha Rao' },
    })
    t.is(issued.status, 201, issued.text)
    const answer = await present(requested.json.authorizationRequest, issued.json.credential, holder)
    t.deepEqual(answer, { status: 200, text: '{}' })
    const seen = await eventually('it to be verified', async () => {
      const reply = await own.get(`/v1/identity/presentations/${requested.json.presentationId}`)
      return reply.json.state !== 'RECEIVED' && reply
    })
    t.like(seen.json, {
      state: 'VERIFIED',
      fields: ['legalName', 'gstin'],
      reasons: [],
      issuer: { iss: 'https://issuer.sandbox.example', tier: 'ISSUER_CONFIRMED', assurance: 'HIGH' },
    })
    t.is(seen.json.record.anchor.payloadSha256, payloadSha256(seen.json.record))
    t.false(seen.text.includes('Synthetic'))
    const claims = await own.get(`/v1/identity/presentations/${requested.json.presentationId}/claims`)
    t.deepEqual(claims.json.claims, company)
    t.deepEqual(await eventsOf(product, own), ['oid4vp.presentation_received'])
    const { record } = seen.json
    t.deepEqual(
      Object.keys(record).toSorted(),
      'anchor commitments eventType fields issuerKeyThumbprint presentationId recordId timestamp vct'.split(' '),
    )
    const { presentationId } = requested.json
    const { sealed_values: sealed } = await product
      .db('presentation_values')
      .where({ presentation_id: presentationId })
      .first()
    const values: { name: string; value: string; salt: string }[] = JSON.parse(
      product.deps.secrets.open('identity', sealed),
    )
    t.deepEqual(
      record.commitments,
      values.map((value) => ({ name: value.name, commitment: commitmentOf(value) })),
      'the commitments open to what was disclosed',
    )
    const event = await product
      .db('events')
      .join('organisations', 'organisations.id', 'events.organisation_id')
      .where('organisations.uuid', own.credentials.organisationId)
      .first('events.body')
    const payload = JSON.parse(event.body)
    t.deepEqual(Object.keys(payload).toSorted(), 'anchor dealId event fields id mode occurredAt'.split(' '))
    const { event: type, mode, dealId, fields, anchor } = payload
    t.deepEqual(
      [type, mode, dealId, fields],
      ['oid4vp.presentation_received', 'sandbox', 'DEAL-7', ['legalName', 'gstin']],
    )
    t.deepEqual(Object.keys(anchor).toSorted(), 'network note payloadSha256 txId'.split(' '))
    t.like((await own.get('/v1/usage')).json.usage, [{ family: 'identity', units: 1 }])
  })

test('a credential of another type of a trusted issuer is a VCT_MISMATCH', async (t) => {
  const holder = await newKeyPair()
  const { authorizationRequest, presentationId } = (await ask(client)).json
  const { credential } = (
    await client.post('/v1/sandbox/credentials', {
      holderJwk: holderJwk(holder),
      vct: 'https://credentials.example/other',
      claims: company,
    })
  ).json
  t.is((await present(authorizationRequest, credential, holder)).status, 400)
  const seen = await client.get(`/v1/identity/presentations/${presentationId}`)
  t.deepEqual(seen.json.reasons, ['VCT_MISMATCH'])
})

test('the request object has the documented members', async (t) => {
  const requested = await ask(client)
  const request = await resolveRequest(requested.json.authorizationRequest)
  const { client_id, nonce, state, iat, exp, response_uri, ...rest } = request.payload
  t.is(client_id, request.clientId)
  t.is(exp - iat, 300)
  t.is(response_uri, requested.json.requestUri.replace('requests', 'responses'))
  t.true([nonce, state].every((text) => Buffer.from(text, 'base64url').length === 32))
  t.deepEqual(rest, {
    aud: 'https://self-issued.me/v2',
    response_type: 'vp_token',
    response_mode: 'direct_post',
    dcql_query: {
      credentials: [
        {
          id: 'company',
          format: 'dc+sd-jwt',
          meta: { vct_values: [VCT] },
          claims: [{ path: ['legalName'] }, { path: ['gstin'] }],
        },
      ],
    },
    client_metadata: {
      vp_formats_supported: {
        'dc+sd-jwt': { 'sd-jwt_alg_values': ['ES256', 'EdDSA'], 'kb-jwt_alg_values': ['ES256', 'EdDSA'] },
      },
    },
  })
})

test('an encrypted answer uses a key per request, whose private half is never disclosed', async (t) => {
  const keys = []
  for (let n = 0; n < 2; n++) {
    const requested = await ask(client, { responseMode: 'direct_post.jwt' })
    const { payload } = await resolveRequest(requested.json.authorizationRequest)
    t.deepEqual(payload.client_metadata.encrypted_response_enc_values_supported, ['A128GCM', 'A256GCM'])
    const [key, ...more] = payload.client_metadata.jwks.keys
    t.deepEqual(more, [])
    t.deepEqual(Object.keys(key).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
    t.like(key, { kty: 'EC', crv: 'P-256', use: 'enc', alg: 'ECDH-ES' })
    keys.push(key.x)
  }
  t.not(keys[0], keys[1])
})
