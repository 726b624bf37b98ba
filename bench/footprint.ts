import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { get, median, runLoad } from './load.ts'
import { timeOf } from './processor-time.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

const CHECKS = 100
const CONNECTIONS = 64
/** Between the start and the measurement: caches and first sweeps are over. */
const SETTLE_MS = 30_000

/**
 * Measures one process for everything: memory, processor time, transactions and connections at rest, and its start.
 * @param options.restSeconds time over which the rest is measured
 * @param options.starts number of starts, of which the median counts; one more before them fills the compile cache
 */
export async function benchFootprint(options: {
  restSeconds: number
  starts: number
  pingSeconds: number
}): Promise<Row[]> {
  await using stack = await openBenchStack()
  const uuids = await addChecks(stack.db, CHECKS)
  const starts: number[] = []
  const ends: number[] = []
  for (let start = 0; start <= options.starts; start++) {
    const { child, readyMs } = await stack.all()
    const began = performance.now()
    child.kill('SIGINT')
    await new Promise((resolve) => child.once('exit', resolve))
    if (start === 0) continue
    starts.push(readyMs)
    ends.push(performance.now() - began)
  }
  const { child, port } = await stack.all()
  const pid = child.pid ?? 0
  await sleep(SETTLE_MS)
  const before = await readRest(stack.db, pid)
  await sleep(options.restSeconds * 1000)
  const after = await readRest(stack.db, pid)
  const atRest = memoryOf(pid)
  const seconds = (after.at - before.at) / 1000
  let loaded = 0
  const watch = setInterval(() => (loaded = Math.max(loaded, memoryOf(pid).proportional)), 500)
  const { perSecond } = await runLoad({
    ports: [port],
    connections: CONNECTIONS,
    seconds: options.pingSeconds,
    request: (n) => get(`/ping/${uuids[n % uuids.length]}`),
  })
  clearInterval(watch)
  const processorTime = ((after.processorMicros - before.processorMicros) / 1e6 / seconds) * 100
  // The second reading itself is one transaction.
  const transactions = (after.transactions - before.transactions - 1) / seconds
  return [
    row('resident memory at rest', `${atRest.resident} MB`, ''),
    row('proportional memory at rest', `${atRest.proportional} MB`, '180 MB'),
    row(`proportional memory, ${CONNECTIONS} connections, ${Math.round(perSecond)} pings/s`, `${loaded} MB`, '250 MB'),
    row('processor time at rest', `${processorTime.toFixed(2)} % of a core`, '1 %'),
    row('transactions at rest', `${transactions.toFixed(1)} a second`, '8'),
    row('connections to PostgreSQL at rest', after.connections, '10'),
    row('start to readiness', `${Math.round(median(starts))} ms`, '2000 ms'),
    row('SIGINT to the end', `${Math.round(median(ends))} ms`, '3000 ms'),
  ]
}

function row(name: string, measured: string | number, goal: string): Row {
  return { name, measured, goal }
}

interface Rest {
  /** monotonic milliseconds */
  at: number
  processorMicros: number
  transactions: number
  connections: number
}

async function readRest(db: Knex, pid: number): Promise<Rest> {
  const { rows } = await db.raw<{ rows: { transactions: string; connections: string }[] }>(
    `SELECT xact_commit + xact_rollback AS transactions,
       (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'signalbox%') AS connections
     FROM pg_stat_database WHERE datname = current_database()`,
  )
  return {
    at: performance.now(),
    processorMicros: timeOf(pid) ?? Number.NaN,
    transactions: Number(rows[0]?.transactions),
    connections: Number(rows[0]?.connections),
  }
}

/** Returns the memory of a process in MB; NaN if the platform does not report it (only Linux does). */
function memoryOf(pid: number): { resident: number; proportional: number } {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const of = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024)
    return { resident: of('Rss'), proportional: of('Pss') }
  } catch {
    return { resident: Number.NaN, proportional: Number.NaN }
  }
}
