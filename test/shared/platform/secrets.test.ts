import { randomBytes } from 'node:crypto'
import test from 'ava'
import { createSecrets } from '#shared/platform/process/secrets.ts'

const KEY = 'a secret key that only tests know, long enough'
const secrets = createSecrets(KEY)

test('a value that was sealed for one purpose opens for no other', (t) => {
  const sealed = secrets.seal('ping-key', 'the key')
  t.regex(sealed, /^v2\./)
  t.is(secrets.open('ping-key', sealed), 'the key')
  t.throws(() => secrets.open('integration', sealed), { message: /another purpose/ })
  t.throws(() => secrets.open('ping-key', sealed.replace('v2.', 'v1.')), { message: /not a sealed value/ })
})

test('a value sealed under the key before the last rotation opens, and is sealed again under the current one', (t) => {
  const next = createSecrets(randomBytes(32).toString('hex'), KEY)
  t.is(next.open('mail', secrets.seal('mail', 'a mail')), 'a mail')
  t.throws(() => secrets.open('mail', next.seal('mail', 'a mail')))
})

test('a changed value does not open', (t) => {
  const sealed = secrets.seal('mail', 'a mail')
  const bytes = Buffer.from(sealed.slice(3), 'base64url')
  for (const at of [0, 12, bytes.length - 1]) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.throws(() => secrets.open('mail', `v2.${changed.toString('base64url')}`))
  }
  for (const text of ['', 'v2', 'v3.AAAA', sealed.slice(3)]) t.throws(() => secrets.open('mail', text))
})
