import test from 'ava'
import { leaseKey, openKey, storeAnswer } from '#shared/tenancy/idempotency/store.ts'
import { nowMicros } from '#shared/time.ts'
import { retention } from '../../../workers/sweeper/sweeps/retention.ts'
import { openProduct } from '../../support/product.ts'

test('idempotency keys are forgotten after their retention, and not before', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const [organisation] = await db('organisations').insert({ name: 'Org' }).returning(['id'])
  const scope = (key: string) => ({ organisationId: Number(organisation?.id), env: 'SANDBOX', key })
  const fingerprint = Buffer.alloc(32, 1)
  const answer = { status: 200, headers: {}, body: '{}' }
  await db.transaction(async (tx) => {
    await storeAnswer(tx, scope('answered'), fingerprint, answer)
    await storeAnswer(tx, scope('old'), fingerprint, answer)
    await storeAnswer(tx, scope('a week'), fingerprint, answer, 7)
    await leaseKey(tx, scope('under way'), fingerprint, answer)
  })
  await db.raw(
    "UPDATE idempotency_keys SET expires_at = expires_at - interval '25 hours' WHERE key IN ('old', 'a week')",
  )
  const deps = await product.workers([])
  await retention.run({ deps, barriers: { answering: async () => new Set<number>() }, now: nowMicros() })
  const left = await db('idempotency_keys').select('key').orderBy('key')
  t.deepEqual(
    left.map(({ key }) => key),
    ['a week', 'answered', 'under way'],
  )
  const found = await db.transaction((tx) => openKey(tx, scope('old'), fingerprint))
  t.is(found.state, 'free')
})

test('entries of the audit log are forgotten after their retention, and not before', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const entry = (action: string, days: number) =>
    db.raw("INSERT INTO audit_log (actor, action, at) VALUES ('a', ?, now() - make_interval(days => ?::int))", [
      action,
      days,
    ])
  await entry('too.old', 401)
  await entry('still.kept', 399)
  const deps = await product.workers([])
  await retention.run({ deps, barriers: { answering: async () => new Set<number>() }, now: nowMicros() })
  t.deepEqual(await db('audit_log').pluck('action'), ['still.kept'])
})
