import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { isPathToken, isSignedBy, pathToken } from '#shared/risk/colending/lms-signature.ts'
import {
  bodySignature,
  formatSecret,
  secretKeyOf,
  signatureHeaders,
  standardSignature,
} from '#shared/webhooks/signature.ts'
import { root } from '../../support/imports.ts'

const vectors = JSON.parse(readFileSync(join(root, 'test/vectors/signals.json'), 'utf8'))
const { outboundWebhook: out, inboundLms: inbound } = vectors
const key = secretKeyOf(out.secret)

test('the HMAC key is the decoded base64 of the secret', (t) => {
  t.is(key.toString('hex'), out.secretBytesHex)
  t.is(formatSecret(key), out.secret)
})

test('both webhook signatures equal the published ones', (t) => {
  t.is(bodySignature(key, out.body), out.xSignature)
  const message = { id: out.webhookId, timestamp: out.webhookTimestamp, body: out.body }
  t.is(standardSignature(key, message), out.webhookSignature)
  t.deepEqual(signatureHeaders({ current: key, previous: null }, message), {
    'webhook-id': out.webhookId,
    'webhook-timestamp': String(out.webhookTimestamp),
    'webhook-signature': out.webhookSignature,
    'x-signature': out.xSignature,
  })
})

for (const { why, body } of out.invalid) {
  test(`another body has another signature: ${why}`, (t) => {
    t.not(bodySignature(key, body), out.xSignature)
  })
}

test('OpenSSL computes the same webhook signature', (t) => {
  const { stdout } = spawnSync(
    'openssl',
    ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key.toString('hex')}`, '-hex'],
    { input: out.body, encoding: 'utf8' },
  )
  t.is(stdout.trim().split(' ').at(-1), out.xSignature)
})

test('during a rotation both secrets sign', (t) => {
  const previous = secretKeyOf(formatSecret(Buffer.alloc(32, 7)))
  const message = { id: 'a', timestamp: 1, body: '{}' }
  const headers = signatureHeaders({ current: key, previous }, message)
  t.is(headers['x-signature'], bodySignature(key, '{}'))
  t.is(headers['x-signature-previous'], bodySignature(previous, '{}'))
  t.is(headers['webhook-signature'], `${standardSignature(key, message)} ${standardSignature(previous, message)}`)
})

for (const signature of [inbound.hex, inbound.hex.toUpperCase(), `sha256=${inbound.hex}`, inbound.base64]) {
  test(`an inbound signature is accepted as ${signature}`, (t) => {
    const body = Buffer.from(inbound.body)
    t.true(isSignedBy(inbound.secretUtf8, { signature, timestamp: undefined, body }, 0))
    t.false(isSignedBy('another', { signature, timestamp: undefined, body }, 0))
    t.false(isSignedBy(inbound.secretUtf8, { signature, timestamp: undefined, body: Buffer.from('{}') }, 0))
  })
}

test('a path token is valid for one integration only', (t) => {
  const token = pathToken(out.secret, 'one')
  t.true(isPathToken(out.secret, 'one', token))
  t.false(isPathToken(out.secret, 'two', token))
  t.false(isPathToken(out.secret, 'one', token.slice(2)))
})
