import type { Knex } from 'knex'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { insertPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { get, median, runLoad } from './load.ts'
import { costPerItem, openProcessorTime } from './processor-time.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

interface Side {
  /** default: this tree */
  tree?: string
  /** runs after the checks were created */
  prepare?(db: Knex): Promise<void>
}

interface Length {
  seconds: number
  rounds: number
}

/**
 * Compares pings of simple checks with the previous build (docs/spec/alerting.md#alerting-bounds).
 * @param before a tree of the previous build
 */
export async function benchFastPath(before: string, length: Length): Promise<Row> {
  return { name: 'plain pings beside the build before', ...(await compare({ tree: before }, {}, length)) }
}

/** Compares pings in a plain project with one where every check has a policy, a parent and a future window. */
export async function benchRuledProject(length: Length): Promise<Row> {
  return { name: 'pings under policies, parents and windows', ...(await compare({}, { prepare: addRules }, length)) }
}

async function addRules(db: Knex): Promise<void> {
  const { id } = await db('projects').first('id')
  await insertPolicy(db, id, { name: 'all', match: '*', position: 0, plan: IMPLICIT_PLAN })
  const { uuid } = await db('checks').orderBy('id').first('uuid')
  await db.raw(
    `INSERT INTO check_rules (check_id, parents)
     SELECT id, jsonb_build_array(jsonb_build_object('check', ?::text)) FROM checks WHERE uuid <> ?::uuid`,
    [uuid, uuid],
  )
  await db.raw(
    `INSERT INTO maintenance_windows (project_id, match, starts_at, ends_at)
     SELECT ?, '*', now() + n * interval '1 day', now() + n * interval '1 day' + interval '1 hour' FROM generate_series(1, 20) AS n`,
    [id],
  )
}

/** Measures processor time of listener, evaluator and database per ping, alternately for both. */
async function compare(one: Side, other: Side, { seconds, rounds }: Length): Promise<Omit<Row, 'name'>> {
  await using resources = new AsyncDisposableStack()
  const sides = await Promise.all(
    [one, other].map(async ({ tree, prepare }) => {
      const stack = resources.use(await openBenchStack({ PING_RATE_LIMIT_PER_MINUTE: '0' }, tree))
      const uuids = await addChecks(stack.db, 1_000)
      await prepare?.(stack.db)
      const ingress = await stack.ingress()
      const evaluator = await stack.workers('ping-evaluator')
      const pids = { ingress: [ingress.child.pid ?? 0], evaluator: [evaluator.pid ?? 0] }
      const time = await openProcessorTime(stack.db, pids)
      const run = async () => {
        const from = await time.read()
        const request = (n: number) => get(`/ping/${uuids[n % uuids.length]}`, '', true)
        const { answered, perSecond } = await runLoad({ ports: [ingress.port], connections: 64, seconds, request })
        const cost = costPerItem(from, await time.read(), answered)
        return { perSecond, us: (cost.ingress ?? 0) + (cost.evaluator ?? 0) + (cost.database ?? 0) }
      }
      return { run, results: [] as Awaited<ReturnType<typeof run>>[] }
    }),
  )
  // Warms up both before measuring.
  for (const { run } of sides) await run()
  for (let round = 0; round < rounds; round++) {
    for (const { run, results } of sides) results.push(await run())
  }
  const [before = 0, now = 0] = sides.map(({ results }) => median(results.map(({ us }) => us)))
  return {
    'CPU us/ping': now.toFixed(0),
    before: before.toFixed(0),
    ratio: (now / before).toFixed(3),
    limit: '1.03',
    'pings/s': sides.map(({ results }) => Math.round(median(results.map(({ perSecond }) => perSecond)))).join(' -> '),
  }
}
