import { randomBytes, randomUUID } from 'node:crypto'
import test from 'ava'
import type { Knex } from 'knex'
import pg from 'pg'
import { openDatabase, transaction } from '#shared/platform/database/db.ts'
import { migrateAndSecure } from '#shared/platform/database/migrate.ts'
import { changeRoles, ownerColumns, secureRows, tenantTables } from '#shared/platform/database/row-security.ts'
import { query } from '#shared/platform/database/sql.ts'
import { acrossTenants, enterTenant, withTenantUnknown } from '#shared/platform/database/tenant.ts'
import { loginUrl, withClient } from '../../../stack/database-admin.ts'
import { createDatabase, type TestDatabase } from '../../support/services.ts'
import { testLogin } from '../../support/template-database.ts'

/** Tables without a tenant, or whose rows are found by a secret alone, before the tenant is known. */
const WITHOUT_TENANT =
  `listener_heartbeats dead_letter_actions domain_keys financing_snapshots coverage_gaps user_identities installation invoice_keys log_checkpoints log_entries log_keys log_receipts
  log_tiles processed_messages message_attempts migrations migrations_lock outbox outgoing_mails ping_bodies ping_generations ping_streams rate_limits
  report_mails restore_marks deleted_checks
  sessions status_lists status_list_entries token_keys used_challenges
  user_passkeys user_recovery_codes user_reports user_totp users`.split(/\s+/)

let database: TestDatabase
let db: Knex
const tenants: { organisationId: number; projectId: number }[] = []

test.before(async () => {
  database = await createDatabase()
  // One connection, so that each request uses the connection of the previous request.
  db = openDatabase({ url: database.loginUrl, name: 'row-security', poolSize: 1, timeoutMs: 10_000 })
  await withClient(database.url, async (owner) => {
    for (const name of ['one', 'other']) {
      const organisation = await owner.query('INSERT INTO organisations (name) VALUES ($1) RETURNING id', [name])
      const organisationId = Number(organisation.rows[0].id)
      const project = await owner.query('INSERT INTO projects (organisation_id, name) VALUES ($1, $2) RETURNING id', [
        organisationId,
        name,
      ])
      const projectId = Number(project.rows[0].id)
      await owner.query('INSERT INTO status_pages (project_id, token, title) VALUES ($1, $2, $2)', [projectId, name])
      tenants.push({ organisationId, projectId })
    }
  })
})
test.after.always(async () => {
  await db?.destroy()
  await database?.drop()
})

const titles = async (on: Knex = db) =>
  (await query<{ title: string }>(on, 'SELECT title FROM status_pages ORDER BY title')).map(({ title }) => title)

/** A request of the tenant with this number, as a listener runs it. */
const asTenant = <T>(number: number, work: () => Promise<T>): Promise<T> =>
  withTenantUnknown(() => {
    enterTenant(tenants[number] ?? {})
    return work()
  })

test.serial('the login owns no table, is no superuser and cannot bypass row security', async (t) => {
  await withClient(database.loginUrl, async (login) => {
    const { rows } = await login.query(
      `SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles
       WHERE rolname = current_user OR pg_has_role(current_user, oid, 'MEMBER') ORDER BY rolname`,
    )
    const none = { rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false }
    t.deepEqual(rows, [
      { rolname: 'signalbox_pipeline', ...none },
      { rolname: 'signalbox_test_login', ...none },
    ])
    const owned = await login.query(`SELECT relname FROM pg_class WHERE pg_get_userbyid(relowner) = current_user`)
    t.deepEqual(owned.rows, [])
  })
})

