import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { OutboxRow } from '../../platform/broker/outbox-store.ts'
import { execute, query } from '../../platform/database/sql.ts'
import type { NewTelling, Telling } from './incident.ts'
import { insertTellings } from './telling-store.ts'

/** Single messages beside a digest that one integration has to send at a time (alerting 1): the next ones wait for their end. */
const MOST_AT_A_TIME = 500

/** Only one alerter counts what an integration has to send; what another one leaves is made a second later. */
const LOCK = 5_217_006

/** A message about an outage of which there are many. */
export interface WaitingTelling {
  /** uuid */
  incidentId: string
  telling: Pick<NewTelling, 'channelId' | 'what' | 'entry' | 'detail'>
}

/** Puts single messages in the queue of their integration. */
export async function queueTellings(tx: Knex, tellings: readonly WaitingTelling[]): Promise<void> {
  if (tellings.length === 0) return
  const rows = tellings.map(({ incidentId, telling: { channelId, what, entry, detail } }) => {
    return { id: randomUUID(), channelId, incidentId, what, entry, detail }
  })
  await execute(
    tx,
    `INSERT INTO waiting_tellings (id, channel_id, incident_id, what, entry, detail)
     SELECT id, "channelId", "incidentId", what, entry, detail
     FROM json_to_recordset(?::json) AS t(id uuid, "channelId" bigint, "incidentId" uuid, what text, entry integer,
       detail jsonb) ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  )
}

/** Locks and reads what incidents have still to tell, as messages that nobody has begun to send. */
export async function lockWaitingTellings(
  tx: Knex,
  incidentIds: readonly string[],
): Promise<(Telling & { incidentId: string })[]> {
  if (incidentIds.length === 0) return []
  return await query(
    tx,
    `SELECT id, incident_id AS "incidentId", channel_id AS "channelId", what, 'down' AS status,
            (detail->>'step')::integer AS step, 'pending' AS state, 0 AS attempts, false AS "isReplaced"
     FROM waiting_tellings WHERE incident_id = ANY(?::uuid[]) AND NOT is_made ORDER BY n FOR UPDATE`,
    [incidentIds],
  )
}

/** Whether an integration may get some of its messages, because earlier ones have ended. */
export async function isWaitingTellingDue(db: Knex): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT 1 FROM waiting_tellings w WHERE is_made AND ${HAS_ENDED}
     UNION ALL
     SELECT 1 FROM (
       SELECT FROM waiting_tellings GROUP BY channel_id
       HAVING bool_or(NOT is_made) AND count(*) FILTER (WHERE is_made) < ${MOST_AT_A_TIME}) AS roomy
     LIMIT 1`,
  )
  return rows.length > 0
}

const HAS_ENDED = `NOT EXISTS (SELECT 1 FROM notifications n WHERE n.id = w.id AND n.state = 'pending')`

/**
 * Makes the next messages of integrations, as earlier ones end. What is over or acknowledged by now is not told.
 * @returns their messages, to be published after the commit
 */
export async function makeWaitingTellings(tx: Knex): Promise<OutboxRow[]> {
  const [found] = await query<{ mine: boolean }>(
    tx,
    'SELECT CASE WHEN EXISTS (SELECT FROM waiting_tellings) THEN pg_try_advisory_xact_lock(?) ELSE false END AS mine',
    [LOCK],
  )
  if (!found?.mine) return []
  await execute(tx, `DELETE FROM waiting_tellings w WHERE is_made AND ${HAS_ENDED}`, [])
  // The incidents are locked first, as by whoever decides about one: what is in other hands is left.
  const next = await query<NextTelling>(
    tx,
    `SELECT next.* FROM (
       SELECT channel_id, ${MOST_AT_A_TIME} - count(*) FILTER (WHERE is_made) AS room FROM waiting_tellings
       GROUP BY channel_id HAVING bool_or(NOT is_made)) AS queue
     CROSS JOIN LATERAL (
       SELECT w.id, w.channel_id AS "channelId", w.incident_id AS "incidentId", w.what, w.entry, w.detail,
              i.check_id AS "checkId", i.resolved_at IS NULL AND i.state <> 'acknowledged' AS "isNews"
       FROM waiting_tellings w JOIN incidents i ON i.id = w.incident_id
       WHERE w.channel_id = queue.channel_id AND NOT w.is_made ORDER BY w.n LIMIT greatest(0, queue.room)
       FOR KEY SHARE OF i SKIP LOCKED FOR UPDATE OF w SKIP LOCKED) AS next`,
  )
  const idsOf = (isNews: boolean) => next.filter((one) => one.isNews === isNews).map(({ id }) => id)
  await execute(tx, 'DELETE FROM waiting_tellings WHERE id = ANY(?::uuid[])', [idsOf(false)])
  await execute(tx, 'UPDATE waiting_tellings SET is_made = true WHERE id = ANY(?::uuid[])', [idsOf(true)])
  return await insertTellings(
    tx,
    next.filter(({ isNews }) => isNews).map(({ isNews, ...telling }) => ({ ...telling, status: 'down', flipId: null })),
  )
}

type NextTelling = Pick<NewTelling, 'channelId' | 'what' | 'entry' | 'detail'> & {
  id: string
  incidentId: string
  checkId: number
  isNews: boolean
}
