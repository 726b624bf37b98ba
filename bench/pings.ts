import type { Knex } from 'knex'
import { get, type LoadResult, median, runLoad } from './load.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

interface Options {
  seconds: number
  rounds: number
}

interface Side {
  bare: LoadResult
  pings: LoadResult
  appliedShare: number
  drainMs: number
}

/**
 * The ping path beside a bare server, in turn, in one run: acknowledged per second, applied in the same window, and how
 * long the backlog takes to go.
 */
export async function benchPings(options: Options): Promise<Row[]> {
  const rows: Row[] = []
  await using stack = await openBenchStack()
  const bare = await stack.bare()
  const ingresses = [await stack.ingress(), await stack.ingress()]
  await stack.workers('ping-evaluator')
  const one = (await addChecks(stack.db, 1)).slice(0, 1)
  const many = await addChecks(stack.db, 10_000)

  const cases = [
    { name: '1 connection, 1 check', uuids: one, connections: 1 },
    { name: '64 connections, 1 check', uuids: one, connections: 64 },
    { name: '64 connections, 10,000 checks', uuids: many, connections: 64 },
    { name: '256 connections, 10,000 checks', uuids: many, connections: 256 },
    { name: '64, a new connection per ping', uuids: many, connections: 64, reconnect: true },
    { name: '256 connections, 2 ingress processes', uuids: many, connections: 256, processes: 2 },
  ]
  for (const { name, uuids, connections, reconnect = false, processes = 1 } of cases) {
    const ports = ingresses.slice(0, processes)
    const sides: Side[] = []
    for (let round = 0; round < options.rounds; round++) {
      const load = { connections, seconds: options.seconds, reconnect }
      const bareResult = await runLoad({ ...load, ports: [bare], request: () => get('/ping/x', '', !reconnect) })
      const before = await countPings(stack.db)
      const request = (n: number) => get(`/ping/${uuids[n % uuids.length]}`, '', !reconnect)
      const pings = await runLoad({ ...load, ports, request })
      const applied = (await countPings(stack.db)) - before
      const drainMs = await drained(stack.db, before + pings.answered - pings.refused)
      sides.push({ bare: bareResult, pings, appliedShare: applied / pings.answered, drainMs })
    }
    rows.push(summary(name, sides))
  }
  return rows
}

function summary(name: string, sides: readonly Side[]): Row {
  const of = (pick: (side: Side) => number) => median(sides.map(pick))
  return {
    name,
    'pings/s': Math.round(of(({ pings }) => pings.perSecond)),
    'bare/s': Math.round(of(({ bare }) => bare.perSecond)),
    ratio: of(({ pings, bare }) => pings.perSecond / bare.perSecond).toFixed(2),
    'p50 ms': of(({ pings }) => pings.p50Ms).toFixed(2),
    'p99 ms': of(({ pings }) => pings.p99Ms).toFixed(1),
    'p99/bare': of(({ pings, bare }) => pings.p99Ms / bare.p99Ms).toFixed(1),
    applied: of(({ appliedShare }) => appliedShare).toFixed(3),
    'drain ms': Math.round(of(({ drainMs }) => drainMs)),
    errors: sides.reduce((sum, { pings }) => sum + pings.refused + pings.broken, 0),
  }
}

async function countPings(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: { n: string }[] }>('SELECT sum(n_pings) AS n FROM checks')
  return Number(rows[0]?.n ?? 0)
}

/** @returns milliseconds until all acknowledged pings are applied */
async function drained(db: Knex, expected: number): Promise<number> {
  const started = performance.now()
  while ((await countPings(db)) < expected) {
    if (performance.now() - started > 60_000) throw new Error('acknowledged pings are missing')
  }
  return performance.now() - started
}
