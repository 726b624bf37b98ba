import type { Knex } from 'knex'
import { timestampOf } from '../../platform/database/instants.ts'
import { execute } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { Decision } from './incident.ts'

export interface StoredDecision extends Decision {
  checkId: number
  flipId: number | null
  incidentId: string | null
  at: Micros
}

export async function insertDecisions(tx: Knex, decisions: readonly StoredDecision[]): Promise<void> {
  if (decisions.length === 0) return
  await execute(
    tx,
    `INSERT INTO alert_decisions (check_id, flip_id, incident_id, at, outcome, reason, detail, until, channels, people)
     SELECT "checkId", "flipId", "incidentId", ${timestampOf('at')}, outcome, reason, detail, ${timestampOf('until')},
            channels, coalesce(people, '[]')
     FROM json_to_recordset(?::json) AS t("checkId" bigint, "flipId" bigint, "incidentId" uuid, at bigint,
       outcome text, reason text, detail jsonb, until bigint, channels jsonb, people jsonb)`,
    [JSON.stringify(decisions)],
  )
}

export async function pruneDecisions(db: Knex, days: number, limit: number): Promise<number> {
  return await execute(
    db,
    `DELETE FROM alert_decisions WHERE id IN (
       SELECT id FROM alert_decisions WHERE at < now() - make_interval(days => ?) ORDER BY at LIMIT ?)`,
    [days, limit],
  )
}
