import { readFileSync } from 'node:fs'
import test from 'ava'
import { parseMailAddress } from '#shared/monitoring/pings/url.ts'

const file = new URL('../../../vectors/mail-addresses.json', import.meta.url)
const UUID = '0f1a2b3c-4d5e-4f60-8a7b-9c0d1e2f3a4b'

test('reads uuid, ping key and slug of an address case-insensitively', (t) => {
  const { domain, valid, invalid } = JSON.parse(readFileSync(file, 'utf8'))
  for (const [mailbox, target] of valid) t.deepEqual(parseMailAddress(`${mailbox}@${domain}`, domain), target, mailbox)
  for (const mailbox of invalid) t.is(parseMailAddress(`${mailbox}@${domain}`, domain), 'invalid', mailbox)
})

test('another domain is refused first; its case does not matter', (t) => {
  t.is(parseMailAddress('unknown@y.org', 'x.org'), 'foreign')
  t.is(parseMailAddress(UUID, 'x.org'), 'foreign')
  t.is(parseMailAddress('', 'x.org'), 'foreign')
  t.like(parseMailAddress(`${UUID}@X.Org`, 'x.ORG'), { uuid: UUID })
  t.like(parseMailAddress(`${UUID}@bücher.example`, 'xn--bcher-kva.example'), { uuid: UUID })
  t.like(parseMailAddress(`${UUID}@[127.0.0.1]`, '[127.0.0.1]'), { uuid: UUID })
})
