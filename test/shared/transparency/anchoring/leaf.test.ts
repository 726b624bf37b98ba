import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import {
  ANCHOR_NOTE,
  anchorObject,
  decodeLogEntry,
  encodeLogEntry,
  eventOf,
  payloadSha256,
  txIdOf,
} from '#shared/transparency/anchoring/leaf.ts'
import { anchorVectors } from './vectors.ts'

for (const name of ['pack', 'webhook'] as const) {
  const vector = anchorVectors[name]
  test(`the published ${name} has the published hash, entry and anchor`, (t) => {
    const event = eventOf(vector.objectWithoutAnchor)
    if (event === undefined) throw new Error('no event')
    t.is(canonicalize(vector.objectWithoutAnchor), vector.canonical)
    t.is(canonicalize(vector.delivered), vector.deliveredCanonical)
    const note = vector.anchor.note === undefined ? undefined : ANCHOR_NOTE
    const { entry, anchor } = anchorObject(vector.objectWithoutAnchor, event, note)
    t.is(Buffer.from(entry).toString(), vector.logEntry)
    t.deepEqual(anchor, vector.anchor)
    t.is(payloadSha256(vector.delivered), vector.payloadSha256)
    t.is(txIdOf(entry), vector.txId)
    t.deepEqual(decodeLogEntry(entry), { ...event, payloadSha256: vector.payloadSha256 })
  })
}

test('an object is logged with its stated event type and timestamp', (t) => {
  t.deepEqual(eventOf({ eventType: 'kyb.membership', timestamp: '2026-11-21T10:00:00.000Z', event: 'x' }), {
    eventType: 'kyb.membership',
    timestamp: '2026-11-21T10:00:00.000Z',
  })
  t.is(eventOf({ packId: 'p' }), undefined)
})

test('a member named __proto__ cannot be hidden from the hash', (t) => {
  const hidden: object = JSON.parse('{"a":1,"__proto__":{"b":2},"anchor":{}}')
  t.not(payloadSha256(hidden), payloadSha256({ a: 1 }))
  t.is(payloadSha256({ a: 1, anchor: 'ignored' }), payloadSha256({ a: 1 }))
})

test('only plain objects are anchored', (t) => {
  for (const value of [[], new Date(), new Map()]) t.throws(() => payloadSha256(value), { code: 'OBJECT_MALFORMED' })
  t.throws(() => payloadSha256({ a: undefined }), { code: 'NOT_CANONICAL_JSON' })
})

const good = { eventType: 'a.b', timestamp: '2026-11-21T10:00:00.000Z', payloadSha256: 'ab'.repeat(32) }
for (const bad of [
  { ...good, eventType: '' },
  { ...good, eventType: 'With Space' },
  { ...good, eventType: 'x'.repeat(200) },
  { ...good, timestamp: '2026-11-21T10:00:00Z' },
  { ...good, timestamp: '2026-13-41T10:00:00.000Z' },
  { ...good, payloadSha256: 'AB'.repeat(32) },
])
  test(`no log entry is encoded from ${JSON.stringify(bad).slice(0, 60)}`, (t) => {
    t.throws(() => encodeLogEntry(bad), { code: 'ENTRY_MALFORMED' })
  })

const text = Buffer.from(encodeLogEntry(good)).toString()
for (const [fault, bytes] of [
  ['white space', text.replace(',', ', ')],
  ['another order', JSON.stringify({ v: 1, ...good })],
  ['another version', text.replace('"v":1', '"v":2')],
  ['an additional member', text.replace('{', '{"dealId":"d",')],
  ['a name twice', text.replace('{', '{"v":1,')],
  ['nothing', ''],
  ['a list', '[]'],
  ['too many bytes', `${text}${' '.repeat(70_000)}`],
] as const)
  test(`a log entry with ${fault} is refused`, (t) => {
    t.throws(() => decodeLogEntry(Buffer.from(bytes)), { code: 'ENTRY_MALFORMED' })
  })

test('a log entry that is not UTF-8 is refused', (t) => {
  t.throws(() => decodeLogEntry(Buffer.from([0x7b, 0xff, 0x7d])), { code: 'ENTRY_MALFORMED' })
})
