import type { Knex } from 'knex'
import { shardOf } from '../../contracts/ping-batch.ts'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { NextOccurrence } from '../checks/check.ts'
import { timesColumns } from '../checks/columns-store.ts'
import { hasRules } from '../checks/rule-bits.ts'
import type { CheckTimes } from '../checks/status.ts'
import type { RuleState } from '../rules/rule-state.ts'
import { findFacts, storeFacts } from '../rules/rule-state-store.ts'
import { type Evaluation, evaluateAbsence } from './evaluate-absence.ts'
import { gapsSince, listenerOf } from './gap-store.ts'
import type { Gap } from './unavailable.ts'

export interface Doubts {
  /** no gap or refusal is later, so checks expected later need no evaluation; microseconds */
  until: Micros
  /** found by this sweep; the stored gaps may not contain them yet */
  gaps: readonly Gap[]
  shards: number
  next: NextOccurrence
}

type DeadlineExtension = Extract<Evaluation, { kind: 'deadline_extended' }> & { checkId: number; deadline: Micros }

const RECHECK_AFTER = '30 seconds'

/**
 * Extends the deadline where a ping may be lost (docs/spec/alerting.md#overdue-evaluation). `ids` is a PostgreSQL
 * array whose rows of check_deadlines the caller has locked. Returns ids, as an array, of checks to take down or
 * whose next check time must follow their deadline.
 */
export async function settleDoubtful(
  tx: Knex,
  ids: string,
  before: Micros,
  doubts: Doubts,
): Promise<{ ids: string; extended: number[]; left: number }> {
  const rows = await query(tx, CANDIDATES, [ids, before, doubts.until])
  const doubtful = rows.filter(({ isDoubtful }) => isDoubtful)
  if (doubtful.length === 0) return { ids: arrayOf(rows), extended: [], left: 0 }
  const ruleState = await findFacts(
    tx,
    doubtful.filter(hasRules).map(({ id }) => id),
  )
  const evaluations = await evaluateAll(tx, doubtful, ruleState, doubts)
  const extensions = evaluations.filter(
    (evaluation): evaluation is DeadlineExtension => evaluation.kind === 'deadline_extended',
  )
  const left = evaluations.filter(({ kind }) => kind === 'leave').map(({ checkId }) => checkId)
  await storeExtensions(tx, extensions)
  const extendedIds = new Set(extensions.map(({ checkId }) => checkId))
  await storeFacts(
    tx,
    [...ruleState.values()].filter(({ checkId }) => extendedIds.has(checkId)),
  )
  await execute(
    tx,
    `UPDATE check_deadlines SET next_check_at = now() + interval '${RECHECK_AFTER}' WHERE check_id = ANY(?::bigint[])`,
    [left],
  )
  const settled = new Set([...extensions.map(({ checkId }) => checkId), ...left])
  return {
    ids: arrayOf(rows.filter(({ id }) => !settled.has(id))),
    extended: extensions.map(({ checkId }) => checkId),
    left: left.length,
  }
}

type Candidate = CheckTimes & { id: number; isDoubtful: boolean; scheme: string | null }

function arrayOf(rows: readonly { id: number }[]): string {
  return `{${rows.map(({ id }) => id).join(',')}}`
}

const REFUSAL_COLUMNS = columns<{ checkId: number; at: Micros }>({ checkId: 'check_id', at: microsOf('last_at') })

async function evaluateAll(
  tx: Knex,
  checks: readonly Candidate[],
  ruleState: ReadonlyMap<number, RuleState>,
  { gaps: found, shards, next }: Doubts,
): Promise<(Evaluation & { checkId: number; deadline: Micros })[]> {
  const earliest = Math.min(
    ...checks.map((check) => Math.min(check.lastPing ?? 0, check.lastStart ?? check.lastPing ?? 0)),
  )
  const stored = await gapsSince(tx, earliest)
  const isFound = new Set(found.map(keyOf))
  const gaps = [...found, ...stored.filter((gap) => !isFound.has(keyOf(gap)))]
  const refusals = Map.groupBy(
    await query(
      tx,
      typed`SELECT ${REFUSAL_COLUMNS} FROM refused_pings
       WHERE check_id = ANY(?::bigint[]) AND reason <> 'secret' ORDER BY last_at`,
      [checks.map(({ id }) => id)],
    ),
    ({ checkId }) => checkId,
  )
  return checks.map((check) => {
    const deadline = check.alertAfter ?? 0
    const facts = ruleState.get(check.id)
    const evidence = {
      listener: listenerOf(check.scheme),
      shard: 1n << BigInt(shardOf(check.id, shards)),
      gaps,
      refusals: (refusals.get(check.id) ?? []).map(({ at }) => at),
      ...(facts && { ruleState: facts }),
    }
    return { ...evaluateAbsence(check, deadline, evidence, next), checkId: check.id, deadline }
  })
}

function keyOf({ listener, from, shards, kind }: Gap): string {
  return `${listener} ${from} ${shards} ${kind}`
}

