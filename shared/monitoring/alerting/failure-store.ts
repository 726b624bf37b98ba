import type { Prepared, RunPrepared } from '../../platform/database/prepared.ts'

/** The caller holds the locks of the checks; the sweeper starts the alerter within a second. */
export function makeFailuresCount(run: RunPrepared, checkIds: readonly number[]): void {
  if (checkIds.length > 0) run.later(MAKE_DUE, [checkIds])
}

const MAKE_DUE: Prepared = {
  name: 'make-failures-count',
  text: `UPDATE incidents SET next_at = now() WHERE check_id = ANY($1::bigint[]) AND state = 'waiting'`,
}
