import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import { exportProject } from '#shared/monitoring/operations/export-project.ts'
import { importProject } from '#shared/monitoring/operations/import-project.ts'
import { MAX_DOCUMENT_VALUES } from '#shared/monitoring/projects/config-document.ts'
import { queryOf } from '../middleware/form-text.ts'
import type { Route } from '../route.ts'
import { jsonObjectTexts, sendPieces, textPieces } from '../text-pieces.ts'
import { policyDocumentSchema, rulesSchema } from './alerting-schemas.ts'
import { read, readWriteKey, write } from './monitoring-route.ts'
import { scheduleDocumentSchema } from './on-call-schemas.ts'
import { windowSchema } from './windows.ts'

const document = z
  .object({
    version: z.literal(1),
    channels: z.array(
      z.object({ id: z.uuid(), kind: z.string(), name: z.string(), config: z.record(z.string(), z.unknown()) }),
    ),
    checks: z.array(
      z
        .looseObject({ uuid: z.uuid(), rules: rulesSchema.partial().optional() })
        .describe('The settings of a check as in requests, and its uuid; `rules` only where it has some.'),
    ),
    schedules: z
      .array(scheduleDocumentSchema)
      .optional()
      .describe('On-call schedules of the project with their overrides; only where there are some.'),
    policies: z.array(policyDocumentSchema).optional().describe('Only where there are some.'),
    windows: z.array(windowSchema).optional().describe('Maintenance windows; only where there are some.'),
  })
  .meta({ id: 'ConfigDocument' })

const changes = z.object({
  create: z.array(z.object({ id: z.uuid(), name: z.string() })),
  update: z.array(z.object({ id: z.uuid(), name: z.string(), changes: z.record(z.string(), z.unknown()) })),
  unchanged: z.int(),
})

const report = z
  .object({
    applied: z.boolean(),
    channels: changes,
    checks: changes,
    schedules: changes.optional().describe('Of a document that lists some.'),
    policies: changes.optional().describe('Of a document that lists some.'),
    windows: changes.optional().describe('Of a document that lists some.'),
    unknownIntegrations: z.array(z.uuid()),
    unknownPeople: z.array(z.string()).optional().describe('Addresses that are not members; they are stored.'),
  })
  .meta({ id: 'ImportReport' })

const common = {
  tags: ['Configuration'],
  params: {},
} as const

/** Export and import of the configuration of a project; version 3 only. */
export const documentRoutes: readonly Route[] = [
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/export',
    operationId: 'exportProject',
    summary: 'Get the configuration of the project as one document',
    description: 'The document contains no secrets, including ping secrets. An import keeps the stored ones.',
    responses: {
      200: { description: 'The document.', content: { 'application/json': document } },
    },
    async handle({ key: { project }, actor, deps }) {
      // Reads of one project that overlap share the document: it takes some MB.
      const { pieces } = await deps.checkLists(`export ${project.id}`, async () => {
        const exported = await exportProject(deps.db, actor, { project }, deps)
        return { pieces: await textPieces(jsonObjectTexts(exported)), lagMs: 0 }
      })
      return (response) => sendPieces(response, 'application/json', pieces)
    },
  }),
  write({
    ...common,
    path: '/api/v3/import',
    operationId: 'importProject',
    summary: 'Compare the project with a document, or apply the document',
    description:
      'Accepts the exported document and lists of checks as returned by this API. It deletes nothing. Applying a document twice changes nothing more.',
    query: z.object({
      plan: z
        .string()
        .optional()
        .meta({ description: '`1`: only report the changes.', examples: ['1'] }),
      apply: z.string().optional().describe('`1`: apply the changes.'),
    }),
    body: { required: true, content: { 'application/json': document } },
    maxValues: MAX_DOCUMENT_VALUES,
    errors: [400, 413],
    responses: {
      200: { description: 'The differences, or the applied changes.', content: { 'application/json': report } },
      403: { description: 'The project would exceed its limit of checks, policies or windows. No body.' },
    },
    async handle({ key, actor, body, request, deps }) {
      const query = queryOf(request)
      const [plan, apply] = [query.get('plan') === '1', query.get('apply') === '1']
      if (plan === apply) throw new ValidationError('the query must have either plan=1 or apply=1')
      const input = { project: key.project, document: body, apply }
      return await deps.importSlots.run(`${key.project.id}`, () => importProject(deps.db, actor, input, deps))
    },
  }),
]
