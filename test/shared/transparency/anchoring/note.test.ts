import test from 'ava'
import {
  decodeCheckpoint,
  parseCheckpoint,
  readCheckpoint,
  signCheckpoint,
} from '#shared/transparency/anchoring/checkpoint.ts'
import { cosignedMessage } from '#shared/transparency/anchoring/cosignature.ts'
import { decodeNote, parseNote, signatureLine, signNote } from '#shared/transparency/anchoring/note.ts'
import {
  formatVerifierKey,
  LOG_KEY,
  noteKey,
  parseVerifierKey,
  signerFromSeed,
} from '#shared/transparency/anchoring/note-key.ts'
import { merkleVectors, vectorLog, vectorWitness } from './vectors.ts'

const { c2spPublishedExample, checkpoint: vector, invalid } = merkleVectors.signedNotes
const keys = [vectorLog.key, vectorWitness.key]
const seed = (byte: number): Uint8Array => Buffer.alloc(32, byte)

test('the signed-note example of its specification verifies', (t) => {
  const { text, verified } = decodeNote(c2spPublishedExample.note, [parseVerifierKey(c2spPublishedExample.vkey)])
  t.is(text, 'This is an example message.\n')
  t.is(verified.length, 1)
})

test('verifier keys are formatted and parsed as published', (t) => {
  t.is(formatVerifierKey(vectorLog.key), vector.logVkey)
  t.is(formatVerifierKey(vectorWitness.key), vector.witnessVkey)
  for (const text of [vector.logVkey, vector.witnessVkey, c2spPublishedExample.vkey])
    t.is(formatVerifierKey(parseVerifierKey(text)), text)
})

for (const text of [
  '',
  'name',
  'name+00000000+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4',
  vector.logVkey.replace('+18', '+19'),
  vector.logVkey.slice(0, -1),
  vector.logVkey.replace('AQ', 'BQ'),
  `with space${vector.logVkey}`,
  `${'n'.repeat(600)}${vector.logVkey}`,
])
  test(`the verifier key ${text.slice(0, 40)} is refused`, (t) => {
    t.throws(() => parseVerifierKey(text), { code: 'KEY_MALFORMED' })
  })

test('a checkpoint is signed and cosigned to the published bytes', (t) => {
  const checkpoint = parseCheckpoint(vector.body)
  t.is(checkpoint.size, 8)
  const note = signCheckpoint(checkpoint, vectorLog)
  t.is(note + signatureLine(vector.body, vectorWitness, 1_750_000_000), vector.note)
  t.is(cosignedMessage(vector.body, 1_750_000_000), vector.cosignedMessage)
})

test('the published checkpoint verifies with the time of its witness', (t) => {
  const opened = decodeCheckpoint(vector.note, keys)
  t.is(opened.checkpoint.origin, vector.origin)
  t.deepEqual(opened.cosignatures, [{ key: vectorWitness.key, time: 1_750_000_000 }])
  t.deepEqual(decodeCheckpoint(vector.note, [vectorLog.key]).cosignatures, [])
})

for (const { why, note } of invalid)
  test(`a checkpoint is refused: ${why}`, (t) => {
    const error = t.throws(() => decodeCheckpoint(note, keys))
    t.regex('code' in error ? String(error.code) : '', /^(NOTE|CHECKPOINT)_/)
  })

test('a note key is found by name and id together', (t) => {
  const sameName = signerFromSeed(vectorLog.key.name, LOG_KEY, seed(9))
  t.throws(() => decodeNote(vector.note, [sameName.key]), { code: 'NOTE_UNSIGNED' })
  t.throws(() => decodeNote(vector.note, []), { code: 'NOTE_UNSIGNED' })
  // A key with our name and id but other bytes must verify our line, which fails.
  const impostor = { ...sameName.key, id: vectorLog.key.id }
  t.throws(() => decodeNote(vector.note, [impostor]), { code: 'NOTE_SIGNATURE_INVALID' })
})

