import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { type JsonError, JsonParseError } from '#shared/canonical/json-parser.ts'
import { parseJson, parseJsonBytes } from '#shared/canonical/parse-json.ts'

const faults: readonly [string, JsonError, string][] = [
  ['', 'SYNTAX', ''],
  ['{"a":1,"b":{"c":1,"c":2}}', 'DUPLICATE_NAME', 'b.c'],
  ['{"a":1,"\\u0061":2}', 'DUPLICATE_NAME', 'a'],
  ['{"a":{"__proto__":{"polluted":true}}}', 'FORBIDDEN_NAME', 'a.__proto__'],
  ['{"\\u005f_proto__":1}', 'FORBIDDEN_NAME', '__proto__'],
  ['[1e400]', 'NUMBER_OUT_OF_RANGE', '[0]'],
  ['{"a":9007199254740993}', 'NUMBER_NOT_EXACT', 'a'],
  ['{"a":9007199254740995.0}', 'NUMBER_NOT_EXACT', 'a'],
  ['{"a":-9007199254740993.00e0}', 'NUMBER_NOT_EXACT', 'a'],
  ['{"a":90071992547409.93e2}', 'NUMBER_NOT_EXACT', 'a'],
  ['{"a":100000000000000000000001.00}', 'NUMBER_NOT_EXACT', 'a'],
  ['["\\ud800"]', 'LONE_SURROGATE', '[0]'],
  ['{"\\udc00x":1}', 'LONE_SURROGATE', ''],
  ['["\\u0000"]', 'NUL_CHARACTER', '[0]'],
  ['\ufeff{}', 'SYNTAX', ''],
  ['{} x', 'SYNTAX', ''],
  ['{"a":1,}', 'SYNTAX', ''],
  ['[1,]', 'SYNTAX', '[1]'],
  ['[01]', 'SYNTAX', ''],
  ['[+1]', 'SYNTAX', '[0]'],
  ['[.5]', 'SYNTAX', '[0]'],
  ['[1.]', 'SYNTAX', ''],
  ['[-]', 'SYNTAX', '[0]'],
  ['[NaN]', 'SYNTAX', '[0]'],
  ['[tru]', 'SYNTAX', '[0]'],
  ['["\\x"]', 'SYNTAX', '[0]'],
  ['["\\u12g4"]', 'SYNTAX', '[0]'],
  ['["a\nb"]', 'SYNTAX', '[0]'],
  ['["open', 'SYNTAX', '[0]'],
  ['["open\\', 'SYNTAX', '[0]'],
  ["{'a':1}", 'SYNTAX', ''],
  ['{a:1}', 'SYNTAX', ''],
  ['[1\u00a0]', 'SYNTAX', ''],
]
for (const [text, fault, path] of faults) {
  test(`${JSON.stringify(text)} is ${fault} at ${path || 'the top level'}`, (t) => {
    const error = t.throws(() => parseJson(text), { instanceOf: JsonParseError })
    t.is(error.code, 'INVALID_JSON')
    t.is(error.fault, fault)
    t.is(error.path, path)
  })
}

for (const open of ['[', '{"a":', '[{"a":']) {
  test(`a hundred thousand ${open} are refused as TOO_DEEP`, (t) => {
    t.is(t.throws(() => parseJson(open.repeat(100_000)), { instanceOf: JsonParseError }).fault, 'TOO_DEEP')
  })
}

test('a value at the exact depth limit parses and can be canonicalised', (t) => {
  const deepest = `${'['.repeat(256)}${']'.repeat(256)}`
  t.is(canonicalize(parseJson(deepest)), deepest)
  t.throws(() => parseJson(`[${deepest}]`), { instanceOf: JsonParseError })
  t.throws(() => parseJson('[[[1]]]', { maxDepth: 2 }), { instanceOf: JsonParseError })
  t.deepEqual(parseJson('[[1]]', { maxDepth: 2 }), [[1]])
})

test('hostile member names change no prototype', (t) => {
  t.throws(() => parseJson('{"__proto__":{"polluted":1}}'))
  const value = parseJson('{"constructor":{"prototype":{"polluted":1}},"toString":1,"hasOwnProperty":2}')
  t.deepEqual(Object.keys(Object(value)), ['constructor', 'toString', 'hasOwnProperty'])
  t.false('polluted' in {})
})

test('accepted text gives the same value as JSON.parse', (t) => {
  for (const text of [
    ' { "a" : [ 1 , -0.5e-3 , "\\u00e9\\ud83d\\ude02\\n\\/" , true , false , null , { } , [ ] ] } \r\n\t',
    '"x"',
    '12',
    '9007199254740992',
    '295147905179352830000',
    '1E30',
    '{"10":1,"9":2,"":3}',
  ])
    t.deepEqual(parseJson(text), JSON.parse(text))
  t.true(Object.is(parseJson('-0'), 0))
  t.is(parseJson('"\\u0000"', { allowNul: true }), '\u0000')
})

test('bytes must be UTF-8 without a byte-order mark', (t) => {
  t.deepEqual(parseJsonBytes(Buffer.from('{"a":"é"}')), { a: 'é' })
  for (const bytes of [Buffer.from('{"a":1}', 'utf16le'), Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d])])
    t.throws(() => parseJsonBytes(bytes), { instanceOf: JsonParseError })
  const broken = Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])
  t.is(t.throws(() => parseJsonBytes(broken), { instanceOf: JsonParseError }).fault, 'ENCODING')
})

test('an error truncates a long member name', (t) => {
  const name = 'n'.repeat(100_000)
  const error = t.throws(() => parseJson(`{"${name}":[x]}`), { instanceOf: JsonParseError })
  t.true(error.message.length < 400)
})

test('a body of one mebibyte parses', (t) => {
  const row = { id: 'a'.repeat(36), n: 12.5, text: 'é"\n'.repeat(20), list: [1, 2, 3], none: null }
  const text = JSON.stringify(Array.from({ length: 8000 }, () => row))
  t.true(text.length > 1_048_576)
  const started = performance.now()
  const value = parseJson(text)
  t.log(`parsed ${text.length} characters in ${(performance.now() - started).toFixed(1)} ms`)
  t.deepEqual(value, JSON.parse(text))
})

test('a text with too many values is refused at the first one above the limit', (t) => {
  t.deepEqual(parseJson('[1, {"a": 2}]', { maxValues: 4 }), [1, { a: 2 }])
  t.like(
    t.throws(() => parseJson('[1, {"a": 2}]', { maxValues: 3 })),
    { fault: 'TOO_MANY_VALUES', path: '[1].a' },
  )
})

test('an integer is accepted in every spelling if a double holds it', (t) => {
  for (const text of [
    '1180591620717411303424',
    '11805916207174113034240e-1',
    '1e22',
    '1e23',
    '1E30',
    '1152921504606847000.0',
    '9007199254740992.0',
    '-0.0e999999',
  ]) {
    t.is(parseJson(text), Number(text) + 0, text)
  }
  t.is(parseJson(`1.${'0'.repeat(100_000)}1`), 1)
  t.is(parseJson('9007199254740993.5'), 9007199254740994, 'no integer')
})
