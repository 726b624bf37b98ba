import { z } from 'zod'
import { anchored } from '../../evidence/values.ts'
import {
  errorMessage,
  FAILURE_CODES,
  failureMessage,
  type Import,
  type ListedLine,
  OBSERVATIONS,
  ROW_CODES,
  SKIP_REASONS,
} from './import.ts'

export const ImportErrorSchema = z
  .object({
    line: z.int(),
    column: z.string().nullable(),
    code: z.enum(ROW_CODES),
    message: z.string(),
  })
  .meta({ id: 'ImportError' })

const RecordSchema = anchored({ importRecordId: z.uuid(), rows: z.int(), root: z.string() }).meta({
  id: 'ImportRecord',
})

export const ImportSchema = z
  .object({
    importId: z.uuid(),
    status: z.enum(['RECEIVED', 'RUNNING', 'COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED']),
    style: z.enum(['csv', 'segment-tlv', 'fixed-record']),
    mapping: z.string().nullable(),
    sha256: z.string().meta({ description: 'of the file, hex' }),
    bytes: z.int(),
    receivedAt: z.string().meta({ format: 'date-time' }),
    counts: z.object({
      records: z.int(),
      accepted: z.int(),
      rejected: z.int(),
      skipped: z.int(),
      errors: z.int(),
      persons: z.int().meta({ description: 'segments of persons in a bureau file, which are counted and dropped' }),
    }),
    observations: z
      .partialRecord(z.enum(OBSERVATIONS), z.int())
      .meta({ description: 'number of rows with each observation' }),
    unmapped: z.array(z.string()).meta({ description: 'names of columns that are not used, personal ones first' }),
    skipped: z
      .array(z.object({ line: z.int(), reason: z.enum(SKIP_REASONS) }))
      .meta({ description: 'the first records that are not loans' }),
    errors: z.array(ImportErrorSchema).meta({ description: 'the first errors; `/errors` has all' }),
    failure: z
      .object({
        line: z.int(),
        code: z.enum(FAILURE_CODES),
        message: z.string(),
        header: z
          .object({ mapping: z.string(), missing: z.array(z.string()), repeated: z.array(z.string()) })
          .optional()
          .meta({
            description: 'for FORMAT_UNKNOWN: the columns of the closest mapping that are missing or duplicate',
          }),
      })
      .nullable(),
    record: RecordSchema.nullable().meta({ description: 'the anchored object with the root over the rows' }),
  })
  .meta({ id: 'Import' })
export type ImportView = z.output<typeof ImportSchema>

export const ListedImportSchema = ImportSchema.omit({ errors: true, skipped: true }).meta({ id: 'ListedImport' })

export const ERRORS_SHOWN = 20

export function errorView({ line, column, code }: ListedLine): ImportView['errors'][number] {
  // Skipped records are listed separately.
  const rowCode = code as ImportView['errors'][number]['code']
  return { line, column, code: rowCode, message: errorMessage({ column, code: rowCode }) }
}

export function listedImportView(found: Import): Omit<ImportView, 'errors' | 'skipped'> {
  const { records, accepted, rejected, skipped, errors, persons, observations, unmapped } = found.progress
  return {
    importId: found.id,
    status: found.state,
    style: found.style,
    mapping: found.mapping ?? found.requestedMapping,
    sha256: found.sha256.toString('hex'),
    bytes: found.bytes,
    receivedAt: found.receivedAt.toISOString(),
    counts: { records, accepted, rejected, skipped, errors, persons },
    observations,
    unmapped,
    failure: found.failure && { ...found.failure, message: failureMessage(found.failure) },
    record: found.record === null ? null : JSON.parse(found.record),
  }
}

export function importView(
  found: Import,
  lists: { errors: readonly ListedLine[]; skipped: readonly ListedLine[] },
): ImportView {
  return {
    ...listedImportView(found),
    skipped: lists.skipped.map(({ line, code }) => ({ line, reason: code as ImportView['skipped'][number]['reason'] })),
    errors: lists.errors.map(errorView),
  }
}
