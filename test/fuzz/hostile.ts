import type { Random } from '../support/random.ts'

/** Texts that break parsers, patterns, numbers, dates, databases and pages. */
const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u{1f980}',
  '\ud800',
  '\u202etxt.exe',
  'ｆｕｌｌ',
  '٣',
  '%',
  '%00',
  '%zz',
  '%ff%fe',
  '..%2f..%2fetc%2fpasswd',
  '../../etc/passwd',
  "' or 1=1 --",
  '<script>alert(1)</script>',
  '{{7*7}}',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'NaN',
  '-1',
  '-0',
  '0',
  '1e400',
  '1.5',
  '0x10',
  '2147483648',
  '9007199254740993',
  '9223372036854775808',
  '99999999999999999999999999',
  '0000-00-00',
  '2026-02-30T25:61:61Z',
  '-271821-04-20T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '1970-01-01T00:00:00Z',
  '* * * * *',
  '61 * 31 2 *',
  '*/0 * * * *',
  'Sun *-*-29 00:00:60',
  'Europe/Nowhere',
  '00000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-00000000000G',
  'http://127.0.0.1:1/',
  'javascript:alert(1)',
  '[',
  '(a+)+$',
  '\r\nSet-Cookie: a=b',
  'a@b',
  'a'.repeat(300),
  'x'.repeat(70_000),
] as const

export function hostileText(random: Random): string {
  return random.pick(TEXTS)
}

/** Returns a random JSON value, often with boundary numbers, deep nesting or many members. */
export function hostileJson(random: Random): unknown {
  switch (random.int(8)) {
    case 0:
      return random.pick([0, -0, -1, 1.5, 1e308, 2 ** 31, 2 ** 53, -(2 ** 63), 1e21])
    case 1:
      return random.pick([null, true, false])
    case 2:
      return Array.from({ length: random.pick([0, 1, 1_000]) }, () => hostileText(random).slice(0, 20))
    case 3:
      return nested(random.pick([3, 100, 2_000]))
    case 4:
      return { [hostileText(random).slice(0, 50)]: hostileText(random) }
    default:
      return hostileText(random)
  }
}

/** Returns the bytes with some of them changed, removed or repeated. */
export function garbled(random: Random, bytes: Buffer): Buffer {
  const out = [...bytes]
  for (let changes = 1 + random.int(4); changes > 0 && out.length > 0; changes--) {
    const at = random.int(out.length)
    const kind = random.int(4)
    if (kind === 0) out[at] = random.int(256)
    else if (kind === 1) out.splice(at, 1 + random.int(20))
    else if (kind === 2) out.splice(at, 0, ...out.slice(at, at + random.int(20)))
    else out.splice(at, 0, random.pick([0, 10, 13, 255, 0xc3, 34]))
  }
  return Buffer.from(out)
}

function nested(depth: number): unknown {
  // Parsed from text, because building it would be slower.
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth))
}
