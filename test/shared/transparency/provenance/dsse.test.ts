import { execFileSync } from 'node:child_process'
import { createPublicKey, hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { anchorObject } from '#shared/transparency/anchoring/leaf.ts'
import { signerFromSeed } from '#shared/transparency/anchoring/note-key.ts'
import { parseBundle, readStatement, verifyBundle } from '#shared/transparency/provenance/bundle.ts'
import {
  checkEnvelope,
  evidenceKey,
  parseEnvelope,
  parseEvidenceKeys,
  preAuthEncoding,
  STATEMENT_TYPE,
  signEnvelope,
} from '#shared/transparency/provenance/dsse.ts'

const folder = mkdtempSync(join(tmpdir(), 'dsse-'))
test.after.always(() => rmSync(folder, { recursive: true }))

// Published vectors.
const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')
const payload = Buffer.from(
  '{"_type":"https://in-toto.io/Statement/v1","predicate":{"checks":[],"packId":"0b1f6c1a-7f31-4c0e-9d57-3c1f7d2a9e10"},"predicateType":"https://signalbox.example/predicates/trade-pack/v1","subject":[{"digest":{"sha256":"3918c515c21c9292af076db774338122131da47efdf41aa7fe0bfcfdffe37b79"},"name":"doc:1"}]}',
)
const SIGNATURE = 'l3ud+arg04WIRDS0vtWDwsCBx2eIGa+x9yBNEfZ2wUn0yXpixCV+5LvSakgH6Xqzma/XTMN6O9BQbqu+eH6VBQ=='
const publicKey = signerFromSeed('x', 1, seed).key.publicKey
const signer = { seed, publicKey }
const key = evidenceKey(publicKey)
const envelope = signEnvelope(payload, signer)

function bundleOf(statement: Buffer, change: object = {}) {
  const facts = { packId: 'p', statementSha256: hash('sha256', statement, 'hex') }
  const object = { ...facts, eventType: 'provenance.pack_issued', timestamp: '2026-11-21T10:15:30.123Z' }
  const { anchor } = anchorObject(object, object)
  const made = { envelope: signEnvelope(statement, signer), keys: [key], record: { ...object, anchor }, proof: null }
  return parseBundle(JSON.parse(JSON.stringify({ ...made, ...change })))
}

const failures = (verification: ReturnType<typeof verifyBundle>) =>
  verification.checks.filter(({ result }) => result === 'failed').map(({ code }) => code)

test('the signature equals the published one', (t) => {
  t.is(envelope.signatures[0]?.sig, SIGNATURE)
  t.is(envelope.payloadType, 'application/vnd.in-toto+json')
  t.is(checkEnvelope(envelope, [key]), 'SIGNED')
  t.is(readStatement(envelope)?.bytes.length, payload.length)
})

test('OpenSSL verifies the pre-authentication encoding', (t) => {
  const pem = createPublicKey({ key: { ...key }, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  const files = ['key.pem', 'message', 'signature'].map((name) => join(folder, name))
  const [keyFile = '', messageFile = '', signatureFile = ''] = files
  const verify = (message: Buffer) => {
    writeFileSync(keyFile, pem)
    writeFileSync(messageFile, message)
    writeFileSync(signatureFile, Buffer.from(SIGNATURE, 'base64'))
    const args = ['-verify', '-pubin', '-inkey', keyFile, '-rawin', '-in', messageFile, '-sigfile', signatureFile]
    return execFileSync('openssl', ['pkeyutl', ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }
  t.regex(verify(preAuthEncoding(STATEMENT_TYPE, payload)), /Verified Successfully/)
  t.throws(() => verify(preAuthEncoding('text/plain', payload)))
})

test('the pre-authentication encoding separates type and payload', (t) => {
  t.is(
    preAuthEncoding('http://example.com/HelloWorld', Buffer.from('hello world')).toString(),
    'DSSEv1 29 http://example.com/HelloWorld 11 hello world',
  )
  t.notDeepEqual(preAuthEncoding('a', Buffer.from('b 1 c')), preAuthEncoding('a 5 b', Buffer.from('c')))
})

test('a bundle is verified only with keys from another source', (t) => {
  const bundle = bundleOf(payload)
  t.is(verifyBundle(bundle, [key]).result, 'PARTIAL')
  t.deepEqual(failures(verifyBundle(bundle, [key])), [])
  t.is(verifyBundle(bundle).checks[0]?.code, 'KEY_NOT_GIVEN')
})

test('a key inside a bundle is not trusted', (t) => {
  const other = signerFromSeed('x', 1, Buffer.alloc(32, 7)).key.publicKey
  const theirs = { seed: Buffer.alloc(32, 7), publicKey: other }
  const forged = bundleOf(payload, { envelope: signEnvelope(payload, theirs), keys: [evidenceKey(other)] })
  t.deepEqual(failures(verifyBundle(forged, [key])), ['KEY_UNKNOWN'])
  const named = {
    ...signEnvelope(payload, theirs),
    signatures: [{ keyid: key.kid, sig: signEnvelope(payload, theirs).signatures[0]?.sig }],
  }
  t.deepEqual(failures(verifyBundle(bundleOf(payload, { envelope: named }), [key])), ['SIGNATURE'])
})

test('a changed digest invalidates signature and record', (t) => {
  const swapped = Buffer.from(payload.toString().replace('3918c5', '3918c6'))
  const moved = { ...envelope, payload: swapped.toString('base64') }
  t.deepEqual(failures(verifyBundle(bundleOf(payload, { envelope: moved }), [key])), ['SIGNATURE', 'RECORD_HASH'])
})

test('a signed text that is not a canonical statement is refused', (t) => {
  for (const text of ['{"a":1}', ` ${payload}`, payload.toString().replace('"_type"', '"z":1,"_type"'), 'x']) {
    const codes = failures(verifyBundle(bundleOf(Buffer.from(text)), [key]))
    t.true(codes.includes('PAYLOAD'), text)
  }
})

test('a changed record, or one of another statement, is refused', (t) => {
  const other = bundleOf(Buffer.from(payload.toString().replace('doc:1', 'doc:2')))
  t.deepEqual(failures(verifyBundle({ ...bundleOf(payload), record: other.record }, [key])), ['RECORD_HASH'])
  const changed = { ...bundleOf(payload).record, packId: 'q' }
  t.true(failures(verifyBundle({ ...bundleOf(payload), record: changed }, [key])).includes('PAYLOAD_HASH_MISMATCH'))
})

test('a bundle with a malformed proof is FAILED', (t) => {
  t.is(verifyBundle({ ...bundleOf(payload), proof: 'nonsense' }, [key]).result, 'FAILED')
})

test('published keys are named by their computed thumbprint', (t) => {
  const [read] = parseEvidenceKeys({ keys: [{ ...key, kid: 'mine' }] })
  t.is(read?.kid, key.kid)
  for (const bad of [{ keys: 'x' }, { keys: [{ ...key, crv: 'P-256' }] }, { keys: [{ ...key, x: 'AA' }] }, 'x']) {
    t.throws(() => parseEvidenceKeys(JSON.parse(JSON.stringify(bad))), { code: 'KEY_MALFORMED' })
  }
  t.is(checkEnvelope(envelope, []), 'KEY_UNKNOWN')
})

test('an envelope accepts both alphabets of base64 and omitted key ids', (t) => {
  const urlSafe = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_')
  const bare = (text: string) => urlSafe(text).replace(/=+$/, '')
  const [{ keyid, sig } = { sig: '' }] = envelope.signatures
  const stranger = evidenceKey(signerFromSeed('x', 1, Buffer.alloc(32, 7)).key.publicKey)
  const foreign = signEnvelope(payload, { seed: Buffer.alloc(32, 7), publicKey: Buffer.from(stranger.x, 'base64url') })
  const read = (change: object) => parseEnvelope(JSON.parse(JSON.stringify({ ...envelope, ...change })))
  const check = (change: object) => checkEnvelope(read(change), [stranger, key])
  for (const spell of [(text: string) => text, urlSafe, bare]) {
    const written = { payload: spell(envelope.payload), payloadType: STATEMENT_TYPE }
    t.deepEqual(readStatement({ ...written, signatures: [] })?.bytes, payload)
    for (const named of [{ keyid }, { keyid: '' }, {}]) {
      t.is(check({ ...written, signatures: [{ ...named, sig: spell(sig) }] }), 'SIGNED')
      t.is(check({ signatures: [{ sig: 'AAAA' }, { ...named, sig: spell(sig) }] }), 'SIGNED')
    }
  }
  const [theirs = { sig: '' }] = foreign.signatures
  for (const named of [{ keyid: theirs.keyid }, { keyid: '' }, {}]) {
    const signatures = [{ ...named, sig: theirs.sig }]
    t.is(checkEnvelope(read({ signatures }), [key]), 'KEY_UNKNOWN')
  }
  t.is(check({ signatures: [{ keyid, sig: theirs.sig }] }), 'SIGNATURE')
  t.is(check({ signatures: [{ keyid, sig: `-/${sig.slice(2)}` }] }), 'SIGNATURE', 'both alphabets at once')
  t.throws(() => read({ signatures: [{ keyid: 1, sig }] }))
})
