import { hash, randomInt } from 'node:crypto'
import test from 'ava'
import { CompactSign, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { receivable } from './financing-support.ts'

let product: HttpProduct
let base = ''
let lender: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['acceptance-recorder', 'kyb-verifier'] })
  base = product.url
  lender = await openClient(product, base)
})

const documentSha256 = hash('sha256', 'a signed delivery note', 'hex')
const buyerGstin = '27AAACB1234C1ZF'

async function makeKey(alg: 'ES256' | 'EdDSA') {
  const { publicKey, privateKey } = await generateKeyPair(alg, alg === 'EdDSA' ? { crv: 'Ed25519' } : {})
  const jwk = await exportJWK(publicKey)
  const sign = (text: string, header: object = {}) =>
    new CompactSign(Buffer.from(text)).setProtectedHeader({ alg, ...header }).sign(privateKey)
  return { jwk, sign, thumbprint: await calculateJwkThumbprint(jwk) }
}

async function buyersVei(client: ApiClient): Promise<string> {
  return (await client.post('/v1/kyb/entities/resolve', { gstin: buyerGstin })).json.vei
}

// The sandbox registry returns ACCEPTED for everything, so it verifies no other action.
const recordBody = (signature: string, change: object = {}) => ({
  receivableRef: `RCV-${randomInt(1e9)}`, // a UUID may happen to hold an Aadhaar number
  channel: 'SIGNED_DOCUMENT',
  action: 'PENDING',
  at: '2026-06-20T18:30:00.000Z',
  documentSha256,
  signature,
  receivable: receivable({ buyerGstin }),
  ...change,
})
const record = (body: object, client = lender) => client.post('/v1/acceptance/records', body)

for (const alg of ['ES256', 'EdDSA'] as const)
  test(`a document signed by ${alg} with a trusted buyer key is DOCUMENT_SIGNED until revocation`, async (t) => {
    const key = await makeKey(alg)
    const keys = `/v1/kyb/entities/${await buyersVei(lender)}/keys`
    const trusted = await lender.post(keys, { jwk: key.jwk })
    t.is(trusted.status, 201, trusted.text)
    t.is(trusted.json.thumbprint, key.thumbprint)
    const made = await record(recordBody(await key.sign(documentSha256)))
    t.is(made.status, 201, made.text)
    t.like(made.json, { tier: 'DOCUMENT_SIGNED', signedBy: key.thumbprint, documentSha256 })
    const verified = await record(recordBody(await key.sign(documentSha256), { action: 'ACCEPTED' }))
    t.is(verified.json.tier, 'REGISTRY_VERIFIED', 'a registry that agrees is stronger')
    t.is((await lender.post(`${keys}/${key.thumbprint}/revoke`, {})).status, 200)
    const late = await record(recordBody(await key.sign(documentSha256)))
    t.like(late.json, { status: 409, errors: [{ path: 'signature', code: 'NOT_TRUSTED' }] })
    const listed = (await lender.get(keys)).json.keys.find(
      ({ thumbprint }: { thumbprint: string }) => thumbprint === key.thumbprint,
    )
    t.truthy(listed.revokedAt)
  })

test('a signature of other data or with an untrusted key is refused', async (t) => {
  const [key, other] = [await makeKey('ES256'), await makeKey('ES256')]
  await lender.post(`/v1/kyb/entities/${await buyersVei(lender)}/keys`, { jwk: key.jwk })
  const right = await key.sign(documentSha256)
  const signatures = [
    await key.sign(hash('sha256', 'another', 'hex')),
    await other.sign(documentSha256),
    await other.sign(documentSha256, { jwk: other.jwk }),
    `${right.slice(0, -9)}${right.at(-9) === 'A' ? 'B' : 'A'}${right.slice(-8)}`,
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(documentSha256).toString('base64url')}.AA`,
  ]
  for (const signature of signatures) {
    const answer = await record(recordBody(signature))
    t.like(answer.json, { status: 409, errors: [{ path: 'signature', code: 'NOT_TRUSTED' }] })
  }
  const foreign = await openClient(product, base)
  t.is((await record(recordBody(right), foreign)).status, 409, 'trust is each organisation’s own')
})

for (const [what, change, path] of [
  ['no document', { documentSha256: undefined }, 'documentSha256'],
  ['no receivable', { receivable: undefined }, 'receivable'],
  ['no JWS', { signature: 'x' }, 'signature'],
] as const)
  test(`a signature with ${what} is 400 and names ${path}`, async (t) => {
    const { status, json } = await record(recordBody('a.b.c', change))
    t.is(status, 400)
    t.is(json.errors[0].path, path)
  })

test('an invalid key gets 400 with its path', async (t) => {
  const keys = `/v1/kyb/entities/${await buyersVei(lender)}/keys`
  const { jwk } = await makeKey('EdDSA')
  for (const wrong of [
    { ...jwk, d: 'A'.repeat(43) },
    { ...jwk, x: 'short' },
    { ...jwk, kty: 'RSA' },
  ]) {
    const { status, json } = await lender.post(keys, { jwk: wrong })
    t.is(status, 400)
    t.true(json.errors[0].path.startsWith('jwk'))
  }
})
