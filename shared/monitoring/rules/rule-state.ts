import type { Micros } from '../../time.ts'
import type { NextOccurrence } from '../checks/check.ts'
import { applySignal, type CheckMachine, type SignalOutcome } from '../checks/state-machine.ts'
import { type CheckTimes, goingDownAtWithoutRules } from '../checks/status.ts'
import { applyWatched, type RunSignal } from './apply-watched.ts'
import { watchedDeadline } from './deadline.ts'
import { hasQuorum, isCounted, noteSource, type Quorum, quorumDeadline } from './quorum.ts'
import type { RunBook } from './run.ts'

export interface RuleState {
  checkId: number
  runs: RunBook | null
  sources: Quorum | null
}

/** Returns null if no timeout can bring the check down. */
export function ruleDeadline(check: CheckTimes, facts: RuleState, next: NextOccurrence): Micros | null {
  const deadline = facts.runs ? watchedDeadline(check, facts.runs, next) : goingDownAtWithoutRules(check, next)
  if (!facts.sources || check.status !== 'up') return deadline
  const quorum = quorumDeadline(check, facts.sources, next)
  if (quorum === null || quorum === Number.POSITIVE_INFINITY) return deadline
  return deadline === null ? quorum : Math.min(deadline, quorum)
}

/** Changes both in place. Only enough reporting sources bring the check up. */
export function applyRules(
  check: CheckMachine,
  facts: RuleState,
  signal: RunSignal,
  next: NextOccurrence,
): SignalOutcome {
  if (facts.sources && !isCounted(facts.sources, signal.source)) {
    facts.sources.expectedFrom ??= signal.at
    return { ...applySignal(check, { ...signal, kind: 'ign' }, next), type: signal.kind, uncounted: true }
  }
  const before = check.status
  const outcome = facts.runs ? applyWatched(check, facts.runs, signal, next) : applySignal(check, signal, next)
  const settled = facts.sources ? withQuorum(check, facts.sources, { signal, before, outcome }, next) : outcome
  check.alertAfter = ruleDeadline(check, facts, next)
  return settled
}

function withQuorum(
  check: CheckMachine,
  quorum: Quorum,
  { signal, before, outcome }: { signal: RunSignal; before: CheckMachine['status']; outcome: SignalOutcome },
  next: NextOccurrence,
): SignalOutcome {
  noteSource(quorum, { name: signal.source, kind: outcome.type, at: signal.at })
  if (outcome.flip?.to !== 'up' || hasQuorum(check, quorum, signal.at, next)) return outcome
  check.status = before
  return { ...outcome, flip: null }
}
