import { hash } from 'node:crypto'
import test from 'ava'
import { signJwt } from '#shared/risk/domain-keys/signing-key.ts'
import { openClient } from '../../support/platform-client.ts'
import { type KeyPair, presentCredential } from '../../support/test-issuer.ts'
import { answerOf, holderJwk, post, type ResolvedRequest, resolveRequest } from '../../support/test-wallet.ts'
import { eventsOf } from './financing-support.ts'

import {
  type Attempt,
  ask,
  attempt,
  client,
  company,
  foreign,
  holder,
  iss,
  issued,
  issuer,
  product,
  start,
  stop,
  t0,
  trust,
  VCT,
  view,
} from './presentation-support.ts'

test.before(start)
test.after.always(stop)

test.serial(
  'a credential of an issuer is DOCUMENT_SIGNED only if the organisation of the request trusts the issuer',
  async (t) => {
    const requested = await ask(client)
    t.deepEqual(await attempt(requested), { status: 200, text: '{}' })
    t.like((await view(client, requested)).json, { state: 'VERIFIED', issuer: { iss, tier: 'DOCUMENT_SIGNED' } })
    const other = await openClient(product, product.url)
    const same = await ask(other)
    t.is((await attempt(same)).status, 400)
    t.like((await view(other, same)).json, { state: 'REQUEST_FETCHED', reasons: ['ISSUER_UNTRUSTED'] })
  },
)

function withField(form: URLSearchParams, name: string, value: string): URLSearchParams {
  form.set(name, value)
  return form
}

function without(form: URLSearchParams, name: string): URLSearchParams {
  form.delete(name)
  return form
}

