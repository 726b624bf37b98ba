import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Knex } from 'knex'
import { brokerServer } from '../test/support/services.ts'

/** Microseconds of processor time per ping; null on platforms other than Linux. */
export type StageCost = Record<Stage, number | null>
type Stage = 'ingress' | 'evaluator' | 'database' | 'broker'

/** Clock tick of /proc on Linux, in microseconds. */
const TICK = 10_000

/**
 * Reads the processor time of the stages of the ping path. It is steadier than a rate, because it does not depend on
 * other load. For the database it counts the connections to this database.
 */
export async function openProcessorTime(
  db: Knex,
  pids: { ingress: readonly number[]; evaluator: readonly number[] },
): Promise<{ read(): Promise<StageCost> }> {
  const broker = await brokerPid()
  return {
    async read() {
      return {
        ingress: sum(pids.ingress),
        evaluator: sum(pids.evaluator),
        database: sum(await backends(db)),
        broker: sum(broker === null ? [] : [broker]),
      }
    },
  }
}

export function costPerItem(before: StageCost, after: StageCost, items: number): StageCost {
  const of = (stage: Stage) => {
    const [from, to] = [before[stage], after[stage]]
    return from === null || to === null ? null : (to - from) / items
  }
  return { ingress: of('ingress'), evaluator: of('evaluator'), database: of('database'), broker: of('broker') }
}

async function backends(db: Knex): Promise<number[]> {
  const { rows } = await db.raw<{ rows: { pid: number }[] }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
  )
  return rows.map(({ pid }) => pid)
}

async function brokerPid(): Promise<number | null> {
  const { control } = await brokerServer()
  if (!control.rabbitmqctl) return null
  const [command = '', ...args] = control.rabbitmqctl
  try {
    const env = { ...process.env, ...control.env }
    return Number(/\d+/.exec(execFileSync(command, [...args, 'eval', 'os:getpid().'], { env, encoding: 'utf8' }))?.[0])
  } catch {
    return null
  }
}

function sum(pids: readonly number[]): number | null {
  const times = pids.map(timeOf).filter((time) => time !== null)
  return times.length === 0 ? null : times.reduce((total, time) => total + time, 0)
}

/** Returns user and system time of a process since its start, in microseconds. */
export function timeOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in brackets may contain spaces; the fields follow it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK
  } catch {
    return null
  }
}
