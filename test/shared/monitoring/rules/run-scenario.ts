import type { Check } from '#shared/monitoring/checks/check.ts'
import type { PingType, StatusChange } from '#shared/monitoring/checks/state-machine.ts'
import type { Quorum } from '#shared/monitoring/rules/quorum.ts'
import { applyRules, type RuleState, ruleDeadline } from '#shared/monitoring/rules/rule-state.ts'
import { NO_TALLY, type Run, type RunBook, type RunRule, readRunRule } from '#shared/monitoring/rules/run.ts'
import type { SourceRule } from '#shared/monitoring/rules/source-rule.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { aCheck } from '../checks/factory.ts'

export const [A, B, C] = ['1', '2', '3'].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`) as [
  string,
  string,
  string,
]

/** Returns an instant of 22 November 2026. @param clock UTC, `10:40` or `10:40:30` */
export function at(clock: string): number {
  return Date.parse(`2026-11-22T${clock.length === 5 ? `${clock}:00` : clock}Z`) * 1000
}

/** Applies pings to one check with rules and sweeps every deadline in time. */
export function ruleScenario(changes: Partial<Check>, rules: { run?: Partial<RunRule>; sources?: SourceRule }) {
  const check = aCheck({ status: 'up', lastPing: at('09:00'), ruleBits: 3, ...changes })
  const book: RunBook | null = rules.run
    ? {
        rule: { ...readRunRule({}, 'run'), ...rules.run },
        open: [],
        headless: [],
        tally: { ...NO_TALLY, buckets: [...NO_TALLY.buckets] },
        p95: null,
        changed: new Set(),
      }
    : null
  const quorum: Quorum | null = rules.sources
    ? { rule: rules.sources, expectedFrom: null, sources: [], changed: new Set() }
    : null
  const facts: RuleState = { checkId: 1, runs: book, sources: quorum }
  const flips: (StatusChange & { at: number })[] = []
  check.alertAfter = ruleDeadline(check, facts, nextOccurrence)

  /** Brings the check down at its stored deadline, as the sweeper does. */
  function sweep(now: number): void {
    if (check.alertAfter === null || check.alertAfter >= now || check.status === 'down') return
    const flip = { from: check.status, to: 'down', reason: 'timeout', processed: false, at: check.alertAfter } as const
    check.status = 'down'
    check.alertAfter = null
    flips.push(flip)
  }

  return {
    check,
    flips,
    facts,
    runs: (): Run[] => [...(book?.changed ?? [])].sort((a, b) => a.n - b.n),
    ping(kind: PingType, when: number, rid: string | null = null, source = '') {
      sweep(when)
      const outcome = applyRules(check, facts, { kind, at: when, rid, source }, nextOccurrence)
      if (outcome.flip) flips.push({ ...outcome.flip, at: when })
      return outcome
    },
    sweep,
  }
}
