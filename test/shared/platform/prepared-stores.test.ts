import test from 'ava'
import { financingSnapshotDue } from '#shared/contracts/worker-messages.ts'
import { createOutbox } from '#shared/platform/broker/outbox.ts'
import { openDatabase } from '#shared/platform/database/db.ts'
import { preparedRead, preparedTransaction } from '#shared/platform/database/prepared.ts'
import { execute, query } from '#shared/platform/database/sql.ts'
import { acrossTenants, enterTenant, withTenantUnknown } from '#shared/platform/database/tenant.ts'
import { openBrokerProbe } from '../../support/broker-probe.ts'
import { openProduct } from '../../support/product.ts'
import { createDatabase } from '../../support/services.ts'

type Teardown = { teardown(end: () => Promise<void>): void }

/** Two organisations with a project each, and one connection by the login that row security binds. */
async function tenants(t: Teardown) {
  const database = await createDatabase()
  const owner = openDatabase({ url: database.url, name: 'owner', poolSize: 1, timeoutMs: 10_000 })
  const db = openDatabase({ url: database.loginUrl, name: 'test', poolSize: 1, timeoutMs: 10_000 })
  t.teardown(async () => {
    await Promise.all([owner.destroy(), db.destroy()])
    await database.drop()
  })
  const [one = 0, other = 0] = await Promise.all(
    ['one', 'other'].map(async (name) => {
      const [row] = await query<{ id: number }>(owner, 'INSERT INTO organisations (name) VALUES (?) RETURNING id', [
        name,
      ])
      await execute(owner, 'INSERT INTO projects (organisation_id, name) VALUES (?, ?)', [row?.id ?? 0, name])
      return row?.id ?? 0
    }),
  )
  const asTenant = <T>(organisationId: number, work: () => Promise<T>) =>
    withTenantUnknown(() => {
      enterTenant({ organisationId })
      return work()
    })
  return { db, one, other, asTenant }
}

const names = async (tx: Parameters<typeof query>[0]) =>
  (await query<{ name: string }>(tx, 'SELECT name FROM projects ORDER BY name')).map(({ name }) => name)
const RENAME = 'UPDATE projects SET name = ? WHERE organisation_id = ?'

test('a transaction of prepared statements sees its tenant alone, and leaves nothing to the next one', async (t) => {
  const { db, one, other, asTenant } = await tenants(t)
  for (const [tenant, name] of [
    [one, 'one'],
    [other, 'other'],
    [one, 'one'],
  ] as const) {
    t.deepEqual(await asTenant(tenant, () => preparedTransaction(db, ({ tx }) => names(tx))), [name])
    t.deepEqual(await asTenant(tenant, () => preparedRead(db, names)), [name])
    t.deepEqual(await preparedTransaction(db, ({ tx }) => names(tx)), ['one', 'other'], 'a worker sees every row')
    t.deepEqual(await names(db), ['one', 'other'])
  }
  t.deepEqual(await withTenantUnknown(() => preparedTransaction(db, ({ tx }) => names(tx))), [])
  const wide = await asTenant(one, () =>
    preparedTransaction(db, async ({ tx }) => [await names(tx), await acrossTenants(() => names(tx)), await names(tx)]),
  )
  t.deepEqual(wide, [['one'], ['one', 'other'], ['one']], 'one statement that crosses tenants is wider, and no other')
})

test('what a tenant writes by prepared statements reaches no row of another, whenever it travels', async (t) => {
  const { db, one, other, asTenant } = await tenants(t)
  const changed = await asTenant(one, () =>
    preparedTransaction(db, async ({ tx, writes }) => {
      await execute(writes, RENAME, ['taken', other])
      return [await execute(tx, RENAME, ['mine', one]), await execute(tx, RENAME, ['taken', other])]
    }),
  )
  t.deepEqual(changed, [1, 0], 'as many rows as were changed')
  const insert = 'INSERT INTO projects (organisation_id, name) VALUES (?, ?)'
  const foreign = asTenant(one, () =>
    preparedTransaction(db, async ({ writes }) => void (await execute(writes, insert, [other, 'taken']))),
  )
  t.is(((await t.throwsAsync(foreign, { any: true })) as { code?: string }).code, '42501')
  t.deepEqual(await names(db), ['mine', 'other'])
})

test('write-only statements are sent with the commit and roll back with a failure', async (t) => {
  const { db, one } = await tenants(t)
  await preparedTransaction(db, async ({ writes }) => void (await execute(writes, RENAME, ['later', one])))
  t.deepEqual(await names(db), ['later', 'other'])
  await t.throwsAsync(
    preparedTransaction(db, async ({ tx, writes }) => {
      await execute(writes, RENAME, ['undone', one])
      t.deepEqual(await names(tx), ['other', 'undone'], 'what was written before is seen')
      throw new Error('changed its mind')
    }),
    { message: 'changed its mind' },
  )
  t.deepEqual(await names(db), ['later', 'other'])
  await db.raw('DEALLOCATE ALL')
  t.deepEqual(await preparedRead(db, names), ['later', 'other'], 'another connection is used if one forgot')
})

test('a message that is enqueued with prepared statements is stored with them or not at all, and sent', async (t) => {
  await using product = await openProduct()
  const { deps } = await product.ingress()
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const outbox = createOutbox(deps.db, deps.broker, deps.log)
  await t.throwsAsync(
    outbox.runPrepared(async ({ writes }, enqueue) => {
      await enqueue(financingSnapshotDue, { env: 'SANDBOX', epoch: 1 })
      await execute(writes, 'INSERT INTO organisations (name) VALUES (?)', [null])
    }),
    { code: '23502' },
  )
  t.is(
    await outbox.runPrepared(async ({ tx }, enqueue) => {
      await enqueue(financingSnapshotDue, { env: 'SANDBOX', epoch: 2 })
      return await execute(tx, 'INSERT INTO organisations (name) VALUES (?)', ['a'])
    }),
    1,
  )
  const [sent] = await probe.take('financing.snapshot_due.financing-registrar', 1)
  t.is(JSON.parse(String(sent?.content)).epoch, 2)
  await outbox.settled()
  t.deepEqual(await product.db('outbox').select('id'), [])
})
