import { z } from 'zod'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import {
  BUREAU_STYLES,
  type FileStyle,
  hasEnded,
  type Import,
  type ImportKind,
} from '#shared/risk/colending/imports/import.ts'
import { findOwnImport, listImports } from '#shared/risk/colending/imports/import-store.ts'
import { ImportRowSchema } from '#shared/risk/colending/imports/row.ts'
import { listErrors, listRows } from '#shared/risk/colending/imports/row-store.ts'
import { rowText } from '#shared/risk/colending/imports/row-text.ts'
import {
  ERRORS_SHOWN,
  errorView,
  ImportErrorSchema,
  ImportSchema,
  importView,
  ListedImportSchema,
  listedImportView,
} from '#shared/risk/colending/imports/view.ts'
import { findFileMapping, MAPPINGS_CLAIM, mappingOfStyle } from '#shared/risk/colending/mappings/registry.ts'
import { exportImportErrors, proveImportRow } from '#shared/risk/operations/imports.ts'
import { Answer, jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import type { IngressDeps } from '../../../deps.ts'
import type { Caller } from '../../../middleware/access-token.ts'
import {
  DEFAULT_PAGE,
  decodeCursor,
  encodeCursor,
  PageQuery,
  paged,
  sealCursor,
  unsealCursor,
} from '../../../paging.ts'
import { problemResponses } from '../../../problem-responses.ts'
import type { Route } from '../../../route.ts'
import { withScope } from '../../access.ts'
import { formParam, idParam } from '../../path-params.ts'
import { read } from '../../risk-route.ts'
import { uploadRoute } from './upload-route.ts'

const tags = ['Co-lending'] as const

interface Kind {
  kind: ImportKind
  folder: '/v1/colending/loan-tapes' | '/v1/colending/bureau-files'
  /** part of operation ids */
  name: 'LoanTape' | 'BureauFile'
  /** part of texts */
  thing: string
}

const TAPES: Kind = { kind: 'TAPE', folder: '/v1/colending/loan-tapes', name: 'LoanTape', thing: 'loan tape' }
const BUREAU: Kind = { kind: 'BUREAU', folder: '/v1/colending/bureau-files', name: 'BureauFile', thing: 'bureau file' }

const importParam = idParam('id of the import')
const rowParam = formParam(/^(?:0|[1-9][0-9]{0,8})$/, 'must be the place of a row, counted from 0', {
  description: 'place of the row, counted from 0',
  example: '0',
})

/** @throws NotFoundError for an unknown import, and equally for one of another organisation */
async function requireImportOf(deps: IngressDeps, caller: Caller, { kind }: Kind, importId: string): Promise<Import> {
  const found = await findOwnImport(deps.db, caller, kind, importId)
  if (!found) throw new NotFoundError('import not found')
  return found
}

function listRoute(of: Kind): Route {
  return read({
    path: of.folder,
    operationId: `list${of.name}s`,
    summary: `List imports of ${of.thing}s, newest first`,
    tags,
    access: withScope('colending:read'),
    params: {},
    query: PageQuery,
    returns: z.object({ imports: z.array(ListedImportSchema), nextCursor: z.string().nullable() }),
    async handle({ caller, query, deps: { db, secrets } }) {
      const limit = query.limit ?? DEFAULT_PAGE
      const before = unsealCursor(query.cursor, secrets)
      const found = await listImports(db, caller, { kind: of.kind, before, limit: limit + 1 })
      const { page, nextCursor } = paged(found, limit, ({ seq }) => sealCursor(seq, secrets))
      return { imports: page.map(listedImportView), nextCursor }
    },
  })
}

function readRoute(of: Kind): Route {
  return read({
    path: `${of.folder}/{importId}`,
    operationId: `read${of.name}`,
    summary: `Get an import of a ${of.thing}: progress, counts, first errors and anchored record`,
    tags,
    access: withScope('colending:read'),
    params: { importId: importParam },
    responses: {
      200: { description: 'The finished import', content: { 'application/json': ImportSchema } },
      202: {
        description: 'In progress: poll again',
        content: { 'application/json': ImportSchema },
        headers: { 'Retry-After': 'seconds' },
      },
      ...problemResponses(400, 401, 403, 404, 429, 503),
    },
    async handle({ caller, params: { importId }, deps }) {
      const found = await requireImportOf(deps, caller, of, importId)
      if (!hasEnded(found.state))
        return jsonAnswer(202, importView(found, { errors: [], skipped: [] }), { 'Retry-After': '1' })
      const [errors, skipped] = await Promise.all([
        listErrors(deps.db, found.id, { after: null, limit: ERRORS_SHOWN, isSkipped: false }),
        listErrors(deps.db, found.id, { after: null, limit: ERRORS_SHOWN, isSkipped: true }),
      ])
      return importView(found, { errors, skipped })
    },
  })
}

function errorsRoute(of: Kind): Route {
  return read({
    path: `${of.folder}/{importId}/errors`,
    operationId: `list${of.name}Errors`,
    summary: 'List the cells and records that could not be read: place and reason, never content',
    tags,
    access: withScope('colending:read'),
    params: { importId: importParam },
    query: PageQuery,
    returns: z.object({ errors: z.array(ImportErrorSchema), nextCursor: z.string().nullable() }),
    async handle({ caller, params: { importId }, query, deps }) {
      const found = await requireImportOf(deps, caller, of, importId)
      const limit = query.limit ?? DEFAULT_PAGE
      const after = decodeCursor(query.cursor, z.tuple([z.int()]))?.[0] ?? null
      const errors = hasEnded(found.state)
        ? await listErrors(deps.db, found.id, { after, limit: limit + 1, isSkipped: false })
        : []
      const { page, nextCursor } = paged(errors, limit, ({ n }) => encodeCursor([n]))
      return { errors: page.map(errorView), nextCursor }
    },
  })
}

function errorsCsvRoute(of: Kind): Route {
  return read({
    path: `${of.folder}/{importId}/errors.csv`,
    operationId: `download${of.name}Errors`,
    summary: 'Get the errors as CSV, without cells that start a formula',
    tags,
    access: withScope('colending:read'),
    params: { importId: importParam },
    responses: {
      200: { description: 'line, column, code, message', content: { 'text/csv': null } },
      ...problemResponses(400, 401, 403, 404, 429, 503),
    },
    async handle({ caller, params: { importId }, deps }) {
      const found = await requireImportOf(deps, caller, of, importId)
      return new Answer(200, await exportImportErrors(deps.db, found), {
        'Content-Type': 'text/csv; charset=utf-8; header=present',
        'Content-Disposition': `attachment; filename="errors-${found.id}.csv"`,
      })
    },
  })
}

function rowsRoute(of: Kind): Route {
  return read({
    path: `${of.folder}/{importId}/rows`,
    operationId: `list${of.name}Rows`,
    summary: 'List the rows of a completed import, in file order',
    description:
      'Row numbers start at 0. `firstIndex` is the number of the first row of the page; `/rows/{n}/proof` expects these numbers.',
    tags,
    access: withScope('colending:read'),
    params: { importId: importParam },
    query: PageQuery,
    returns: z.object({ firstIndex: z.int(), rows: z.array(ImportRowSchema), nextCursor: z.string().nullable() }),
    async handle({ caller, params: { importId }, query, deps }) {
      const found = await requireImportOf(deps, caller, of, importId)
      const limit = query.limit ?? DEFAULT_PAGE
      const from =
        decodeCursor(
          query.cursor,
          z.tuple([
            z
              .int()
              .min(0)
              .max(2 ** 31 - 1),
          ]),
        )?.[0] ?? 0
      const rows = found.record === null ? [] : await listRows(deps.db, found.id, { from, limit: limit + 1 })
      const { page, nextCursor } = paged(rows, limit, ({ n }) => encodeCursor([n + 1]))
      const { unmapped } = found.progress
      return { firstIndex: from, rows: page.map((row) => JSON.parse(rowText(row, unmapped))), nextCursor }
    },
  })
}

const ProofSchema = z
  .object({
    row: ImportRowSchema,
    inclusion: z.object({ index: z.int(), size: z.int(), path: z.array(z.string()) }),
    record: ImportSchema.shape.record.unwrap(),
  })
  .meta({ id: 'ImportRowProof' })

function proofRoute(of: Kind): Route {
  return read({
    path: `${of.folder}/{importId}/rows/{n}/proof`,
    operationId: `prove${of.name}Row`,
    summary: 'Get a row with its path to the anchored root',
    description:
      'RFC 6962: the data of a leaf is the SHA-256 of the row’s canonical JSON (RFC 8785), 32 bytes. `npm run -s verify -- FILE --proof …` verifies the answer offline.',
    tags,
    access: withScope('colending:read'),
    params: { importId: importParam, n: rowParam },
    returns: ProofSchema,
    async handle({ caller, params: { importId, n }, deps }) {
      const found = await requireImportOf(deps, caller, of, importId)
      const proof = await proveImportRow(deps.db, found, Number(n))
      if (!proof) throw new NotFoundError('row not found')
      return proof
    },
  })
}

const mappingQuery = z
  .string()
  .max(100)
  .optional()
  .meta({ description: 'name and version of a mapping; default: recognised by the header of the file' })

const tapeUpload = uploadRoute({
  path: TAPES.folder,
  operationId: 'uploadLoanTape',
  summary: 'Import a loan tape: CSV in UTF-8, 20 MiB at most',
  description: `A worker reads the stored body. The same bytes and mapping again return the existing import with 200. ${MAPPINGS_CLAIM}`,
  types: ['text/csv'],
  query: z.strictObject({ mapping: mappingQuery }),
  plan({ mapping }) {
    requireMapping(mapping, 'csv')
    return { kind: 'TAPE', style: 'csv', requestedMapping: mapping ?? null }
  },
})

const bureauUpload = uploadRoute({
  path: BUREAU.folder,
  operationId: 'uploadBureauFile',
  summary: 'Import a file in the style of a credit bureau, 20 MiB at most',
  description: `\`style\` is the layout of the file. ${MAPPINGS_CLAIM}`,
  types: ['text/plain', 'application/octet-stream'],
  query: z.strictObject({ style: z.enum(BUREAU_STYLES), mapping: mappingQuery }),
  plan({ style, mapping }) {
    requireMapping(mapping, style)
    return { kind: 'BUREAU', style, requestedMapping: mapping ?? mappingOfStyle(style)?.id ?? null }
  },
})

/** @throws ValidationError unless it is a mapping of files of this style */
function requireMapping(id: string | undefined, style: FileStyle): void {
  if (id === undefined || findFileMapping(id)?.style === style) return
  const message = 'mapping must be a mapping of files of this format'
  throw new ValidationError(message, [{ path: 'mapping', code: 'UNKNOWN_VALUE', message }])
}

const routesOf = (of: Kind): readonly Route[] => [
  listRoute(of),
  readRoute(of),
  errorsRoute(of),
  errorsCsvRoute(of),
  rowsRoute(of),
  proofRoute(of),
]

export const importRoutes: readonly Route[] = [tapeUpload, ...routesOf(TAPES), bureauUpload, ...routesOf(BUREAU)]
