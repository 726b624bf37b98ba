import { timestampOf } from '../../platform/database/instants.ts'
import { sparseColumn } from '../../platform/database/parameters.ts'
import type { Prepared, RunPrepared } from '../../platform/database/prepared.ts'
import { columns, typed } from '../../platform/database/sql.ts'
import type { CheckFilters, CheckSchedule, CheckState } from './check.ts'
import { settingColumns, timesColumns } from './columns-store.ts'
import { ACCEPTANCE_FIELDS, KEYWORD_FIELDS } from './fields.ts'

/** The fields of a check that the state machine needs, read under a lock. */
export interface LockedCheck extends CheckSchedule, CheckFilters, Omit<CheckState, 'expectedFrom'> {
  id: number
  uuid: string
}

/** Locks in the order of ids, so that two writers cannot deadlock. Omits deleted checks. */
export async function lockChecks(run: RunPrepared, ids: readonly number[]): Promise<LockedCheck[]> {
  return await run(LOCK_CHECKS, [ids])
}

const { expectedFrom: _, ...times } = timesColumns('checks')

const LOCKED_CHECK_COLUMNS = columns<LockedCheck>({
  id: 'checks.id',
  uuid: 'checks.uuid',
  ...times,
  ...settingColumns({ ...ACCEPTANCE_FIELDS, ...KEYWORD_FIELDS }, 'checks'),
  filterRules: 'checks.filter_rules',
})

const LOCK_CHECKS = {
  name: 'lock-checks',
  text: typed`
    SELECT ${LOCKED_CHECK_COLUMNS}
    FROM checks WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE`,
} satisfies Prepared

/** Writes at the latest with the commit. The caller must have locked the checks. */
export function saveStates(run: RunPrepared, checks: readonly LockedCheck[]): void {
  if (checks.length > 0) run.later(SAVE_STATES, stateValues(checks))
}

/**
 * Saves checks that were not locked, if unchanged since `xids`, the transactions that wrote them. `checks` are in the
 * order of ids, in which locks are taken. If the returned number is less than all, the transaction must not commit.
 */
export async function saveUntouched(
  run: RunPrepared,
  checks: readonly LockedCheck[],
  xids: readonly number[],
): Promise<number> {
  // The system column contains the lower half of the number.
  return await run.count(SAVE_UNTOUCHED, [...stateValues(checks), xids.map((xid) => xid % 2 ** 32)])
}

function stateValues(checks: readonly LockedCheck[]): (readonly (string | number | null)[] | null)[] {
  return [
    checks.map((check) => check.id),
    checks.map((check) => check.status),
    checks.map((check) => check.nPings),
    checks.map((check) => check.lastPing),
    sparseColumn(checks.map((check) => check.lastStart)),
    sparseColumn(checks.map((check) => check.lastStartRid)),
    sparseColumn(checks.map((check) => check.lastDuration)),
    checks.map((check) => check.alertAfter),
  ]
}

const SET_STATE = `
    UPDATE checks SET status = s.status, n_pings = s.n_pings, last_ping = ${timestampOf('s.last_ping')},
           last_start = ${timestampOf('s.last_start')}, last_start_rid = s.last_start_rid,
           last_duration_us = s.last_duration, alert_after = ${timestampOf('s.alert_after')}`
const STATE_TYPES =
  '$1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], $7::bigint[], $8::bigint[]'
const STATE = 'id, status, n_pings, last_ping, last_start, last_start_rid, last_duration, alert_after'

const SAVE_STATES: Prepared = {
  name: 'save-states',
  text: `${SET_STATE} FROM unnest(${STATE_TYPES}) AS s(${STATE}) WHERE checks.id = s.id`,
}

const SAVE_UNTOUCHED: Prepared = {
  name: 'save-untouched',
  text: `${SET_STATE} FROM unnest(${STATE_TYPES}, $9::xid[]) AS s(${STATE}, xid)
    WHERE checks.id = s.id AND checks.xmin = s.xid`,
}
