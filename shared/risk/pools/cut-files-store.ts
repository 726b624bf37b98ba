import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/** A reader has one piece in memory. */
const PIECE_BYTES = 262_144

/** An existing file stays. */
export async function saveCutFile(tx: Knex, cutId: string, name: string, bytes: Buffer): Promise<void> {
  for (let n = 0; n * PIECE_BYTES < bytes.length; n++) {
    const piece = bytes.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES)
    await execute(
      tx,
      'INSERT INTO pool_files (cut_id, name, n, length, piece) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      [cutId, name, n, bytes.length, piece],
    )
  }
}

/** Undefined when the file does not exist yet. */
export async function cutFileLength(db: Knex, cutId: string, name: string): Promise<number | undefined> {
  const [row] = await query<{ length: number }>(
    db,
    'SELECT length FROM pool_files WHERE cut_id = ? AND name = ? AND n = 0',
    [cutId, name],
  )
  return row?.length
}

export async function* readCutFile(db: Knex, cutId: string, name: string): AsyncGenerator<Buffer> {
  for (let n = 0; ; n++) {
    const [row] = await query<{ piece: Buffer }>(
      db,
      'SELECT piece FROM pool_files WHERE cut_id = ? AND name = ? AND n = ?',
      [cutId, name, n],
    )
    if (!row) return
    yield row.piece
  }
}

export interface EligibilityRun {
  id: string
  cutId: string
  rules: string[]
}

export async function insertRun(tx: Knex, run: EligibilityRun & { results: Uint8Array }): Promise<void> {
  await execute(tx, 'INSERT INTO eligibility_runs (id, cut_id, rules, results) VALUES (?, ?, ?, ?)', [
    run.id,
    run.cutId,
    run.rules,
    Buffer.from(run.results),
  ])
}

const RUN_COLUMNS = columns<EligibilityRun & { poolId: string; size: number }>()(`
  r.id, r.cut_id, r.rules, c.pool_id, c.size`)

export async function findRun(
  db: Knex,
  owner: Owner,
  id: string,
): Promise<(EligibilityRun & { poolId: string; size: number }) | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${RUN_COLUMNS}
     FROM eligibility_runs r JOIN pool_cuts c ON c.id = r.cut_id JOIN pools p ON p.id = c.pool_id
     WHERE r.id = ? AND p.organisation_id = ? AND p.env = ?`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

/** One byte for each rule. */
export async function readResults(
  db: Knex,
  { id, rules }: EligibilityRun,
  from: number,
  count: number,
): Promise<Buffer> {
  const [row] = await query<{ part: Buffer }>(
    db,
    'SELECT substring(results FROM ?::int FOR ?::int) AS part FROM eligibility_runs WHERE id = ?',
    [from * rules.length + 1, count * rules.length, id],
  )
  return row?.part ?? Buffer.alloc(0)
}
