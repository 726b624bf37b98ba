import type { Knex } from 'knex'
import { findRules } from '#shared/monitoring/alerting/policy-store.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { RULE_BITS } from '#shared/monitoring/checks/rule-bits.ts'
import type { RunFlag, RunRule, Run as StoredRun } from '#shared/monitoring/rules/run.ts'
import { listRuns } from '#shared/monitoring/rules/run-store.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { Exact } from '../../shell/basics.tsx'
import type { LaneRun } from './lanes.tsx'

export interface WatchedRuns {
  rule: RunRule
  runs: readonly StoredRun[]
  limit: Micros
}

/** Maximum runs in the lanes, and in the list of flagged runs. */
const MAX_LANES = 40
const MAX_FLAGGED = 8

/** @returns null if the runs of the check have no rules */
export async function loadWatched(
  db: Knex,
  { id, ruleBits = 0, graceSeconds }: Pick<Check, 'id' | 'ruleBits' | 'graceSeconds'>,
): Promise<WatchedRuns | null> {
  if ((ruleBits & RULE_BITS.runs) === 0) return null
  const [{ run: rule }, runs] = await Promise.all([findRules(db, id), listRuns(db, id, null, MAX_LANES)])
  return rule && { rule, runs, limit: microsOfSeconds(rule.max ?? graceSeconds) }
}

/** Omits runs without a start, and returns the oldest first. */
export function lanesOfWatched({ runs }: WatchedRuns, now: Micros): LaneRun[] {
  return runs
    .flatMap((run) => {
      const { startedAt, finishedAt, outcome, deadline, n } = run
      if (startedAt === null) return []
      // Draws an abandoned run up to its deadline.
      const until = outcome === 'open' ? null : (finishedAt ?? Math.min(deadline ?? now, now))
      return [{ from: startedAt, until, isFailed: outcome === 'fail', n, deadline, remarks: remarksOf(run, now) }]
    })
    .toReversed()
}

export function FlaggedRuns({ watched, now }: { watched: WatchedRuns; now: Micros }) {
  const flagged = watched.runs.filter((run) => remarksOf(run, now).length > 0).slice(0, MAX_FLAGGED)
  if (flagged.length === 0) return null
  return (
    <>
      <h3>Flagged runs</h3>
      <ul class="remarks">
        {flagged.map((run) => (
          <li key={run.n}>
            <Exact at={run.startedAt ?? run.finishedAt ?? now} />: {remarksOf(run, now).join(', ')}
            {run.source !== '' && ` (${run.source})`}
          </li>
        ))}
      </ul>
    </>
  )
}

function remarksOf({ flags, outcome, deadline }: StoredRun, now: Micros): string[] {
  const isOverrun = outcome === 'open' && deadline !== null && deadline < now
  const all = new Set<RunFlag>([...flags, ...(isOverrun ? (['OVERRUN'] as const) : [])])
  return [...[...all].map((flag) => FLAGS[flag]), ...(outcome === 'abandoned' ? ['given up'] : [])]
}

const FLAGS: Readonly<Record<RunFlag, string>> = {
  TOO_SHORT: 'too short',
  TOO_OFTEN: 'too soon after the one before',
  OUTSIDE_SCHEDULE: 'outside of its schedule',
  OVERLAP: 'began while another one ran',
  SLOW: 'much slower than usual',
  OVERRUN: 'not done in time',
  UNKNOWN: 'its end fell into a time in which pings could not be received',
}
