import test from 'ava'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { sealCursor, unsealCursor } from '../../ingress/paging.ts'

const secrets = createSecrets('a'.repeat(64))

test('a cursor of a serial number reveals neither the number nor its length', (t) => {
  const lengths = new Set<number>()
  for (const seq of [1, 52, 1_000_000, Number.MAX_SAFE_INTEGER]) {
    const cursor = sealCursor(seq, secrets)
    t.not(cursor, sealCursor(seq, secrets))
    t.is(unsealCursor(cursor, secrets), seq)
    t.regex(cursor, /^[A-Za-z0-9._-]{1,500}$/)
    lengths.add(cursor.length)
  }
  t.is(lengths.size, 1)
})

test('a cursor that was not sealed by this service is refused', (t) => {
  t.is(unsealCursor(undefined, secrets), null)
  const foreign = [
    'x',
    '',
    Buffer.from('[52]').toString('base64url'),
    sealCursor(1, createSecrets('b'.repeat(64))),
    secrets.seal('entity', '1'),
  ]
  for (const cursor of foreign)
    t.throws(() => unsealCursor(cursor, secrets), { message: 'cursor is not one of this list' })
})
