import type { Knex } from 'knex'
import { get, type LoadResult, median, runLoad } from './load.ts'
import { costPerItem, openProcessorTime, type StageCost } from './processor-time.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'
import { hasWrk, runWrk } from './wrk.ts'

interface Options {
  seconds: number
  rounds: number
  isQuick: boolean
}

interface Case {
  name: string
  connections: number
  checks: number
  reconnect?: boolean
  isQuick?: boolean
  /** required and desired result */
  limit: string
  goal: string
}

interface Side {
  bare: LoadResult
  pings: LoadResult
  appliedShare: number
  drainMs: number
  cost: StageCost
  perMessage: number
}

/** The cases whose ratio shows the cost of more checks. */
const FEW_CHECKS = '64 connections, 100 checks'
const MANY_CHECKS = '64 connections, 10,000 checks'

const CASES: readonly Case[] = [
  { name: '1 connection, 1,000 checks', connections: 1, checks: 1_000, limit: '1,000/s', goal: '1,400/s' },
  { name: FEW_CHECKS, connections: 64, checks: 100, limit: '0.28', goal: '0.36' },
  {
    name: '64 connections, 1,000 checks',
    connections: 64,
    checks: 1_000,
    isQuick: true,
    limit: '0.28, p99 12 ms',
    goal: '0.36, p99 8 ms',
  },
  { name: MANY_CHECKS, connections: 64, checks: 10_000, limit: '0.28', goal: '0.36' },
  {
    name: '256 connections, 1,000 checks',
    connections: 256,
    checks: 1_000,
    isQuick: true,
    limit: '0.50, 50 us',
    goal: '0.60, 40 us',
  },
  { name: '256 connections, 10,000 checks', connections: 256, checks: 10_000, limit: '0.50', goal: '0.60' },
  {
    name: '64, a new connection per ping',
    connections: 64,
    checks: 1_000,
    reconnect: true,
    isQuick: true,
    limit: '0.40',
    goal: '0.50',
  },
  {
    name: '256, a new connection per ping',
    connections: 256,
    checks: 1_000,
    reconnect: true,
    limit: '0.40',
    goal: '0.50',
  },
]

/** Requests per second of the bare server with 256 keep-alive connections, on the machine of the time limits. */
const REFERENCE_RATE = 77_000
const CONNECTIONS_OF_REFERENCE = 256

/**
 * Measures the ping path and a bare server, alternately, in one run: acknowledged and applied pings per second, the
 * time to process the backlog, and the cost of a ping in each stage.
 */
export async function benchPings(options: Options): Promise<Row[]> {
  await using stack = await openBenchStack({ PING_RATE_LIMIT_PER_MINUTE: '0' })
  const bare = await stack.bare()
  const ingress = await stack.ingress()
  const evaluator = await stack.workers('ping-evaluator')
  const time = await openProcessorTime(stack.db, {
    ingress: [ingress.child.pid ?? 0],
    evaluator: [evaluator.pid ?? 0],
  })
  const uuids = await addChecks(stack.db, 10_000)
  await stack.db.raw('VACUUM ANALYZE checks')
  const run = (await hasWrk()) ? runWrk : runBuiltIn
  if (run === runBuiltIn) console.log('wrk is not installed: the built-in load generator takes more of the processors.')

  // Warms up both before measuring.
  for (const port of [bare, ingress.port]) {
    const paths = uuids.slice(0, 1_000).map((uuid) => `/ping/${uuid}`)
    await run({ port, paths, connections: 64, seconds: 2, reconnect: false })
  }

  const cases = CASES.filter(({ isQuick }) => isQuick || !options.isQuick).map((one) => ({
    ...one,
    sides: [] as Side[],
  }))
  // Cases with the same number of connections alternate, so that slow periods of the machine affect all of them. It
  // also keeps the listener's cache of ten thousand checks from expiring between rounds.
  for (const group of Map.groupBy(cases, ({ connections, reconnect }) => `${connections} ${reconnect}`).values()) {
    // A ratio of two measurements has the noise of both.
    const rounds = group.some(({ name }) => name === MANY_CHECKS) ? 2 * options.rounds - 1 : options.rounds
    for (let round = 0; round < rounds; round++) {
      for (const { connections, checks, reconnect = false, sides } of group) {
        const load = { connections, seconds: options.seconds, reconnect }
        const paths = uuids.slice(0, checks).map((uuid) => `/ping/${uuid}`)
        const bareResult = await run({ ...load, port: bare, paths: ['/ping/x'] })
        const before = await countPings(stack.db)
        const timeBefore = await time.read()
        const messagesBefore = await countMessages(ingress.metricsPort)
        const pings = await run({ ...load, port: ingress.port, paths })
        const applied = (await countPings(stack.db)) - before
        const acknowledged = pings.answered - pings.refused
        const drainMs = await drained(stack.db, before + acknowledged)
        const cost = costPerItem(timeBefore, await time.read(), acknowledged)
        const perMessage = acknowledged / ((await countMessages(ingress.metricsPort)) - messagesBefore)
        sides.push({ bare: bareResult, pings, appliedShare: applied / acknowledged, drainMs, cost, perMessage })
      }
    }
  }
  console.log(limitsHere(cases))
  const rows = cases.map((one) => summary(one, one.sides))
  return options.isQuick ? rows : [...rows, growth(rows, cases)]
}

