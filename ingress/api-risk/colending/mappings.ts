import { z } from 'zod'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { fixedStyle, layoutOf, segmentStyle } from '#shared/risk/colending/imports/bureau-styles.ts'
import type { FileMapping } from '#shared/risk/colending/imports/file-mapping.ts'
import { errorMessage, ROW_CODES } from '#shared/risk/colending/imports/import.ts'
import { mapRow } from '#shared/risk/colending/imports/map-row.ts'
import { ReportedLoanSchema } from '#shared/risk/colending/imports/row.ts'
import { mapRecord, recognise } from '#shared/risk/colending/map-record.ts'
import { MappedRecordSchema, type Mapping } from '#shared/risk/colending/mapping.ts'
import {
  BUREAU_MAPPINGS,
  findFileMapping,
  findMapping,
  MAPPINGS,
  MAPPINGS_CLAIM,
  TAPE_MAPPINGS,
} from '#shared/risk/colending/mappings/registry.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { formParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

const tags = ['Co-lending'] as const

const described = {
  id: z.string(),
  sourceSystem: z.string(),
  sourceFormat: z.string(),
  description: z.string(),
  recognisedBy: z.array(z.string()),
}

const EventMappingSchema = z
  .object({
    kind: z.literal('EVENT'),
    ...described,
    event: z.object({ from: z.array(z.string()), becomes: z.record(z.string(), z.string()) }),
    fields: z.array(
      z.object({
        target: z.string(),
        from: z.array(z.string()),
        transform: z.string(),
        only: z.array(z.string()).optional(),
      }),
    ),
  })
  .meta({ id: 'LoanMapping' })

const PositionSchema = z
  .object({ from: z.int(), to: z.int() })
  .meta({ id: 'FieldPosition', description: 'first and last character in the record, counted from 1' })

const LayoutSchema = z
  .object({
    headerLength: z.int().nullable().meta({ description: 'null if the header contains its length' }),
    recordLength: z.int().nullable().meta({ description: 'null if each field contains its length' }),
    lengthField: PositionSchema.nullable().meta({
      description: 'position of the digits with the length of the record',
    }),
    segmentLengths: z
      .record(z.string(), z.int())
      .meta({ description: 'lengths of the segments that may follow a record, by segment id' }),
    fields: z.array(z.object({ name: z.string(), from: z.int(), to: z.int() })),
  })
  .meta({ id: 'BureauLayout' })

const FileMappingSchema = z
  .object({
    kind: z.enum(['TAPE', 'BUREAU']),
    ...described,
    style: z.string(),
    columns: z.array(
      z.object({
        target: z.string().nullable(),
        from: z.string(),
        transform: z.string().nullable(),
        required: z.boolean(),
        personal: z
          .boolean()
          .meta({ description: 'true: the value is discarded, and the column is listed in `unmapped`' }),
        position: PositionSchema.nullable().meta({ description: 'null if the column is found by its name or tag' }),
      }),
    ),
    layout: LayoutSchema.nullable().meta({ description: 'null for files whose columns have names' }),
  })
  .meta({ id: 'LoanFileMapping' })

function fileView(mapping: FileMapping) {
  const layout = layoutOf(mapping.style)
  const positions = new Map(layout?.fields.map(({ name, ...position }) => [name, position]))
  const columns = mapping.columns.map((column) => ({ ...column, position: positions.get(column.from) ?? null }))
  return { ...mapping, columns, layout }
}

const mappingsRoute = read({
  path: '/v1/colending/mappings',
  operationId: 'listLoanMappings',
  summary: 'List the mappings from source formats to evidence contracts',
  description: MAPPINGS_CLAIM,
  tags,
  access: withScope('colending:read'),
  params: {},
  returns: z.object({
    claim: z.string().meta({ description: 'a disclaimer about mappings' }),
    mappings: z.array(z.union([EventMappingSchema, FileMappingSchema])),
    styles: z
      .array(z.looseObject({ style: z.string() }))
      .meta({ description: 'the layouts of bureau files, as data; no certification is claimed' }),
    nextCursor: z.string().nullable(),
  }),
  async handle() {
    const events = MAPPINGS.map((mapping) => ({ kind: 'EVENT', ...mapping }))
    const mappings = [...events, ...[...TAPE_MAPPINGS, ...BUREAU_MAPPINGS].map(fileView)]
    return { claim: MAPPINGS_CLAIM, mappings, styles: [segmentStyle, fixedStyle], nextCursor: null }
  },
})

