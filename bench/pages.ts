import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { listCheckPage, shownAt } from '#shared/monitoring/pages/check-list-store.ts'
import { listCheckLog } from '#shared/monitoring/pages/check-log-store.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { insertSession } from '#shared/tenancy/accounts/session-store.ts'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import { nowMicros } from '#shared/time.ts'
import { get, median, runLoad } from './load.ts'
import { addChecks, type BenchStack, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

interface Options {
  checks: number
  /** stored pings of each check; one check has a full log instead */
  pingsPerCheck: number
  rounds: number
  /** number of times that each page is read in a round */
  requests: number
}

const FULL_LOG = 1_000
const INTEGRATIONS = 20

/**
 * Measures pages of a large project, read one after the other, compared with the statement that reads the rows of the
 * page: the difference is sessions, permissions, waiting for earlier pings, counting and rendering.
 */
export async function benchPages(options: Options): Promise<Row[]> {
  await using stack = await openBenchStack()
  const { db } = stack
  const uuids = await addChecks(db, options.checks)
  await db.raw(FURNISH, [INTEGRATIONS, options.pingsPerCheck, FULL_LOG])
  await db.raw(PINGS)
  await db.raw('VACUUM ANALYZE checks, pings, flips, channels, check_integrations')
  const project = await db('projects').first('id', 'uuid')
  const first = await db('checks').orderBy('id').first('id', 'uuid')
  if (!project || !first) throw new Error('the project was not made')
  const cookie = await signIn(stack)
  await stack.workers('ping-evaluator')
  const { port } = await stack.ingress()

  const base = `/projects/${project.uuid}`
  const filter = { tags: [], search: '', status: null, quiet: null }
  const page = { after: null, limit: 51, shown: await shownAt(db, project.id, nowMicros()) }
  const log = {
    kinds: ['ping', 'flip', 'notification', 'gap'],
    before: null,
    afterN: 0,
    limit: 51,
    heardBy: { listener: 'http', shard: 1n },
  } as const
  const cases = [
    {
      name: 'checks',
      path: `${base}/checks`,
      bare: () => listCheckPage(db, project.id, { ...page, filter, sort: 'name' }),
    },
    {
      name: 'checks, found by name',
      path: `${base}/checks?search=check%20777`,
      bare: () => listCheckPage(db, project.id, { ...page, filter: { ...filter, search: 'check 777' }, sort: 'name' }),
    },
    { name: 'a check, full log', path: `/checks/${first.uuid}`, bare: () => listCheckLog(db, first.id, log) },
    {
      name: 'a check',
      path: `/checks/${uuids.at(-1)}`,
      bare: () => listCheckLog(db, first.id + uuids.length - 1, log),
    },
    { name: 'integrations', path: `${base}/integrations`, bare: () => listIntegrations(db, project.id) },
  ]
  const rows: Row[] = []
  for (const { name, path, bare } of cases) {
    const request = () => get(path, `Cookie: ${cookie}\r\n`)
    const sides: { bare: number; p50: number; p99: number }[] = []
    let errors = 0
    for (let round = 0; round < options.rounds; round++) {
      const bareMs = await timed(bare, options.requests)
      const read = await runLoad({ ports: [port], connections: 1, seconds: 3, requests: options.requests, request })
      errors += read.refused + read.broken
      sides.push({ bare: bareMs, p50: read.p50Ms, p99: read.p99Ms })
    }
    rows.push({
      name,
      'p50 ms': median(sides.map(({ p50 }) => p50)).toFixed(1),
      'p99 ms': median(sides.map(({ p99 }) => p99)).toFixed(1),
      'query ms': median(sides.map((side) => side.bare)).toFixed(2),
      ratio: median(sides.map((side) => side.p50 / side.bare)).toFixed(1),
      errors,
    })
  }
  return rows
}

/** @returns the median in milliseconds */
async function timed(run: () => Promise<unknown>, times: number): Promise<number> {
  const durations: number[] = []
  for (let n = 0; n < times; n++) {
    const started = performance.now()
    await run()
    durations.push(performance.now() - started)
  }
  return median(durations)
}

/** @returns the session cookie of an owner of the newest organisation */
export async function signIn({ db, env }: BenchStack): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const digest = createSecrets(env.SECRET_KEY ?? '').digest(`session:${token}`)
  await db.transaction(async (tx: Knex) => {
    const user = await insertUser(tx, { email: 'bench@example.com', name: '', passwordHash: null })
    const organisation = await tx('organisations').orderBy('id', 'desc').first('id')
    if (!user || !organisation) throw new Error('no user to sign in')
    await insertMembership(tx, { organisationId: organisation.id, userId: user.id, role: 'owner' })
    await insertSession(tx, { digest, userId: user.id, address: '127.0.0.1', agent: 'bench' })
  })
  return `signalbox-session=${token}`
}

/**
 * Every tenth check is down; every check has two integrations. Arguments: integrations, pings, and the pings of the
 * full log.
 */
const FURNISH = `
  WITH made AS (
    INSERT INTO integrations (project_id, kind, name, sealed_config)
    SELECT max(id), 'webhook', 'channel ' || n, '' FROM projects, generate_series(1, ?::int) n GROUP BY n
    RETURNING id),
  numbered AS (SELECT id, row_number() OVER () - 1 AS n, count(*) OVER () AS of FROM made),
  assigned AS (
    INSERT INTO check_integrations (check_id, integration_id)
    SELECT c.id, m.id FROM checks c JOIN numbered m ON m.n IN (c.id % m.of, (c.id + 1) % m.of)),
  flipped AS (
    INSERT INTO flips (check_id, at, from_status, to_status, reason, processed_at)
    SELECT id, now() - n * interval '1 day', CASE WHEN n % 2 = 0 THEN 'up' ELSE 'down' END,
           CASE WHEN n % 2 = 0 THEN 'down' ELSE 'up' END, '', now()
    FROM checks, generate_series(1, 4) n)
  UPDATE checks SET status = CASE WHEN id % 10 = 0 THEN 'down' ELSE 'up' END, tags = 'team-' || id % 12 || ' prod',
    n_pings = CASE WHEN id > (SELECT min(id) FROM checks) THEN ?::int ELSE ?::int END, last_ping = now(),
    alert_after = CASE WHEN id % 10 = 0 THEN NULL ELSE now() + interval '25 hours' END`

const PINGS = `
  INSERT INTO pings (check_id, slot, n, type, at, scheme, remote_addr, method, ua)
  SELECT c.id, n % 1000, n, 'success', now() - (c.n_pings - n) * interval '1 hour', 'https', '192.0.2.1', 'GET', 'curl/8'
  FROM checks c, generate_series(1, c.n_pings) n`
