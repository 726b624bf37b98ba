import { randomBytes } from 'node:crypto'
import test from 'ava'
import { isBase64url } from '#shared/canonical/base64url.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { signerOf } from '#shared/risk/businesses/verify-signature.ts'
import { readJwt, readTextJws } from '#shared/risk/credentials/jwt.ts'
import { generateSigningKey, signJwt } from '#shared/risk/domain-keys/signing-key.ts'
import { verifyInvoiceToken } from '#shared/risk/packs/signals/e-invoice-token.ts'
import { readKid } from '#shared/tenancy/oauth/access-token.ts'
import { readPassport } from '#shared/transparency/provenance/passport.ts'
import { csrfToken, isCsrfToken } from '../../../ingress/web/shell/sessions.ts'
import { respell, respellSignature } from '../../support/base64url.ts'

test('bytes have only one base64url spelling', (t) => {
  for (const bytes of [1, 2, 32, 64]) {
    const text = randomBytes(bytes).toString('base64url')
    t.true(isBase64url(text))
    t.false(isBase64url(respell(text)), text)
  }
  for (const text of ['', 'A', 'AA==', 'A+/A', 'AA A']) t.false(isBase64url(text), text)
})

test('every kind of token with another spelling of its signature is refused', async (t) => {
  const key = await generateSigningKey()
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signature = randomBytes(64).toString('base64url')

  const access = `${part({ alg: 'ES256', typ: 'at+jwt', kid: 'k' })}.${part({ sub: 's' })}.${signature}`
  t.is(readKid(access), 'k')
  t.throws(() => readKid(respellSignature(access)), { message: /not issued by this service/ })

  const passport = `${part({ alg: 'ES256', typ: 'dc+sd-jwt' })}.${part({ vct: 'v' })}.${signature}`
  for (const read of [readJwt, readTextJws]) {
    t.truthy(read(passport))
    t.is(read(respellSignature(passport)), null)
  }
  t.truthy(readPassport(`${passport}~`))
  t.throws(() => readPassport(`${respellSignature(passport)}~`), { message: /not a signed JWT/ })

  const context = { env: 'SANDBOX', keys: [], buyerGstin: '', borrowerGstin: '', subcontractorGstin: '' } as const
  const invoice = `${part({ alg: 'RS256', kid: 'k' })}.${part({ data: '{}', iss: 'NIC' })}.${signature}`
  t.is(verifyInvoiceToken(invoice, context).reason, 'KEY_UNKNOWN')
  t.is(verifyInvoiceToken(respellSignature(invoice), context).reason, 'UNPARSEABLE')

  const signed = await signJwt({ text: 'x' }, { typ: 'JWT' }, key.privateJwk)
  const text = Buffer.from(signed.split('.')[1] ?? '', 'base64url').toString()
  const { x = '', y = '' } = key.publicJwk
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
  const keys = [{ thumbprint: 'tp', jwk, createdAt: new Date(), revokedAt: null }]
  t.is(await signerOf(signed, text, keys), 'tp')
  t.is(await signerOf(respellSignature(signed), text, keys), null)

  const secrets = createSecrets('a secret key that only tests know, long enough')
  const sealed = secrets.seal('mail', 'x')
  t.is(secrets.open('mail', sealed), 'x')
  t.throws(() => secrets.open('mail', respellSignature(sealed)), { message: /not a sealed value/ })

  const csrfKey = randomBytes(32)
  const valid = csrfToken(csrfKey, 'cookie')
  t.true(isCsrfToken(csrfKey, 'cookie', valid))
  t.false(isCsrfToken(csrfKey, 'cookie', respell(valid)))
})
