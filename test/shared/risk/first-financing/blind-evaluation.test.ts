import { readFileSync } from 'node:fs'
import { Evaluation, Oprf, VOPRFClient } from '@cloudflare/voprf-ts'
import { CryptoNoble } from '@cloudflare/voprf-ts/crypto-noble'
import { ristretto255_oprf } from '@noble/curves/ed25519.js'
import test from 'ava'
import { evaluateBlinded, invalidElements } from '#shared/risk/first-financing/blind-evaluation.ts'
import { evaluateOprf, newOprfKey, oprfReady } from '#shared/risk/first-financing/oprf.ts'

const { rfc9497 } = JSON.parse(readFileSync(new URL('../../../vectors/families.json', import.meta.url), 'utf8'))
const published = { privateKey: Buffer.from(rfc9497.skSm, 'hex'), publicKey: Buffer.from(rfc9497.pkSm, 'hex') }
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))
const batch = rfc9497.vectors[2]
const columns = (name: string): string[] => batch[name].split(',')
/** Values of the client of the published batch. */
const items = columns('Input').map((input, index) => ({
  input: bytesOf(input),
  blind: bytesOf(columns('Blind')[index] ?? ''),
  blinded: bytesOf(columns('BlindedElement')[index] ?? ''),
  evaluated: bytesOf(columns('EvaluationElement')[index] ?? ''),
}))
const finalize = (evaluated: readonly string[], proof: string) =>
  ristretto255_oprf.voprf
    .finalizeBatch(
      items.map((item, index) => ({ ...item, evaluated: bytesOf(evaluated[index] ?? '') })),
      bytesOf(rfc9497.pkSm),
      bytesOf(proof),
    )
    .map((output) => Buffer.from(output).toString('hex'))

test.before(oprfReady)

test('a batch gives the result of RFC 9497 with a valid proof', (t) => {
  const { evaluated, proof } = evaluateBlinded(published, columns('BlindedElement'))
  t.deepEqual(evaluated, columns('EvaluationElement'))
  t.deepEqual(finalize(evaluated, proof), columns('Output'))
  t.deepEqual(finalize(evaluated, batch.Proof.proof), columns('Output'), 'with the published proof')
})

test('a client refuses a changed proof or element', (t) => {
  const { evaluated, proof } = evaluateBlinded(published, columns('BlindedElement'))
  const flipped = Buffer.from(proof, 'hex')
  flipped.writeUInt8(flipped.readUInt8(5) ^ 1, 5)
  t.throws(() => finalize(evaluated, flipped.toString('hex')))
  t.throws(() => finalize(evaluated.toReversed(), proof))
})

test('an independent client verifies the proof and gets the direct result', async (t) => {
  const keys = newOprfKey()
  const suite = Oprf.Suite.RISTRETTO255_SHA512
  const client = new VOPRFClient(suite, Uint8Array.from(keys.publicKey), CryptoNoble)
  const inputs = Array.from({ length: 5 }, (_, index) => Uint8Array.from(Buffer.from(`RSP-RF1\u001f${index}`)))
  const [finalData, request] = await client.blind(inputs)
  // The elements of 32 bytes follow the count of 2 bytes.
  const wire = Buffer.from(request.serialize())
  const blinded = inputs.map((_, index) => wire.subarray(2 + index * 32, 34 + index * 32).toString('hex'))
  const { evaluated, proof } = evaluateBlinded(keys, blinded)
  const answer = Buffer.concat([
    wire.subarray(0, 2),
    ...evaluated.map((element) => Buffer.from(element, 'hex')),
    Buffer.from([Oprf.Mode.VOPRF]),
    Buffer.from(proof, 'hex'),
  ])
  const outputs = await client.finalize(finalData, Evaluation.deserialize(suite, Uint8Array.from(answer), CryptoNoble))
  t.deepEqual(
    outputs.map((output) => Buffer.from(output).toString('hex')),
    inputs.map((input) => evaluateOprf(keys.privateKey, input).toString('hex')),
  )
})

test('invalid elements, other encodings and the identity are detected', (t) => {
  const good = columns('BlindedElement')[0] ?? ''
  const notCanonical = Buffer.alloc(32, 0xff).toString('hex')
  const negative = Buffer.from(good, 'hex')
  negative.writeUInt8(negative.readUInt8(0) | 1, 0)
  const others = ['00'.repeat(32), notCanonical, negative.toString('hex'), 'ab', '']
  t.deepEqual(invalidElements([good, ...others, good]), [1, 2, 3, 4, 5])
})
