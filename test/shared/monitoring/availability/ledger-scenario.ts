import { evaluateAbsence } from '#shared/monitoring/availability/evaluate-absence.ts'
import { ALL_SHARDS, type Gap, gapsOf, type Listener, type Proof } from '#shared/monitoring/availability/unavailable.ts'
import type { CheckTimes } from '#shared/monitoring/checks/status.ts'
import { goingDownAt } from '#shared/monitoring/checks/status.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { aCheck } from '../checks/factory.ts'

export const S = microsOfSeconds(1)
export const MIN = microsOfSeconds(60)
export const HOUR = 60 * MIN
/** Sunday, 2026-11-22 00:00:00 UTC. */
export const DAY0: Micros = Date.UTC(2026, 10, 22) * 1000

/** Returns an instant of the day. @param time `03:20` or `03:20:11` */
export function at(time: string): Micros {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
  return DAY0 + hours * HOUR + minutes * MIN + seconds * S
}

/** Returns a coverage proof of one process. */
export function proof(from: Micros, until: Micros, more: Partial<Proof> = {}): Proof {
  return { kind: 'http', instance: 'a', from, until, shards: 1n, isClean: false, ...more }
}

export function gap(from: Micros, until: Micros | null, more: Partial<Gap> = {}): Gap {
  return { listener: 'http', shards: ALL_SHARDS, from, until, kind: 'full', cause: 'process lost', ...more }
}

/** Check m of docs/spec/alerting.md#coverage-scenarios: period and grace of a minute. */
export function m(lastPing: Micros, more: Partial<CheckTimes> = {}): CheckTimes {
  return aCheck({ status: 'up', timeoutSeconds: 60, graceSeconds: 60, lastPing, ...more })
}

/** Check d: every day at 03:00, grace of an hour. */
export function d(lastPing: Micros, more: Partial<CheckTimes> = {}): CheckTimes {
  return aCheck({ status: 'up', kind: 'cron', schedule: '0 3 * * *', graceSeconds: 3600, lastPing, ...more })
}

export interface Outcome {
  flip: Micros | null
  extensions: Micros[]
  check: CheckTimes
}

/**
 * Simulates a silent check: evaluates it at each of its deadlines, once gaps are closed.
 * @param timeline.pings received pings, ascending: a ping before the evaluation of a deadline prevents the flip
 */
export function sweepOn(
  start: CheckTimes,
  timeline: {
    gaps: readonly Gap[]
    refusals?: readonly Micros[]
    pings?: readonly Micros[]
    listener?: Listener
    until: Micros
  },
): Outcome {
  let check = start
  const extensions: Micros[] = []
  const pings = [...(timeline.pings ?? [])]
  for (let round = 0; round < 100_000; round++) {
    const deadline = goingDownAt(check, nextOccurrence)
    if (deadline === null || deadline > timeline.until) break
    // An open gap that touches an expected ping delays the evaluation until its end.
    const covering = timeline.gaps.filter(
      ({ from, until, listener }) =>
        from <= deadline && until !== null && until > deadline && listener === (timeline.listener ?? 'http'),
    )
    const evaluatedAtTime = Math.max(deadline, ...covering.map(({ until }) => until ?? 0))
    const heard = pings.findIndex((ping) => ping > (check.lastPing ?? 0))
    const ping = heard === -1 ? undefined : pings[heard]
    if (ping !== undefined && ping <= evaluatedAtTime) {
      check = { ...check, lastPing: ping, lastStart: null }
      continue
    }
    const evidence = {
      listener: timeline.listener ?? 'http',
      shard: 1n,
      gaps: timeline.gaps,
      refusals: timeline.refusals ?? [],
    } as const
    const evaluation = evaluateAbsence(check, deadline, evidence, nextOccurrence)
    if (evaluation.kind === 'leave') break
    if (evaluation.kind === 'down') return { flip: deadline, extensions, check }
    extensions.push(evaluation.at)
    check = { ...check, deadlineExtendedAt: evaluation.at, ...(evaluation.isRun && { lastStart: null }) }
  }
  return { flip: null, extensions, check }
}

export { gapsOf }
