import test from 'ava'
import { bodyText } from '../../../ingress/web/monitoring/checks/ping-body.ts'

const shown = (text: string) => bodyText(Buffer.from(text))

test('JSON is indented, and its values are not changed', (t) => {
  const lines = [
    '{',
    '  "rows": [',
    '    12345678901234567890,',
    '    1.0',
    '  ],',
    '  "none": {},',
    '  "a": "{,:}\\""',
    '}',
  ]
  t.is(shown('{"rows":[12345678901234567890, 1.0],"none":{},"a":"{,:}\\""}'), lines.join('\n'))
  t.is(shown('[]'), '[]')
})

test('a body that is not JSON is shown unchanged', (t) => {
  for (const text of ['all tables dumped\n  { }', '{"cut": [1, 2', '[error] disk full', '']) t.is(shown(text), text)
})

test('deeply nested JSON is not indented, because that would need gigabytes', (t) => {
  const nested = '['.repeat(50_000) + ']'.repeat(50_000)
  t.is(shown(nested), nested)
})

test('a binary body is shown as a hex dump, truncated UTF-8 as text', (t) => {
  const bytes = Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff]), Buffer.alloc(11, 0x41)])
  t.is(
    bodyText(bytes),
    '00000000  7f 45 4c 46 00 ff 41 41 41 41 41 41 41 41 41 41  .ELF..AAAAAAAAAA\n' +
      '00000010  41                                               A',
  )
  t.is(bodyText(Buffer.from('größe').subarray(0, 3)), 'gr')
})
