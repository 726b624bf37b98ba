import test from 'ava'
import { parseMailAddress } from '#shared/monitoring/pings/url.ts'

const UUID = '0f1a2b3c-4d5e-4f60-8a7b-9c0d1e2f3a4b'

test('a uuid of version 4 in either case, or a ping key and a slug', (t) => {
  t.deepEqual(parseMailAddress(`${UUID.toUpperCase()}@x.org`, 'x.org'), { form: 'uuid', uuid: UUID })
  const pingKey = 'Ab-_5678901234567890xy'
  t.deepEqual(parseMailAddress(`${pingKey}+db_backup-2@x.org`, 'x.org'), {
    form: 'slug',
    pingKey,
    slug: 'db_backup-2',
  })
  for (const mailbox of [`${UUID}x`, `${pingKey}+`, `${pingKey}+UP`, `${pingKey}a+slug`, pingKey, 'postmaster', '']) {
    t.is(parseMailAddress(`${mailbox}@x.org`, 'x.org'), 'invalid', mailbox)
  }
})

test('the domain goes first, without regard to case or spelling', (t) => {
  t.is(parseMailAddress('unknown@y.org', 'x.org'), 'foreign')
  t.is(parseMailAddress(UUID, 'x.org'), 'foreign')
  t.is(parseMailAddress('', 'x.org'), 'foreign')
  t.like(parseMailAddress(`${UUID}@X.Org`, 'x.ORG'), { uuid: UUID })
  t.like(parseMailAddress(`${UUID}@bücher.example`, 'xn--bcher-kva.example'), { uuid: UUID })
  t.like(parseMailAddress(`${UUID}@[127.0.0.1]`, '[127.0.0.1]'), { uuid: UUID })
})
