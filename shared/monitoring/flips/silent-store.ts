/**
 * Reason why a change that is history only has no notification (docs/spec/alerting.md#decisions), as SQL over `from_status` and `to_status`: such a
 * change is decided on where it is stored.
 */
const SILENT_REASON = `
  CASE WHEN to_status = 'paused' THEN 'PAUSED' WHEN to_status = 'new' THEN 'RESUMED'
       WHEN from_status = 'paused' THEN 'WAS_PAUSED' ELSE 'FIRST_SUCCESS' END`

/** Keeps the decision on those rows of `flipped` that nobody is told of, so that "Why?" has an answer for each flip. */
export const DECIDE_SILENT = `
  INSERT INTO alert_decisions (check_id, flip_id, at, outcome, reason)
  SELECT check_id, id, at, 'none', ${SILENT_REASON} FROM flipped WHERE processed_at IS NOT NULL`
