import type { Knex } from 'knex'
import { hasEnded, type Import } from '../colending/imports/import.ts'
import { listErrors } from '../colending/imports/row-store.ts'
import { errorView } from '../colending/imports/view.ts'
import { csvLine } from '../evidence/csv.ts'

/** All errors of an import: there are ten thousand at most, and those of the last row. */
const ALL_ERRORS = 20_000

/** The errors of an import as RFC 4180; none while a worker is at it. */
export async function exportImportErrors(db: Knex, found: Import): Promise<string> {
  const page = { after: null, limit: ALL_ERRORS, isSkipped: false }
  const errors = hasEnded(found.state) ? await listErrors(db, found.id, page) : []
  const lines = errors.map(errorView).map(({ line, column, code, message }) => csvLine([line, column, code, message]))
  return [csvLine(['line', 'column', 'code', 'message']), ...lines, ''].join('\r\n')
}
