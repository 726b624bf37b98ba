import type { CheckTimes } from '#shared/monitoring/checks/status.ts'
import { goingDownAt } from '#shared/monitoring/checks/status.ts'
import { ALL_SHARDS, type Door, type Gap, gapsOf, type Proof } from '#shared/monitoring/gaps/blind.ts'
import { judge } from '#shared/monitoring/gaps/judge.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { aCheck } from '../checks/factory.ts'

export const S = microsOfSeconds(1)
export const MIN = microsOfSeconds(60)
export const HOUR = 60 * MIN
/** Sunday, 2026-11-22 00:00:00 UTC. */
export const DAY0: Micros = Date.UTC(2026, 10, 22) * 1000

/** An instant of the day, `03:20` or `03:20:11`. */
export function at(time: string): Micros {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
  return DAY0 + hours * HOUR + minutes * MIN + seconds * S
}

/** Proven ability of one process from one time to another. */
export function proof(from: Micros, until: Micros, more: Partial<Proof> = {}): Proof {
  return { kind: 'http', instance: 'a', from, until, shards: 1n, isClean: false, ...more }
}

export function gap(from: Micros, until: Micros | null, more: Partial<Gap> = {}): Gap {
  return { door: 'http', shards: ALL_SHARDS, from, until, kind: 'full', cause: 'process lost', ...more }
}

/** m of the table of scenarios: period and grace of a minute. */
export function m(lastPing: Micros, more: Partial<CheckTimes> = {}): CheckTimes {
  return aCheck({ status: 'up', timeoutSeconds: 60, graceSeconds: 60, lastPing, ...more })
}

/** d: every day at 03:00, grace of an hour. */
export function d(lastPing: Micros, more: Partial<CheckTimes> = {}): CheckTimes {
  return aCheck({ status: 'up', kind: 'cron', schedule: '0 3 * * *', graceSeconds: 3600, lastPing, ...more })
}

export interface Told {
  flip: Micros | null
  excuses: Micros[]
  check: CheckTimes
}

/**
 * What becomes of a check that is not heard any more: judged at each of its deadlines, once gaps are closed.
 * @param pings that are heard, ascending: one that comes before a deadline is judged wins
 */
export function sweepOn(
  start: CheckTimes,
  world: { gaps: readonly Gap[]; refusals?: readonly Micros[]; pings?: readonly Micros[]; door?: Door; until: Micros },
): Told {
  let check = start
  const excuses: Micros[] = []
  const pings = [...(world.pings ?? [])]
  for (let round = 0; round < 100_000; round++) {
    const deadline = goingDownAt(check, nextOccurrence)
    if (deadline === null || deadline > world.until) break
    // An open gap that touches what was expected holds the judgement until its end.
    const covering = world.gaps.filter(
      ({ from, until, door }) =>
        from <= deadline && until !== null && until > deadline && door === (world.door ?? 'http'),
    )
    const judgedAt = Math.max(deadline, ...covering.map(({ until }) => until ?? 0))
    const heard = pings.findIndex((ping) => ping > (check.lastPing ?? 0))
    const ping = heard === -1 ? undefined : pings[heard]
    if (ping !== undefined && ping <= judgedAt) {
      check = { ...check, lastPing: ping, lastStart: null }
      continue
    }
    const evidence = {
      door: world.door ?? 'http',
      shard: 1n,
      gaps: world.gaps,
      refusals: world.refusals ?? [],
    } as const
    const verdict = judge(check, deadline, evidence, nextOccurrence)
    if (verdict.kind === 'leave') break
    if (verdict.kind === 'down') return { flip: deadline, excuses, check }
    excuses.push(verdict.at)
    check = { ...check, excusedAt: verdict.at, ...(verdict.isRun && { lastStart: null }) }
  }
  return { flip: null, excuses, check }
}

export { gapsOf }