/** The missing ping was expected from this instant on. */
const EXPECTED_FROM = `least(last_start, alert_after - grace_seconds * interval '1 second',
  CASE WHEN kind = 'simple' THEN coalesce(last_ping, expected_from) + timeout_seconds * interval '0.5 second' END)`

const DUE_COLUMNS: Record<keyof Candidate, string> = {
  id: 'id',
  isDoubtful: `rule_bits & 3 <> 0 OR ${EXPECTED_FROM} < (SELECT doubt FROM requested)`,
  ...timesColumns('due'),
  scheme: '(SELECT scheme FROM pings WHERE pings.check_id = due.id ORDER BY n DESC LIMIT 1)',
}

/** The instants are not needed. The members have the order of DUE_COLUMNS, which UNION ALL requires. */
const OTHER_COLUMNS: Record<keyof Candidate, string> = {
  ...DUE_COLUMNS,
  ...timesColumns('checks'),
  isDoubtful: 'false',
  lastPing: 'NULL',
  lastStart: 'NULL',
  lastStartRid: 'NULL',
  lastDuration: 'NULL',
  alertAfter: 'NULL',
  deadlineExtendedAt: 'NULL',
  expectedFrom: 'NULL',
  scheme: 'NULL',
}

/** Skips checks that a ping has locked. Those that are not overdue stay unlocked, for their next check time. */
const CANDIDATES = typed`
  WITH requested AS (SELECT ?::bigint[] AS ids, ${timestampOf('?::bigint')} AS before, ${timestampOf('?::bigint')} AS doubt),
  due AS (
    SELECT * FROM checks
    WHERE id = ANY((SELECT ids FROM requested)::bigint[]) AND alert_after < (SELECT before FROM requested) AND status <> 'down'
    FOR NO KEY UPDATE SKIP LOCKED)
  SELECT ${columns<Candidate>(DUE_COLUMNS)} FROM due
  UNION ALL
  SELECT ${columns<Candidate>(OTHER_COLUMNS)}
  FROM checks WHERE id = ANY((SELECT ids FROM requested)::bigint[])
    AND (status = 'down' OR alert_after IS NULL OR alert_after >= (SELECT before FROM requested))`

async function storeExtensions(tx: Knex, extensions: readonly DeadlineExtension[]): Promise<void> {
  if (extensions.length === 0) return
  await execute(tx, EXTEND_DEADLINE, [JSON.stringify(extensions)])
}

const EXTEND_DEADLINE = `
  WITH extended AS (
    SELECT "checkId" AS check_id, ${timestampOf('at')} AS at, ${timestampOf('"alertAfter"')} AS alert_after,
           "isRun" AS is_run, reason, ${timestampOf('"gapFrom"')} AS gap_from,
           ${timestampOf('"unknownFrom"')} AS unknown_from, ${timestampOf('deadline')} AS deadline
    FROM jsonb_to_recordset(?::jsonb) AS t("checkId" bigint, at bigint, "alertAfter" bigint, "isRun" boolean,
      reason text, "gapFrom" bigint, "unknownFrom" bigint, deadline bigint)),
  moved AS (
    UPDATE checks SET deadline_extended_at = extended.at, alert_after = extended.alert_after,
           last_start = CASE WHEN is_run THEN NULL ELSE last_start END,
           last_start_rid = CASE WHEN is_run THEN NULL ELSE last_start_rid END
    FROM extended WHERE checks.id = extended.check_id RETURNING checks.id),
  rescheduled AS (
    UPDATE check_deadlines SET next_check_at = extended.alert_after FROM extended
    WHERE check_deadlines.check_id = extended.check_id AND extended.alert_after IS NOT NULL RETURNING 1),
  unscheduled AS (
    DELETE FROM check_deadlines WHERE check_id IN (SELECT check_id FROM extended WHERE alert_after IS NULL) RETURNING 1),
  known AS (
    INSERT INTO unknown_periods (check_id, gap_from, gap_until, from_at, expected_at, next_at, reason)
    SELECT check_id, gap_from, at, unknown_from, deadline, alert_after, reason FROM extended ORDER BY check_id
    RETURNING 1)
  INSERT INTO alert_decisions (check_id, at, outcome, reason, detail, until)
  SELECT check_id, now(), 'deadline_extended', reason, jsonb_build_object('from', gap_from, 'until', at), alert_after
  FROM extended ORDER BY check_id`

/** Ends the unknown time of checks that were pinged, went down or were paused. */
export async function endUnknowns(db: Knex): Promise<number> {
  return await execute(
    db,
    `UPDATE unknown_periods SET until_at = greatest(unknown_periods.from_at, CASE WHEN checks.last_ping > unknown_periods.from_at
       THEN checks.last_ping ELSE now() END)
     FROM checks WHERE checks.id = unknown_periods.check_id AND unknown_periods.until_at IS NULL
       AND (checks.last_ping > unknown_periods.from_at OR checks.status IN ('down', 'paused'))`,
  )
}
