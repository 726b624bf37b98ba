import test from 'ava'
import { passkeyNamed, passkeySite } from '#shared/tenancy/accounts/passkey.ts'
import {
  newRecoveryCodes,
  newTotpSecret,
  normalRecoveryCode,
  totpAddress,
  totpStep,
} from '#shared/tenancy/accounts/second-factor.ts'
import { microsOfSeconds } from '#shared/time.ts'

/** The secret of RFC 6238, appendix B, in base 32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

for (const [seconds, code] of [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [2_000_000_000, '279037'],
] as const)
  test(`RFC 6238: at ${seconds} s the code is ${code}, valid for a neighbouring step`, (t) => {
    const step = Math.floor(seconds / 30)
    t.is(totpStep(secret, code, microsOfSeconds(seconds)), step)
    t.is(totpStep(secret, ` ${code.slice(0, 3)} ${code.slice(3)}`, microsOfSeconds(seconds + 30)), step)
    t.is(totpStep(secret, code, microsOfSeconds(seconds - 30)), step)
    t.is(totpStep(secret, code, microsOfSeconds(seconds + 90)), null)
  })

test('a text other than six digits is not a code', (t) => {
  for (const typed of ['', '28708', '2870822', 'abcdef', '２８７０８２'])
    t.is(totpStep(secret, typed, microsOfSeconds(59)), null, typed)
})

test('a secret has 160 bits, and its address names issuer and account', (t) => {
  t.regex(newTotpSecret(), /^[A-Z2-7]{32}$/)
  const address = new URL(totpAddress(secret, 'Our box', 'ada@example.com'))
  t.is(address.protocol, 'otpauth:')
  t.is(address.searchParams.get('secret'), secret)
  t.is(address.searchParams.get('issuer'), 'Our box')
  t.regex(decodeURIComponent(address.pathname), /Our box:ada@example\.com$/)
})

test('ten different recovery codes are created and normalised', (t) => {
  const codes = newRecoveryCodes()
  t.is(new Set(codes).size, 10)
  for (const code of codes) {
    t.is(normalRecoveryCode(` ${code.toUpperCase().replace('-', ' ')} `), code)
    t.is(normalRecoveryCode(code.slice(1)), null)
  }
  t.is(normalRecoveryCode('aaaaa-aaaa1'), null)
})

test('passkeys are available for https host names and localhost', (t) => {
  t.like(passkeySite('https://signals.example:8443/', 'S'), {
    origin: 'https://signals.example:8443',
    host: 'signals.example',
  })
  t.like(passkeySite('http://localhost:8080', 'S'), { host: 'localhost' })
  for (const url of ['http://signals.example', 'http://127.0.0.1:8080', 'https://10.0.0.1', 'https://[::1]'])
    t.is(passkeySite(url, 'S'), null, url)
})

test('a malformed passkey response names no passkey', (t) => {
  for (const text of ['', 'null', '{}', '{"id":"a b"}', '['.repeat(10_000)]) t.is(passkeyNamed(text), null)
})
