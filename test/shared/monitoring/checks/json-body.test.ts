import test from 'ava'
import { NonIntegerNumber, parseJsonBody } from '#shared/monitoring/checks/json-body.ts'

const parse = (text: string) => parseJsonBody(Buffer.from(text))
const unparsable = { ok: false, error: 'could not parse request body' } as const

for (const [text, body] of [
  ['', {}],
  [' {"a" : [1, -0, "x\\u00e9\\n"], "b": {"c": null}} \n', { a: [1, -0, 'xé\n'], b: { c: null } }],
  ['{"a": 1, "a": 2}', { a: 2 }],
  ['{"a": true, "b": false}', { a: true, b: false }],
  ['{"a": "\\ud800"}', { a: '\ud800' }],
] as const) {
  test(`the body ${JSON.stringify(text)} is read`, (t) => {
    const result = parse(text)
    t.deepEqual(result.ok && JSON.stringify(result.body), JSON.stringify(body))
  })
}

for (const token of ['3600.0', '1e4', '1E+4', '-0.5', 'NaN', 'Infinity', '-Infinity', '1e400']) {
  test(`the number ${token} is not an integer`, (t) => {
    const result = parse(`{"a": ${token}}`)
    t.true(result.ok && result.body.a instanceof NonIntegerNumber)
  })
}

for (const text of [
  '{',
  '{"a"',
  '{"a":1,}',
  '[1,]',
  "{'a': 1}",
  ' ',
  '\ufeff{}',
  '{} x',
  '{"a": 01}',
  '{"a": +1}',
  '{"a": .5}',
  '{"a": 1.}',
  '{"a": "\n"}',
  '{"a": "\\x"}',
  '{"a": "unfinished}',
  '{"a": nul}',
  '\u00a0{}',
  '['.repeat(100_000),
  '{"a":'.repeat(100_000),
]) {
  test(`the body ${encodeURIComponent(text.slice(0, 30))} of ${text.length} characters is refused`, (t) => {
    t.deepEqual(parse(text), unparsable)
  })
}

test('bytes that are not UTF-8 are refused', (t) => {
  t.deepEqual(parseJsonBody(Buffer.from([0xff])), unparsable)
  t.deepEqual(parseJsonBody(Buffer.from('{}', 'utf16le')), unparsable)
})

for (const text of ['[1,2,3]', '123', '1.5', '"x"', 'null', 'true', 'NaN']) {
  test(`the JSON value ${text} is not an object`, (t) => {
    t.deepEqual(parse(text), { ok: false, error: 'json validation error: value is not an object' })
  })
}

test('names of prototype members are ordinary names', (t) => {
  const result = parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}')
  t.true(result.ok)
  t.deepEqual(result.ok && Object.keys(result.body), ['__proto__', 'constructor'])
  t.false('polluted' in {})
})

test('a truncated body keeps its complete members', (t) => {
  const text =
    ' {"a": [1, -2, "x\\u00e9"], "api_key": "kéy", "b": {"c": nul' + 'l, "d": 1.5e3}, "e": -Infinity, "f": ""}'
  const bytes = Buffer.from(text)
  const keyEnd = bytes.indexOf('"kéy"') + Buffer.byteLength('"kéy"')
  for (let cut = 0; cut < bytes.length; cut++) {
    const result = parseJsonBody(bytes.subarray(0, cut), { isBeginning: true })
    t.is(result.ok && (result.body.api_key ?? null), cut >= keyEnd ? 'kéy' : null, text.slice(0, cut))
  }
})

test('a truncated body that cannot be an object is refused', (t) => {
  const rest = ' '.repeat(20)
  for (const text of ['{"a" 1', "{'a'", '{"a": 01', '{} x']) {
    t.deepEqual(parseJsonBody(Buffer.from(text + rest), { isBeginning: true }), unparsable, text)
  }
  const noObject = { ok: false, error: 'json validation error: value is not an object' } as const
  for (const text of ['[1, 2', '"abc']) {
    t.deepEqual(parseJsonBody(Buffer.from(text), { isBeginning: true }), noObject, text)
  }
})
