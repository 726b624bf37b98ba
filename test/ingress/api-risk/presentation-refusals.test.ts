import { hash } from 'node:crypto'
import test from 'ava'
import { signJwt } from '#shared/risk/domain-keys/signing-key.ts'
import { openClient } from '../../support/platform-client.ts'
import { type KeyPair, presentCredential } from '../../support/test-issuer.ts'
import { answerOf, holderJwk, post, type ResolvedRequest, resolveRequest } from '../../support/test-wallet.ts'
import { eventsOf } from './financing-support.ts'
import {
  client,
  company,
  holder,
  iss,
  issuer,
  newCredential,
  nowSeconds,
  otherKeyPair,
  product,
  readPresentation,
  requestPresentation,
  type Submission,
  start,
  stop,
  submitPresentation,
  trust,
  VCT,
} from './presentation-support.ts'

test.before(start)
test.after.always(stop)

test.serial('a credential is DOCUMENT_SIGNED only if the requesting organisation trusts its issuer', async (t) => {
  const requested = await requestPresentation(client)
  t.deepEqual(await submitPresentation(requested), { status: 200, text: '{}' })
  t.like((await readPresentation(client, requested)).json, {
    state: 'VERIFIED',
    issuer: { iss, tier: 'DOCUMENT_SIGNED' },
  })
  const other = await openClient(product, product.url)
  const untrusted = await requestPresentation(other)
  t.is((await submitPresentation(untrusted)).status, 400)
  t.like((await readPresentation(other, untrusted)).json, { state: 'REQUEST_FETCHED', reasons: ['ISSUER_UNTRUSTED'] })
})

function withField(form: URLSearchParams, name: string, value: string): URLSearchParams {
  form.set(name, value)
  return form
}

function withoutField(form: URLSearchParams, name: string): URLSearchParams {
  form.delete(name)
  return form
}