test.serial('each table is bound by a policy, or is known to hold no tenant', async (t) => {
  await withClient(database.url, async (owner) => {
    const { rows } = await owner.query<{ name: string; bound: boolean }>(
      `SELECT relname AS name, relrowsecurity AS bound FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
    )
    const named = (bound: boolean) => rows.filter((row) => row.bound === bound).map(({ name }) => name)
    t.deepEqual(named(true).sort(), Object.keys(tenantTables).sort())
    const undecided = named(false).filter((name) => !WITHOUT_TENANT.includes(name))
    t.deepEqual(undecided, [], 'a new table: see row-security.ts')
  })
})

const PARENT = /EXISTS \(SELECT FROM (\w+) AS parent WHERE parent\.(?:id|user_id) = \w+\.\w+\)/g

test('the policy of each table leads to an organisation or a project', (t) => {
  for (const [table, rule] of Object.entries(tenantTables)) {
    const parents = [...rule.matchAll(PARENT)].map(([, parent = '']) => parent)
    const isByParent = /^(#|CASE WHEN \w+\.\w+ IS NULL THEN # ELSE # END)$/.test(
      rule.replace(PARENT, '#').replace(/\s+/g, ' '),
    )
    const isByTenant = /= \(SELECT nullif\(current_setting\('signalbox\.(organisation|project)_id', true\)/.test(rule)
    t.true(isByTenant || (isByParent && parents.every((parent) => parent in tenantTables)), `${table}: ${rule}`)
  }
})

test.serial('with no tenant set no table shows a row, and takes none', async (t) => {
  await withClient(database.loginUrl, async (login) => {
    for (const table of Object.keys(tenantTables)) {
      t.is((await login.query(`SELECT 1 FROM ${table}`)).rowCount, 0, table)
      t.is((await login.query(`DELETE FROM ${table}`)).rowCount, 0, table)
    }
    const refusal = await t.throwsAsync(login.query("INSERT INTO organisations (name) VALUES ('mine')"), {
      instanceOf: pg.DatabaseError,
    })
    t.is(refusal?.code, '42501')
  })
  await withTenantUnknown(async () => {
    t.deepEqual(await titles(), [])
    t.deepEqual(await transaction(db, (tx) => titles(tx)), [])
  })
  t.deepEqual(await titles(), ['one', 'other'], 'the rows are there')
})

test.serial('a request that fails in mid-transaction leaves nothing to the next one on its connection', async (t) => {
  const failure = await t.throwsAsync(
    asTenant(0, () =>
      transaction(db, async (tx) => {
        await tx('status_pages').update({ title: 'changed' })
        t.deepEqual(await titles(tx), ['changed'])
        await tx.raw('SELECT 1 / 0')
      }),
    ),
  )
  t.regex(failure.message, /division by zero/)
  t.deepEqual(await asTenant(1, titles), ['other'])
  await t.throwsAsync(asTenant(1, () => query(db, 'SELECT 1 / 0')))
  t.deepEqual(await asTenant(0, titles), ['one'])
  t.deepEqual(await withTenantUnknown(titles), [])
  t.deepEqual(await titles(), ['one', 'other'])
})

test("a tenant's statement without a WHERE changes and adds only its own rows", async (t) => {
  await asTenant(0, async () => {
    t.is(await db('status_pages').update({ tags: 'x' }), 1)
    const insert = db('projects').insert({ organisation_id: tenants[1]?.organisationId, name: 'intruder' })
    await t.throwsAsync(insert, { message: /row-level security/ })
  })
})

test("a tenant's session cannot give a row to another tenant", async (t) => {
  const [own, other] = tenants
  await asTenant(0, async () => {
    const move = db('projects').where({ id: own?.projectId }).update({ organisation_id: other?.organisationId })
    await t.throwsAsync(move, { message: /permission denied for table projects/ })
    t.is(await db('projects').update({ name: 'renamed' }), 1)
    await t.throwsAsync(async () => await db('status_pages').update({ project_id: other?.projectId }), {
      message: /row-level security/,
    })
  })
  await asTenant(1, async () => {
    const dispute = { id: randomUUID(), registration_id: randomUUID(), env: 'SANDBOX', sealed_reason: '', record: '' }
    const forged = db('financing_disputes').insert({
      ...{ ...dispute, state: 'OPEN', answer_by: new Date(), holder_id: other?.organisationId },
      organisation_id: own?.organisationId,
    })
    await t.throwsAsync(forged, { message: /row-level security/ }, 'the side that sees a row cannot insert it')
  })
  // A rule without OR is also the check of the changed row; the parent of a row is checked by the parent's own rule.
  await withClient(database.loginUrl, async (login) => {
    for (const [table, rule] of Object.entries(tenantTables).filter(([, rule]) => rule.includes(' OR '))) {
      t.not(ownerColumns(rule).length, 0, table)
      for (const column of ownerColumns(rule)) {
        const { rows } = await login.query("SELECT has_column_privilege($1, $2, 'UPDATE') AS may", [table, column])
        t.false(rows[0].may, `${table}.${column}`)
      }
    }
  })
})

test.serial('a look-up across tenants inside of a transaction widens that one statement', async (t) => {
  await asTenant(0, () =>
    transaction(db, async (tx) => {
      t.deepEqual(await acrossTenants(() => titles(tx)), ['one', 'other'])
      t.deepEqual(await titles(tx), ['one'])
    }),
  )
})

test.serial('securing again changes nothing, and a policy that differs is mended', async (t) => {
  await withClient(database.url, async (owner) => {
    const policies = async () => (await owner.query('SELECT oid FROM pg_policy ORDER BY oid')).rows
    const before = await policies()
    await secureRows(owner, testLogin)
    t.deepEqual(await policies(), before)
    await owner.query('ALTER TABLE flips DISABLE ROW LEVEL SECURITY')
    await secureRows(owner, testLogin)
    const { rows } = await owner.query("SELECT relrowsecurity AS bound FROM pg_class WHERE oid = 'flips'::regclass")
    t.true(rows[0].bound)
  })
})

test.serial('migrations make the login of DATABASE_URL, and report if there is only one login', async (t) => {
  const login = { role: `signalbox_test_${randomBytes(6).toString('hex')}`, password: randomBytes(12).toString('hex') }
  const url = loginUrl(database.url, login)
  t.deepEqual(await migrateAndSecure({ databaseUrl: url, databaseOwnerUrl: database.url }), { applied: [] })
  await withClient(url, async (client) => {
    t.is((await client.query('SELECT 1 FROM organisations')).rowCount, 0)
  })
  await withClient(database.url, async (owner) => {
    await changeRoles(owner, `DROP OWNED BY ${login.role}; DROP ROLE ${login.role}`)
  })
  const { warning } = await migrateAndSecure({ databaseUrl: database.url })
  t.regex(warning ?? '', /row security is off/)
  await withClient(database.loginUrl, async (powerless) => {
    const refusal = await t.throwsAsync(secureRows(powerless, { role: 'signalbox_test_nobody', password: 'x' }), {
      instanceOf: pg.DatabaseError,
    })
    t.is(refusal?.code, '42501')
  })
})