const flip = (text: string, at: number) => `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
const parts = (presentation: string) => presentation.split('~')
const withKb = (presentation: string, kb: string) => [...parts(presentation).slice(0, -1), kb].join('~')
const rebound = async (presentation: string, key: KeyPair, claims: object, typ = 'kb+jwt') => {
  const bound = withKb(presentation, '')
  const payload = { iat: Math.floor(Date.now() / 1000), sd_hash: hash('sha256', bound, 'base64url'), ...claims }
  return withKb(presentation, await signJwt(payload, { typ }, key.privateJwk))
}

type Change = Partial<Attempt> | ((request: ResolvedRequest) => Promise<Partial<Attempt>>)
const faults: [string, string, Change][] = [
  ['another nonce', 'KB_NONCE', async (request) => ({ binding: { nonce: 'x', aud: request.clientId } })],
  [
    'another aud',
    'KB_AUD',
    async (request) => ({ binding: { nonce: request.nonce, aud: 'x509_san_dns:other.example' } }),
  ],
  [
    'an aud without its prefix',
    'KB_AUD',
    async (request) => ({
      binding: { nonce: request.nonce, aud: request.clientId.replace('decentralized_identifier:', '') },
    }),
  ],
  [
    'a key binding of long ago',
    'KB_IAT',
    async (request) => ({ binding: { nonce: request.nonce, aud: request.clientId, iat: t0 - 3_600 } }),
  ],
  [
    'a key binding of the future',
    'KB_IAT',
    async (request) => ({ binding: { nonce: request.nonce, aud: request.clientId, iat: t0 + 3_600 } }),
  ],
  [
    'a disclosure that was changed',
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
    'a disclosure left out after it was bound',
    'KB_SD_HASH',
    { change: (text) => parts(text).toSpliced(1, 1).join('~') },
  ],
  ['no key binding', 'HOLDER_BINDING_MISSING', { change: (text) => withKb(text, '') }],
  ['a key binding of another key', 'KB_SIGNATURE', async () => ({ by: foreign })],
  [
    'a foreign issuer',
    'ISSUER_SIGNATURE',
    async () => ({ credential: await issued({}, { ...foreign, publicJwk: issuer.publicJwk }) }),
  ],
  ['a key that the issuer does not have', 'ISSUER_UNTRUSTED', async () => ({ credential: await issued({}, foreign) })],
  [
    'an issuer that is not trusted',
    'ISSUER_UNTRUSTED',
    async () => ({ credential: await issued({ iss: 'https://unknown.example' }) }),
  ],
  [
    'a signature that was changed',
    'ISSUER_SIGNATURE',
    { change: (text) => flip(text, (parts(text)[0] ?? '').length - 9) },
  ],
  [
    'alg none',
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
    'a type the issuer may not issue',
    'ISSUER_UNTRUSTED',
    async () => ({ credential: await issued({ vct: 'https://credentials.example/other' }) }),
  ],
  ['a credential without a type', 'VCT_MISMATCH', async () => ({ credential: await withoutType() })],
  ['a credential that is over', 'CREDENTIAL_EXPIRED', async () => ({ credential: await issued({ exp: t0 - 600 }) })],
  ['a credential of tomorrow', 'NOT_YET_VALID', async () => ({ credential: await issued({ nbf: t0 + 86_400 }) })],
  ['an unbound credential', 'HOLDER_BINDING_MISSING', async () => ({ credential: await issued({ cnf: undefined }) })],
  ['too few claims', 'CLAIM_MISSING', { claims: ['legalName'] }],
  ['an unknown query', 'UNKNOWN_QUERY_ID', { token: (text) => ({ other: [text] }) }],
  ['two presentations of one query', 'TOO_MANY_PRESENTATIONS', { token: (text) => ({ company: [text, text] }) }],
  ['a form without its token', 'VP_TOKEN_MALFORMED', { form: (form) => without(form, 'vp_token') }],
  ['a token that is a list', 'VP_TOKEN_MALFORMED', { form: (form) => withField(form, 'vp_token', '[]') }],
  ['a presentation that is none', 'VP_TOKEN_MALFORMED', { change: () => 'a.b.c~' }],
  ['nothing', 'QUERY_NOT_SATISFIED', { form: (form) => withField(form, 'vp_token', '{}') }],
  ['another state', 'STATE_MISMATCH', { form: (form) => withField(form, 'state', 'x') }],
  [
    'a key binding that is no key binding',
    'HOLDER_BINDING_MISSING',
    async (request) => {
      const text = await presentCredential(await issued(), holder, ['legalName', 'gstin'], { nonce: 'x', aud: 'x' })
      const claims = { nonce: request.nonce, aud: request.clientId }
      const changed = await rebound(text, holder, claims, 'JWT')
      return { change: () => changed }
    },
  ],
]

async function withoutType(): Promise<string> {
  const payload = { iss, iat: t0, cnf: { jwk: holderJwk(holder) }, ...company }
  return `${await signJwt(payload, { typ: 'dc+sd-jwt', kid: issuer.publicJwk.kid ?? '' }, issuer.privateJwk)}~`
}

for (const [what, reason, change] of faults)
  test.serial(`${what} is refused with ${reason}: 400, no event, no unit`, async (t) => {
    const requested = await ask(client)
    const answer = await attempt(requested, change)
    t.deepEqual(answer, { status: 400, text: '{"error":"invalid_presentation"}' })
    const seen = await view(client, requested)
    t.like(seen.json, { state: 'REQUEST_FETCHED', reasons: [reason], fields: [], record: null })
    const { presentationId } = requested.json
    t.deepEqual(await product.db('events').where({ deal_id: presentationId }), [])
    t.deepEqual(await product.db('usage_units').where({ unit_key: `presentation/${presentationId}` }), [])
    t.is((await attempt(requested)).status, 200, 'a refusal leaves the request open')
  })

test.serial('a value that was not requested is CLAIM_VALUE_MISMATCH', async (t) => {
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
  const requested = await ask(client, { template: undefined, query })
  t.is((await attempt(requested)).status, 400)
  t.deepEqual((await view(client, requested)).json.reasons, ['CLAIM_VALUE_MISMATCH'])
})

test.serial('given VERIFIED, the form posted again is 409: one event, one unit', async (t) => {
  const own = await openClient(product, product.url)
  await trust(own)
  const requested = await ask(own)
  let sent: URLSearchParams | undefined
  const request = await resolveRequest(requested.json.authorizationRequest)
  t.is((await attempt(requested, { form: (form) => (sent = form) })).status, 200)
  const again = await post(request.responseUri, sent ?? new URLSearchParams())
  t.deepEqual(again, { status: 409, text: '{"error":"invalid_presentation"}' })
  t.deepEqual(await eventsOf(product, own), ['oid4vp.presentation_received'])
  t.like((await own.get('/v1/usage')).json.usage, [{ family: 'identity', units: 1 }])
})

test.serial('the third refusal ends a request', async (t) => {
  const requested = await ask(client)
  for (let n = 0; n < 3; n++) t.is((await attempt(requested, { change: () => 'x' })).status, 400)
  t.like((await view(client, requested)).json, { state: 'REJECTED', reasons: ['VP_TOKEN_MALFORMED'] })
  t.is((await fetch(requested.json.requestUri)).status, 410)
})

test.serial('the answer to one request is not one to another', async (t) => {
  const [one, other] = [await ask(client), await ask(client)]
  const target = await resolveRequest(other.json.authorizationRequest)
  const request = await resolveRequest(one.json.authorizationRequest)
  const binding = { nonce: request.nonce, aud: request.clientId }
  const presentation = await presentCredential(await issued(), holder, ['legalName', 'gstin'], binding)
  const { form } = await answerOf(request, { company: [presentation] })
  t.is((await post(target.responseUri, form)).status, 400)
  t.deepEqual((await view(client, other)).json.reasons, ['STATE_MISMATCH'])
  form.set('state', target.state)
  t.is((await post(target.responseUri, form)).status, 400)
  t.deepEqual((await view(client, other)).json.reasons, ['KB_NONCE'])
})

test.serial('10 MB are too large: 413, and the reason is kept', async (t) => {
  const requested = await ask(client)
  const { responseUri } = await resolveRequest(requested.json.authorizationRequest)
  const form = new URLSearchParams({ vp_token: 'x'.repeat(10_000_000) })
  const answer = await post(responseUri, form).catch(() => ({ status: 413, text: '' }))
  t.is(answer.status, 413)
  t.deepEqual((await view(client, requested)).json.reasons, ['TOO_LARGE'])
})

test.serial('direct_post.jwt refuses plain text and encryption to another key', async (t) => {
  const requested = await ask(client, { responseMode: 'direct_post.jwt' })
  const request = await resolveRequest(requested.json.authorizationRequest)
  const plain = new URLSearchParams({ state: request.state, vp_token: '{}' })
  t.is((await post(request.responseUri, plain)).status, 400)
  t.deepEqual((await view(client, requested)).json.reasons, ['ENCRYPTION_REQUIRED'])
  const other = await resolveRequest((await ask(client, { responseMode: 'direct_post.jwt' })).json.authorizationRequest)
  const { form } = await answerOf(other, { company: ['x'] })
  t.is((await post(request.responseUri, form)).status, 400)
  t.deepEqual((await view(client, requested)).json.reasons, ['DECRYPT_FAILED'])
})

test.serial('a wallet’s error ends the request, and its text is not kept', async (t) => {
  const requested = await ask(client)
  const { responseUri, state } = await resolveRequest(requested.json.authorizationRequest)
  const form = new URLSearchParams({ state, error: 'access_denied', error_description: 'Asha refuses' })
  t.is((await post(responseUri, form)).status, 200)
  t.like((await view(client, requested)).json, {
    state: 'REJECTED',
    reasons: ['WALLET_ERROR'],
    walletError: 'access_denied',
  })
})