const changeCharacter = (text: string, at: number) =>
  `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
const parts = (presentation: string) => presentation.split('~')
const withKeyBinding = (presentation: string, kb: string) => [...parts(presentation).slice(0, -1), kb].join('~')
const replaceKeyBinding = async (presentation: string, key: KeyPair, claims: object, typ = 'kb+jwt') => {
  const bound = withKeyBinding(presentation, '')
  const payload = { iat: Math.floor(Date.now() / 1000), sd_hash: hash('sha256', bound, 'base64url'), ...claims }
  return withKeyBinding(presentation, await signJwt(payload, { typ }, key.privateJwk))
}

type Change = Partial<Submission> | ((request: ResolvedRequest) => Promise<Partial<Submission>>)
/** Submission with one fault, the expected reason, and the change that causes it. */
const faults: [string, string, Change][] = [
  [
    'a key binding with another nonce',
    'KB_NONCE',
    async (request) => ({ binding: { nonce: 'x', aud: request.clientId } }),
  ],
  [
    'a key binding with another aud',
    'KB_AUD',
    async (request) => ({ binding: { nonce: request.nonce, aud: 'x509_san_dns:other.example' } }),
  ],
  [
    'a key binding whose aud lacks the prefix',
    'KB_AUD',
    async (request) => ({
      binding: { nonce: request.nonce, aud: request.clientId.replace('decentralized_identifier:', '') },
    }),
  ],
  [
    'a key binding of an hour ago',
    'KB_IAT',
    async (request) => ({ binding: { nonce: request.nonce, aud: request.clientId, iat: nowSeconds - 3_600 } }),
  ],
  [
    'a key binding an hour in the future',
    'KB_IAT',
    async (request) => ({ binding: { nonce: request.nonce, aud: request.clientId, iat: nowSeconds + 3_600 } }),
  ],
  [
    'a changed disclosure',
    'DISCLOSURE_INVALID',
    {
      change: (text) => {
        const [jwt, first = '', ...rest] = parts(text)
        const [salt, name] = JSON.parse(Buffer.from(first, 'base64url').toString())
        const changed = Buffer.from(JSON.stringify([salt, name, 'Another Limited'])).toString('base64url')
        return [jwt, changed, ...rest].join('~')
      },
    },
  ],
  [
    'a disclosure sent twice',
    'DISCLOSURE_INVALID',
    {
      change: (text) =>
        parts(text)
          .toSpliced(1, 0, parts(text)[1] ?? '')
          .join('~'),
    },
  ],
  [
    'a disclosure removed after the key binding',
    'KB_SD_HASH',
    { change: (text) => parts(text).toSpliced(1, 1).join('~') },
  ],
  ['a presentation without key binding', 'HOLDER_BINDING_MISSING', { change: (text) => withKeyBinding(text, '') }],
  ['a key binding signed by another key', 'KB_SIGNATURE', async () => ({ by: otherKeyPair })],
  [
    'a credential signed by another key under the issuer’s kid',
    'ISSUER_SIGNATURE',
    async () => ({ credential: await newCredential({}, { ...otherKeyPair, publicJwk: issuer.publicJwk }) }),
  ],
  [
    'a credential signed under an unknown kid',
    'ISSUER_UNTRUSTED',
    async () => ({ credential: await newCredential({}, otherKeyPair) }),
  ],
  [
    'a credential of an untrusted issuer',
    'ISSUER_UNTRUSTED',
    async () => ({ credential: await newCredential({ iss: 'https://unknown.example' }) }),
  ],
  [
    'a changed issuer signature',
    'ISSUER_SIGNATURE',
    { change: (text) => changeCharacter(text, (parts(text)[0] ?? '').length - 9) },
  ],
  [
    'a credential with alg none',
    'ALG_NOT_ALLOWED',
    {
      change(text) {
        const [jwt = '', ...rest] = parts(text)
        const header = Buffer.from('{"alg":"none","typ":"dc+sd-jwt"}').toString('base64url')
        return [[header, jwt.split('.')[1], 'AA'].join('.'), ...rest].join('~')
      },
    },
  ],
  [
    'a credential type that the issuer is not trusted for',
    'ISSUER_UNTRUSTED',
    async () => ({ credential: await newCredential({ vct: 'https://credentials.example/other' }) }),
  ],
  ['a credential without a type', 'VCT_MISMATCH', async () => ({ credential: await credentialWithoutType() })],
  [
    'an expired credential',
    'CREDENTIAL_EXPIRED',
    async () => ({ credential: await newCredential({ exp: nowSeconds - 600 }) }),
  ],
  [
    'a credential valid from tomorrow',
    'NOT_YET_VALID',
    async () => ({ credential: await newCredential({ nbf: nowSeconds + 86_400 }) }),
  ],
  [
    'a credential without a holder key',
    'HOLDER_BINDING_MISSING',
    async () => ({ credential: await newCredential({ cnf: undefined }) }),
  ],
  ['a presentation without a requested claim', 'CLAIM_MISSING', { claims: ['legalName'] }],
  ['a presentation for an unknown query id', 'UNKNOWN_QUERY_ID', { token: (text) => ({ other: [text] }) }],
  ['two presentations for one query', 'TOO_MANY_PRESENTATIONS', { token: (text) => ({ company: [text, text] }) }],
  ['a form without vp_token', 'VP_TOKEN_MALFORMED', { form: (form) => withoutField(form, 'vp_token') }],
  ['a vp_token that is an array', 'VP_TOKEN_MALFORMED', { form: (form) => withField(form, 'vp_token', '[]') }],
  ['a malformed presentation', 'VP_TOKEN_MALFORMED', { change: () => 'a.b.c~' }],
  ['an empty vp_token', 'QUERY_NOT_SATISFIED', { form: (form) => withField(form, 'vp_token', '{}') }],
  ['a form with another state', 'STATE_MISMATCH', { form: (form) => withField(form, 'state', 'x') }],
  [
    'a key binding with typ JWT',
    'HOLDER_BINDING_MISSING',
    async (request) => {
      const text = await presentCredential(await newCredential(), holder, ['legalName', 'gstin'], {
        nonce: 'x',
        aud: 'x',
      })
      const claims = { nonce: request.nonce, aud: request.clientId }
      const changed = await replaceKeyBinding(text, holder, claims, 'JWT')
      return { change: () => changed }
    },
  ],
]

async function credentialWithoutType(): Promise<string> {
  const payload = { iss, iat: nowSeconds, cnf: { jwk: holderJwk(holder) }, ...company }
  return `${await signJwt(payload, { typ: 'dc+sd-jwt', kid: issuer.publicJwk.kid ?? '' }, issuer.privateJwk)}~`
}

for (const [fault, reason, change] of faults)
  test.serial(`refuses ${fault} with ${reason}`, async (t) => {
    const requested = await requestPresentation(client)
    const answer = await submitPresentation(requested, change)
    t.deepEqual(answer, { status: 400, text: '{"error":"invalid_presentation"}' })
    const presentation = await readPresentation(client, requested)
    t.like(presentation.json, { state: 'REQUEST_FETCHED', reasons: [reason], fields: [], record: null })
    const { presentationId } = requested.json
    t.deepEqual(await product.db('events').where({ deal_id: presentationId }), [])
    t.deepEqual(await product.db('usage_units').where({ unit_key: `presentation/${presentationId}` }), [])
    t.is((await submitPresentation(requested)).status, 200, 'a refusal leaves the request open')
  })

test.serial('refuses a claim value that was not requested with CLAIM_VALUE_MISMATCH', async (t) => {
  const query = {
    credentials: [
      {
        id: 'company',
        format: 'dc+sd-jwt',
        meta: { vct_values: [VCT] },
        claims: [{ path: ['legalName'] }, { path: ['gstin'], values: ['27AAACB1234C1ZF'] }],
      },
    ],
  }
  const requested = await requestPresentation(client, { template: undefined, query })
  t.is((await submitPresentation(requested)).status, 400)
  t.deepEqual((await readPresentation(client, requested)).json.reasons, ['CLAIM_VALUE_MISMATCH'])
})

test.serial('a second submission after VERIFIED is 409: one event, one unit', async (t) => {
  const own = await openClient(product, product.url)
  await trust(own)
  const requested = await requestPresentation(own)
  let sent: URLSearchParams | undefined
  const request = await resolveRequest(requested.json.authorizationRequest)
  t.is((await submitPresentation(requested, { form: (form) => (sent = form) })).status, 200)
  const again = await post(request.responseUri, sent ?? new URLSearchParams())
  t.deepEqual(again, { status: 409, text: '{"error":"invalid_presentation"}' })
  t.deepEqual(await eventsOf(product, own), ['oid4vp.presentation_received'])
  t.like((await own.get('/v1/usage')).json.usage, [{ family: 'identity', units: 1 }])
})

test.serial('the third refusal rejects the request', async (t) => {
  const requested = await requestPresentation(client)
  for (let n = 0; n < 3; n++) t.is((await submitPresentation(requested, { change: () => 'x' })).status, 400)
  t.like((await readPresentation(client, requested)).json, { state: 'REJECTED', reasons: ['VP_TOKEN_MALFORMED'] })
  t.is((await fetch(requested.json.requestUri)).status, 410)
})

test.serial('refuses the response to another request', async (t) => {
  const [one, other] = [await requestPresentation(client), await requestPresentation(client)]
  const target = await resolveRequest(other.json.authorizationRequest)
  const request = await resolveRequest(one.json.authorizationRequest)
  const binding = { nonce: request.nonce, aud: request.clientId }
  const presentation = await presentCredential(await newCredential(), holder, ['legalName', 'gstin'], binding)
  const { form } = await answerOf(request, { company: [presentation] })
  t.is((await post(target.responseUri, form)).status, 400)
  t.deepEqual((await readPresentation(client, other)).json.reasons, ['STATE_MISMATCH'])
  form.set('state', target.state)
  t.is((await post(target.responseUri, form)).status, 400)
  t.deepEqual((await readPresentation(client, other)).json.reasons, ['KB_NONCE'])
})

test.serial('refuses a response of 10 MB with 413 and stores the reason', async (t) => {
  const requested = await requestPresentation(client)
  const { responseUri } = await resolveRequest(requested.json.authorizationRequest)
  const form = new URLSearchParams({ vp_token: 'x'.repeat(10_000_000) })
  const answer = await post(responseUri, form).catch(() => ({ status: 413, text: '' }))
  t.is(answer.status, 413)
  t.deepEqual((await readPresentation(client, requested)).json.reasons, ['TOO_LARGE'])
})

test.serial('an error of the wallet rejects the request; its text is not stored', async (t) => {
  const requested = await requestPresentation(client)
  const { responseUri, state } = await resolveRequest(requested.json.authorizationRequest)
  const form = new URLSearchParams({ state, error: 'access_denied', error_description: 'Asha refuses' })
  t.is((await post(responseUri, form)).status, 200)
  t.like((await readPresentation(client, requested)).json, {
    state: 'REJECTED',
    reasons: ['WALLET_ERROR'],
    walletError: 'access_denied',
  })
})
