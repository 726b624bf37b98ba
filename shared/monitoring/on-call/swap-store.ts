import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { SwapFields, SwapState } from './read-swap.ts'

export interface StoredSwap extends SwapFields {
  id: number
  uuid: string
  scheduleId: number
  scheduleUuid: string
  taker: string | null
  state: SwapState
}

interface Row extends Omit<StoredSwap, 'time' | 'back'> {
  from: Micros
  until: Micros
  backFrom: Micros | null
  backUntil: Micros | null
}

const COLUMNS = columns<Row>()(`
  w.id, w.uuid, w.schedule_id, s.uuid AS scheduleUuid, w.requester, w.offered_to, w.taker, w.note, w.state,
  ${microsOf('w.starts_at')} AS from, ${microsOf('w.ends_at')} AS until, ${microsOf('w.back_starts_at')} AS backFrom,
  ${microsOf('w.back_ends_at')} AS backUntil`)
const TABLES = 'swaps w JOIN schedules s ON s.id = w.schedule_id'

function swapOf({ from, until, backFrom, backUntil, ...row }: Row): StoredSwap {
  const back = backFrom === null || backUntil === null ? null : { from: backFrom, until: backUntil }
  return { ...row, time: { from, until }, back }
}

/** Newest first. */
export async function swapsOf(db: Knex, scheduleId: number): Promise<StoredSwap[]> {
  const sql = typed`SELECT ${COLUMNS} FROM ${TABLES} WHERE w.schedule_id = ? ORDER BY w.id DESC`
  return (await query(db, sql, [scheduleId])).map(swapOf)
}

export async function findSwap(db: Knex, projectId: number, uuid: string): Promise<StoredSwap | null> {
  const sql = typed`SELECT ${COLUMNS} FROM ${TABLES} WHERE s.project_id = ? AND w.uuid = ?::uuid`
  const [row] = await query(db, sql, [projectId, uuid])
  return row ? swapOf(row) : null
}

/** The caller has locked the schedule. Returns the id. */
export async function insertSwap(tx: Knex, scheduleId: number, swap: SwapFields): Promise<string> {
  const at = timestampOf('?::bigint')
  const { requester, offeredTo, time, back, note } = swap
  const [row] = await query<{ uuid: string }>(
    tx,
    `INSERT INTO swaps (schedule_id, requester, offered_to, starts_at, ends_at, back_starts_at, back_ends_at, note)
     VALUES (?, ?, ?, ${at}, ${at}, ${at}, ${at}, ?) RETURNING uuid`,
    [scheduleId, requester, offeredTo, time.from, time.until, back?.from ?? null, back?.until ?? null, note],
  )
  if (!row) throw new Error('an inserted row is returned')
  return row.uuid
}

export async function saveSwapState(tx: Knex, id: number, state: SwapState, taker: string | null): Promise<void> {
  await execute(tx, 'UPDATE swaps SET state = ?, taker = ? WHERE id = ?', [state, taker, id])
}
