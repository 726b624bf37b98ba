import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { Knex } from 'knex'
import { saveFilter } from '#shared/monitoring/pages/saved-filter-store.ts'
import { insertProject } from '#shared/monitoring/projects/store.ts'
import { openDatabase } from '#shared/platform/database/db.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { limitOpen } from '#shared/risk/operations/financing-requests.ts'
import { insertUser } from '#shared/tenancy/accounts/store.ts'
import { createAgentKey } from '#shared/tenancy/operations/agent-keys.ts'
import { insertOrganisation } from '#shared/tenancy/organisations/store.ts'
import { registerEndpoint } from '#shared/webhooks/operations/endpoints.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase } from '../support/services.ts'

const PARALLEL = 8

test('parallel requests do not exceed the limits of a project or organisation', async (t) => {
  const database = await createDatabase()
  const db = openDatabase({ url: database.url, name: 'limits', poolSize: PARALLEL + 1, timeoutMs: 60_000 })
  t.teardown(async () => {
    await db.destroy()
    await database.drop()
  })
  const { organisationId, filter } = await db.transaction(async (tx) => {
    const { id } = await insertOrganisation(tx, 'Busy')
    const project = await insertProject(tx, { organisationId: id, name: 'Busy' })
    const user = await insertUser(tx, { email: 'busy@example.com', name: '', passwordHash: null })
    return { organisationId: id, filter: { projectId: project.id, userId: user?.id ?? 0 } }
  })
  const actor = { kind: 'operator', name: 'test' } as const
  const env = 'SANDBOX' as const
  const secrets = createSecrets('a secret key that only tests know, long enough')

  async function waitingForLocks(): Promise<number> {
    const { rows } = await db.raw(
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    return rows[0].count
  }

  /** Creates rows one after the other up to one below the limit, then several in parallel. @returns how many of these */
  async function fill(limit: number, create: (tx: Knex.Transaction, at: number) => Promise<unknown>): Promise<number> {
    await db.transaction(async (tx) => {
      for (let at = 1; at < limit; at++) await create(tx, at)
    })
    let ended = 0
    // No transaction commits before the others have done the same or wait for a lock.
    const inParallel = async (tx: Knex.Transaction, at: number) => {
      const created = await create(tx, at).finally(() => ended++)
      await eventually('the others', async () => ended + (await waitingForLocks()) >= PARALLEL)
      return created
    }
    const parallel = Array.from(
      { length: PARALLEL },
      async (_, at) => await db.transaction((tx) => inParallel(tx, limit + at)),
    )
    const outcomes = await Promise.allSettled(parallel)
    return outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value !== false).length
  }

  const endpoint = { organisationId, env, url: 'https://example.com/', description: '', eventTypes: [], ordered: false }
  const endpoints = await fill(100, async (tx) => await registerEndpoint(tx, actor, endpoint, { secrets }))
  t.is(endpoints, 1, 'webhook endpoints')

  const maker = { organisationId, env, scopes: ['agents:invoke'] }
  const keys = await fill(200, async (tx, at) => {
    return await createAgentKey(tx, actor, maker, { name: `key ${at}`, scopes: ['agents:invoke'] }, Date.now())
  })
  t.is(keys, 1, 'agent keys')

  t.is(await fill(20, (tx, at) => saveFilter(tx, filter, { name: `${at}`, query: 'q=a' })), 1, 'saved filters')

  // A worker stores the registration later: until then the job counts.
  const registrations = await fill(3, async (tx) => {
    await limitOpen(tx, { organisationId, env }, { config: { financingOpenRegistrations: 3 } })
    const job = { id: randomUUID(), kind: 'financing.registration', sealed_request: 'x' }
    await tx('evidence_jobs').insert({ ...job, organisation_id: organisationId, env })
  })
  t.is(registrations, 1, 'open registrations')
})