test('a checkpoint requires a signature of the log itself', (t) => {
  t.throws(() => decodeCheckpoint(vector.note, [vectorWitness.key]), { code: 'CHECKPOINT_ORIGIN' })
  const other = signerFromSeed('other.example/log', LOG_KEY, seed(3))
  t.throws(() => decodeCheckpoint(signNote(vector.body, [other]), [other.key, vectorLog.key]), {
    code: 'CHECKPOINT_ORIGIN',
  })
  t.throws(() => signCheckpoint(parseCheckpoint(vector.body), other), { code: 'CHECKPOINT_ORIGIN' })
  t.throws(() => signCheckpoint(parseCheckpoint(vector.body), vectorWitness), { code: 'CHECKPOINT_ORIGIN' })
})

test('a cosignature is not a log signature and is bound to its time', (t) => {
  const asLog = noteKey(vectorWitness.key.name, LOG_KEY, vectorWitness.key.publicKey)
  t.throws(() => decodeNote(vector.note, [asLog]), { code: 'NOTE_UNSIGNED' })
  const line = parseNote(vector.note).signatures[1]
  const later = Buffer.from(line?.signature ?? [])
  later[7] = (later[7] ?? 0) + 1
  const encoded = Buffer.concat([vectorWitness.key.id, later]).toString('base64')
  const forged = `${signCheckpoint(parseCheckpoint(vector.body), vectorLog)}— ${vectorWitness.key.name} ${encoded}\n`
  t.throws(() => decodeCheckpoint(forged, keys), { code: 'NOTE_SIGNATURE_INVALID' })
})

test('a note may have a hundred signatures, but not two hundred', (t) => {
  const signers = Array.from({ length: 100 }, (_, at) => signerFromSeed(`s${at}.example`, LOG_KEY, seed(at)))
  const note = signNote('text\n', signers)
  t.is(
    decodeNote(
      note,
      signers.map(({ key }) => key),
    ).verified.length,
    100,
  )
  const flood = note + note.slice(note.indexOf('—'))
  t.throws(
    () =>
      decodeNote(
        flood,
        signers.map(({ key }) => key),
      ),
    { code: 'NOTE_MALFORMED' },
  )
  t.throws(() => parseNote(`${'x'.repeat(70_000)}\n\n— a QUJDREU=\n`), { code: 'TOO_LARGE' })
})

test('a note text with blank lines ends at the last one', (t) => {
  const text = 'first\n\n— not a signature\n\nlast\n'
  t.is(decodeNote(signNote(text, [vectorLog]), keys).text, text)
})

const line = signatureLine('x\n', vectorLog)
for (const [fault, note] of [
  ['no newline at the end', `x\n\n${line.slice(0, -1)}`],
  ['a carriage return', `x\r\n\n${line}`],
  ['a lone surrogate', `\ud800\n\n${line}`],
  ['no signature', 'x\n\n'],
  ['no text', `\n\n${line}`],
  ['two spaces', `x\n\n${line.replace(' ', '  ')}`],
  ['a plus in the name', `x\n\n— a+b QUJDREU=\n`],
  ['unpadded base64', `x\n\n— a QUJDREU\n`],
  ['url-safe base64', `x\n\n— a QUJD_-U=\n`],
  ['base64 with unused bits', `x\n\n— a QUJDREV=\n`],
  ['an id without a signature', `x\n\n— a QUJDRA==\n`],
] as const)
  test(`a note with ${fault} is malformed`, (t) => {
    t.throws(() => parseNote(note), { code: 'NOTE_MALFORMED' })
  })

const root = 'XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg='
for (const text of [
  '',
  'o\n8\n',
  `o\n8\n${root}`,
  `o\n08\n${root}\n`,
  `o\n-8\n${root}\n`,
  `o\n+8\n${root}\n`,
  `o\n9007199254740993\n${root}\n`,
  `o\n99999999999999999999\n${root}\n`,
  `o\n8\n${root.slice(1)}\n`,
  `o\n8\n${root}\nextension\n`,
  `\n8\n${root}\n`,
  `o x\n8\n${root}\n`,
])
  test(`the checkpoint ${JSON.stringify(text)} is refused`, (t) => {
    t.throws(() => parseCheckpoint(text), { code: 'CHECKPOINT_MALFORMED' })
  })

test('a checkpoint can be parsed without verification', (t) => {
  t.is(readCheckpoint(vector.note).size, 8)
})