function summary({ name, limit, goal }: Case, sides: readonly Side[]): Row {
  const of = (pick: (side: Side) => number) => median(sides.map(pick))
  const stages = ['ingress', 'evaluator', 'database', 'broker'] as const
  const costs = stages.map((stage) => of(({ cost }) => cost[stage] ?? Number.NaN))
  return {
    name,
    'pings/s': Math.round(of(({ pings }) => pings.perSecond)),
    'bare/s': Math.round(of(({ bare }) => bare.perSecond)),
    ratio: of(({ pings, bare }) => pings.perSecond / bare.perSecond).toFixed(2),
    limit,
    goal,
    'p50 ms': of(({ pings }) => pings.p50Ms).toFixed(2),
    'p99 ms': of(({ pings }) => pings.p99Ms).toFixed(1),
    'p99/bare': of(({ pings, bare }) => pings.p99Ms / bare.p99Ms).toFixed(1),
    'CPU us/ping': Math.round(costs.reduce((sum, cost) => sum + cost, 0)),
    'ingress/evaluator/database/broker': costs.map((cost) => Math.round(cost)).join('/'),
    'pings/message': of(({ perMessage }) => perMessage).toFixed(1),
    applied: of(({ appliedShare }) => appliedShare).toFixed(3),
    'drain ms': Math.round(of(({ drainMs }) => drainMs)),
    errors: sides.reduce((sum, { pings }) => sum + pings.refused + pings.broken, 0),
  }
}

/** Compares the same load over ten thousand and a hundred checks, round by round. */
function growth(rows: readonly Row[], cases: readonly { name: string; sides: readonly Side[] }[]): Row {
  const of = (name: string) => cases.find((one) => one.name === name)?.sides.map(({ pings }) => pings.perSecond) ?? []
  const few = of(FEW_CHECKS)
  const ratio = median(of(MANY_CHECKS).map((rate, round) => rate / (few[round] ?? Number.NaN)))
  const empty = Object.fromEntries(Object.keys(rows[0] ?? {}).map((column) => [column, '']))
  return { ...empty, name: '10,000 against 100 checks', ratio: ratio.toFixed(2), limit: '0.85', goal: '0.95' }
}

/** Scales time limits to the speed of this machine. */
function limitsHere(cases: readonly { connections: number; reconnect?: boolean; sides: readonly Side[] }[]): string {
  const alike = cases.filter(({ connections, reconnect }) => connections === CONNECTIONS_OF_REFERENCE && !reconnect)
  const rate = median(alike.flatMap(({ sides }) => sides.map(({ bare }) => bare.perSecond)))
  const speed = rate / REFERENCE_RATE
  return [
    `Limits in time are of a machine whose bare server answers ${REFERENCE_RATE.toLocaleString('en')} a second at`,
    `${CONNECTIONS_OF_REFERENCE} connections. This one answered ${Math.round(rate).toLocaleString('en')}, which is`,
    `${speed.toFixed(2)} of it: 12 ms are ${(12 / speed).toFixed(1)} ms here, 50 us are ${Math.round(50 / speed)} us, and`,
    `1,000 a second are ${Math.round(1_000 * speed)}.`,
  ].join(' ')
}

async function runBuiltIn(load: Parameters<typeof runWrk>[0]): Promise<LoadResult> {
  const { port, connections, seconds, reconnect, paths } = load
  const request = (n: number) => get(paths[n % paths.length] ?? '/', '', !reconnect)
  return await runLoad({ ports: [port], connections, seconds, reconnect, request })
}

async function countPings(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: { n: string }[] }>('SELECT sum(n_pings) AS n FROM checks')
  return Number(rows[0]?.n ?? 0)
}

async function countMessages(metricsPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return Number(/^signalbox_ping_batch_size_count (\d+)/m.exec(metrics)?.[1])
}

/** @returns milliseconds until all acknowledged pings are applied */
async function drained(db: Knex, expected: number): Promise<number> {
  const started = performance.now()
  while ((await countPings(db)) < expected) {
    if (performance.now() - started > 60_000) throw new Error('acknowledged pings are missing')
  }
  return performance.now() - started
}
