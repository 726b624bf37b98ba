import test from 'ava'
import { sealedColumns } from '#shared/platform/database/sealed-store.ts'
import { query } from '#shared/platform/database/sql.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addChannel, addProject } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

async function reseal(settings: { sealFormat?: 'v1' } = {}) {
  const { config, db, secrets, log } = app.deps
  const context = { config: { ...config, ...settings }, db, secrets, log, actor: 'tester' }
  return await runAdmin(['reseal', '--json'], commands, async () => ({ ...context, async [Symbol.asyncDispose]() {} }))
}

const configs = async () =>
  (await query<{ value: string }>(app.deps.db, 'SELECT sealed_config AS value FROM integrations ORDER BY id')).map(
    ({ value }) => value,
  )

test.serial('L18: every column of sealed values is known to the step that seals them anew', async (t) => {
  const found = await query<{ at: string }>(
    app.deps.db,
    `SELECT table_name || '.' || column_name AS at FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name LIKE 'sealed%'`,
  )
  t.deepEqual(
    sealedColumns.map(({ table, column }) => `${table}.${column}`).toSorted(),
    found.map(({ at }) => at).toSorted(),
  )
})

test.serial(
  'L18: values of the earlier format are bound to their purpose by one command, and still open',
  async (t) => {
    const { db, config, secrets } = app.deps
    const earlier = createSecrets(config.secretKey, undefined, 'v1')
    const { project } = await addProject(app.deps)
    for (let n = 0; n < 3; n++) await addChannel(app.deps, project.id, `channel ${n}`)
    const [first = '', second = '', third = ''] = await configs()
    const foreign = createSecrets('a key that is lost, and was long enough once', undefined, 'v1').seal(
      'integration',
      '{}',
    )
    const old = earlier.seal('integration', secrets.open('integration', first))
    await query(db, 'UPDATE integrations SET sealed_config = ? WHERE sealed_config = ?', [old, first])
    await query(db, 'UPDATE integrations SET sealed_config = ? WHERE sealed_config = ?', [foreign, second])
    t.is(secrets.open('ping-key', old), secrets.open('integration', first), 'it opens for any purpose')

    const done = await reseal()
    t.is(done.status, 1, 'one is unreadable')
    t.like(
      JSON.parse(done.stdout).find(({ table }: { table: string }) => table === 'integrations'),
      { resealed: 1, unreadable: 1 },
    )
    const after = await configs()
    t.true(after.includes(foreign) && after.includes(third), 'nothing else is touched')
    const [fresh = ''] = after.filter((value) => ![foreign, third].includes(value))
    t.regex(fresh, /^v2\./)
    t.is(secrets.open('integration', fresh), secrets.open('integration', first))
    t.throws(() => secrets.open('ping-key', fresh))

    await query(db, 'DELETE FROM integrations WHERE sealed_config = ?', [foreign])
    const again = await reseal()
    t.is(again.status, 0)
    t.true(JSON.parse(again.stdout).every(({ resealed }: { resealed: number }) => resealed === 0))
  },
)

test.serial('L18: nothing is sealed anew while the installation still writes the earlier format', async (t) => {
  const { status, stderr } = await reseal({ sealFormat: 'v1' })
  t.is(status, 2)
  t.regex(stderr, /SEAL_FORMAT is v1/)
})