const PreviewBody = z.strictObject({
  record: z.record(z.string(), z.unknown()).optional().meta({ description: 'an event record of the source system' }),
  headers: z.record(z.string().toLowerCase(), z.string()).default({}),
  rows: z
    .array(z.record(z.string().max(200), z.string().max(65_536)))
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'rows of a file: cells by column name' }),
})

const EventPreviewSchema = z
  .object({
    mappingId: z.string(),
    recognised: z
      .boolean()
      .meta({ description: 'true if this mapping would be applied to a received record of this form' }),
    sourceEvent: z.string().nullable(),
    reason: z.enum(['EVENT_UNKNOWN', 'LOAN_MISSING']).nullable(),
    contract: MappedRecordSchema.nullable(),
  })
  .meta({ id: 'LoanMappingPreview' })

const RowsPreviewSchema = z
  .object({
    mappingId: z.string(),
    recognised: z.boolean().meta({ description: 'true if this mapping would be applied to a file with these columns' }),
    rows: z.array(
      z.object({
        contract: ReportedLoanSchema.nullable().meta({ description: 'null when the row would be rejected' }),
        errors: z.array(z.object({ column: z.string().nullable(), code: z.enum(ROW_CODES), message: z.string() })),
      }),
    ),
  })
  .meta({ id: 'LoanRowsPreview' })

const previewRoute = write({
  path: '/v1/colending/mappings/{mappingId}/preview',
  operationId: 'previewLoanMapping',
  summary: 'Preview a mapping of a record or of rows; stores, anchors and meters nothing',
  tags,
  access: withScope('colending:write'),
  params: {
    mappingId: formParam(/^[a-z-]{1,60}@[0-9]{1,4}$/, 'must be a name and a version, for example generic-envelope@1', {
      description: 'name and version of a mapping',
      example: 'generic-envelope@1',
    }),
  },
  body: PreviewBody,
  returns: z.union([EventPreviewSchema, RowsPreviewSchema]),
  async handle({ params, body }) {
    const id = params.mappingId
    const fileMapping = findFileMapping(id)
    const eventMapping = findMapping(id)
    if (!fileMapping && !eventMapping) throw new NotFoundError('mapping not found')
    requireOne(body, fileMapping ? 'rows' : 'record')
    if (fileMapping) return previewRows(fileMapping, body.rows ?? [])
    // The whole body came through our JSON parser, so its members are JSON values.
    return previewRecord(eventMapping, { body: (body.record ?? {}) as JsonObject, headers: body.headers })
  },
})

/** @throws ValidationError unless the body has this member and not the other one */
function requireOne(body: z.output<typeof PreviewBody>, wanted: 'rows' | 'record'): void {
  const other = wanted === 'rows' ? 'record' : 'rows'
  const path = body[wanted] === undefined ? wanted : body[other] === undefined ? null : other
  if (path === null) return
  const message =
    path === wanted ? `${path} is required by this mapping` : `${path} is not a member that this mapping reads`
  throw new ValidationError(message, [{ path, code: path === wanted ? 'REQUIRED' : 'UNKNOWN_FIELD', message }])
}

function previewRecord(mapping: Mapping | undefined, source: Parameters<typeof mapRecord>[1]) {
  if (!mapping) throw new NotFoundError('mapping not found')
  const { sourceEvent, reason, record } = mapRecord(mapping, source)
  const recognised = recognise(MAPPINGS, source) === mapping
  return { mappingId: mapping.id, recognised, sourceEvent, reason, contract: record }
}

function previewRows(mapping: FileMapping, rows: readonly Record<string, string>[]) {
  const used = new Set(mapping.columns.filter(({ personal }) => !personal).map(({ from }) => from))
  const lower = rows.map((row) => new Map(Object.entries(row).map(([name, cell]) => [name.trim().toLowerCase(), cell])))
  return {
    mappingId: mapping.id,
    recognised: mapping.recognisedBy.every((name) => lower[0]?.has(name)),
    rows: rows.map((row, at) => {
      const { loan, errors, unread } = mapRow(mapping, (column) => lower[at]?.get(column))
      const unmapped = Object.keys(row).filter((name) => !used.has(name.trim().toLowerCase()))
      return {
        contract: loan && { ...loan, unmapped: [...unmapped, ...unread] },
        errors: errors.map((error) => ({ ...error, message: errorMessage(error) })),
      }
    }),
  }
}

export const mappingRoutes: readonly Route[] = [mappingsRoute, previewRoute]
