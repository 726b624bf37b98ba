import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import canonicalizeOracle from 'canonicalize'
import { CanonicalJsonError, canonicalize } from '#shared/canonical/jcs.ts'
import { parseJson, parseJsonBytes } from '#shared/canonical/parse-json.ts'

const VECTORS = new URL('../../vectors/jcs/', import.meta.url)

for (const name of readdirSync(new URL('input/', VECTORS))) {
  test(`the published file ${name} canonicalises to the published bytes`, (t) => {
    const value = parseJsonBytes(readFileSync(new URL(`input/${name}`, VECTORS)), { allowNul: true })
    const text = canonicalize(value)
    const hex = readFileSync(new URL(`outhex/${name.replace('.json', '.txt')}`, VECTORS), 'utf8').replaceAll(/\s/g, '')
    t.is(Buffer.from(text).toString('hex'), hex)
    t.is(text, readFileSync(new URL(`output/${name}`, VECTORS), 'utf8'))
    t.is(text, canonicalizeOracle(value) ?? '')
    t.deepEqual(parseJson(text, { allowNul: true }), value)
  })
}

test('ten thousand published numbers have the published text and round-trip', (t) => {
  const lines = readFileSync(new URL('es6-numbers-10k.txt', VECTORS), 'utf8').trim().split('\n')
  t.is(lines.length, 10_000)
  const wrong = lines.filter((line) => {
    const [bits = '', expected = ''] = line.split(',')
    const value = Buffer.from(bits.padStart(16, '0'), 'hex').readDoubleBE()
    return canonicalize(value) !== expected || canonicalize(parseJson(expected)) !== expected
  })
  t.deepEqual(wrong, [])
})

test('member order, escapes and numbers agree with an independent implementation', (t) => {
  const value = {
    '\ufb33': 1,
    '\u{1f602}': 2,
    z: [1e21, 1e-7, -0, 1.0, 5e-324, 123456789012345680000],
    a: { '': null, '\u2028': '\u007f\u0001\b\t\n\f\r"\\/' },
    10: true,
    9: false,
  }
  t.is(canonicalize(value), canonicalizeOracle(value) ?? '')
  t.true(canonicalize(value).indexOf('\u{1f602}') < canonicalize(value).indexOf('\ufb33'))
})

const decorated: unknown[] & { extra?: number } = [1]
decorated.extra = 2
const cycle: Record<string, unknown> = {}
cycle.self = cycle
const refused: readonly [string, unknown, string][] = [
  ['undefined', { a: { b: undefined } }, 'a.b'],
  ['a function', { a: [() => 1] }, 'a[0]'],
  ['a bigint', { a: 1n }, 'a'],
  ['a symbol', [Symbol('x')], '[0]'],
  ['a member named by a symbol', { a: { [Symbol('x')]: 1 } }, 'a'],
  ['NaN', { a: Number.NaN }, 'a'],
  ['an infinity', [Number.NEGATIVE_INFINITY], '[0]'],
  ['a Date', { at: new Date(0) }, 'at'],
  ['a Map', new Map(), ''],
  ['a typed array', new Uint8Array(1), ''],
  ['a boxed string', { a: Object('x') }, 'a'],
  // biome-ignore lint/suspicious/noSparseArray: tests the hole
  ['a sparse array', { a: [, 1] }, 'a'],
  ['an array with members', decorated, ''],
  ['a lone surrogate', { a: '\ud800' }, 'a'],
  ['a lone surrogate in a name', { 'x\udc00': 1 }, 'x\ufffd'],
  [
    'an accessor',
    {
      get a() {
        return 1
      },
    },
    'a',
  ],
]
for (const [name, value, path] of refused) {
  test(`canonicalize refuses ${name} and names the member`, (t) => {
    const error = t.throws(() => canonicalize(value), { instanceOf: CanonicalJsonError })
    t.is(error.code, 'NOT_CANONICAL_JSON')
    t.is(error.path, path)
  })
}

test('a cyclic value is refused with an error', (t) => {
  t.throws(() => canonicalize(cycle), { instanceOf: CanonicalJsonError, message: /nested deeper/ })
})

test('an object without a prototype is accepted', (t) => {
  t.is(canonicalize(Object.assign(Object.create(null), { b: 1, a: [] })), '{"a":[],"b":1}')
})
