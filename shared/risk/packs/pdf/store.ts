import type { Knex } from 'knex'
import type { ApiEnv } from '../../../environment.ts'
import { columns, execute, query, typed } from '../../../platform/database/sql.ts'
import type { PackState } from '../store.ts'

export interface PackSource {
  state: PackState
  /** null unless READY */
  body: string | null
  /** null unless READY */
  evidence: string | null
  /** null if not measured on the day of the pack */
  dilution: string | null
  /** null for packs of earlier releases */
  borrower: string | null
}

export interface StoredPdf {
  bytes: Buffer
  sha256: Buffer
  /** of the statement that contains `sha256` */
  txId: Buffer
}

const PACK_SOURCE_COLUMNS = columns<PackSource>()(
  'p.state, p.body, e.body AS evidence, j.body AS dilution, p.borrower_gstin AS borrower',
)

export async function findPackSource(
  db: Knex,
  owner: { organisationId: number; env: ApiEnv },
  id: string,
): Promise<PackSource | undefined> {
  const rows = await query(
    db,
    typed`SELECT ${PACK_SOURCE_COLUMNS} FROM packs p LEFT JOIN pack_evidence e ON e.pack_id = p.id
     LEFT JOIN evidence_jobs j ON j.organisation_id = p.organisation_id AND j.env = p.env AND j.state = 'DONE'
       AND j.kind = 'dilution.answer' AND j.job_key = p.pair_job_key
     WHERE p.id = ? AND p.organisation_id = ? AND p.env = ?`,
    [id, owner.organisationId, owner.env],
  )
  return rows[0]
}

const STORED_PDF_COLUMNS = columns<StoredPdf>({ bytes: 'bytes', sha256: 'sha256', txId: 'tx_id' })

/** The caller has checked the owner. */
export async function findPdf(db: Knex, packId: string): Promise<StoredPdf | undefined> {
  const rows = await query(db, typed`SELECT ${STORED_PDF_COLUMNS} FROM pack_pdfs WHERE pack_id = ?`, [packId])
  return rows[0]
}

export async function lockPdf(tx: Knex.Transaction, packId: string): Promise<StoredPdf | undefined> {
  await execute(tx, 'SELECT id FROM packs WHERE id = ? FOR NO KEY UPDATE', [packId])
  return await findPdf(tx, packId)
}

export async function insertPdf(
  tx: Knex.Transaction,
  packId: string,
  pdf: StoredPdf & { statement: string },
): Promise<void> {
  await execute(tx, 'INSERT INTO pack_pdfs (pack_id, sha256, bytes, statement, tx_id) VALUES (?, ?, ?, ?, ?)', [
    packId,
    pdf.sha256,
    pdf.bytes,
    pdf.statement,
    pdf.txId,
  ])
}

/** JSON text; undefined if we composed no such file. */
export async function findPdfStatement(db: Knex, sha256: Buffer): Promise<string | undefined> {
  const rows = await query<{ statement: string }>(db, 'SELECT statement FROM pack_pdfs WHERE sha256 = ? LIMIT 1', [
    sha256,
  ])
  return rows[0]?.statement
}
