import type { Request } from 'express'
import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import { fromCronitor } from '#shared/monitoring/move-in/cronitor.ts'
import { fromHealthchecks } from '#shared/monitoring/move-in/healthchecks.ts'
import type { Imported } from '#shared/monitoring/move-in/imported.ts'
import { planDigest } from '#shared/monitoring/move-in/report.ts'
import { fromUptimeKuma, readKumaBackup } from '#shared/monitoring/move-in/uptime-kuma.ts'
import { moveIn } from '#shared/monitoring/operations/move-in.ts'
import { discardPlan, requirePlan, savePlan } from '#shared/monitoring/operations/move-in-plans.ts'
import { importClient, readHealthchecks } from '#shared/monitoring/operations/read-healthchecks.ts'
import { startWatching } from '#shared/monitoring/operations/start-watching.ts'
import { UUID_PATTERN } from '#shared/uuid.ts'
import type { IngressDeps } from '../deps.ts'
import { queryOf } from '../middleware/form-text.ts'
import type { Route } from '../route.ts'
import { write } from './monitoring-route.ts'

const json = (schema: z.ZodType) => ({ 'application/json': schema })
const named = { id: z.uuid(), name: z.string() }
const changes = z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() }))

const report = {
  source: z.enum(['healthchecks', 'uptime-kuma', 'cronitor', 'crontab']),
  applied: z.boolean(),
  create: z.array(
    z.object({
      ...named,
      paused: z.boolean(),
      timeout: z.int().optional(),
      schedule: z.string().optional(),
      tz: z.string().optional(),
      grace: z.int(),
    }),
  ),
  update: z.array(z.object({ ...named, changes })),
  unchanged: z.int(),
  kept: z
    .array(z.object({ ...named, changes }))
    .describe('Changed only in Signalbox since the last import. These settings are not overwritten.'),
  conflicts: z.array(z.object({ ...named, reason: z.string(), changes: changes.optional() })),
  gone: z.array(z.object(named)).describe('No longer in the source. These checks are not deleted.'),
  integrations: z.array(z.object({ ...named, kind: z.string() })).describe('Created without settings.'),
  configured: z
    .array(z.object({ ...named, kind: z.string() }))
    .describe('Created or updated with the settings of the source.'),
  notTaken: z.array(z.object({ subject: z.string(), reason: z.string() })),
  toDo: z.array(z.string()),
  addresses: z.array(z.object({ name: z.string(), from: z.string(), to: z.string() })),
}
const plan = z
  .object({
    plan: z.uuid(),
    digest: z.string().describe('Hash of the planned changes, for `digest` of the request that applies them.'),
    ...report,
  })
  .meta({ id: 'MoveInPlan' })
const result = z.object(report).meta({ id: 'MoveInReport' })

const source = z
  .object({
    url: z.string().describe('Healthchecks: address of its pages.'),
    api_key: z.string().describe('Healthchecks: its read-write key. It is not stored.'),
    text: z.string().describe('Cronitor: YAML export; Uptime Kuma: JSON backup.'),
  })
  .partial()
  .meta({ id: 'MoveInSource' })

const overwrite = z
  .string()
  .optional()
  .describe('`1`: if a setting changed on both sides, use the value of the source.')
const isOverwriting = (request: Request) => queryOf(request).get('overwrite') === '1'

const common = { tags: ['Configuration'], errors: [400, 404, 413] } as const

/** @throws ValidationError, UnavailableError */
type ReadSource = (body: JsonObject, deps: IngressDeps) => Promise<Imported>

const SOURCES: Readonly<Record<string, { operationId: string; title: string; read: ReadSource }>> = {
  healthchecks: {
    operationId: 'planImportFromHealthchecks',
    title: 'Healthchecks',
    async read(body, deps) {
      await using http = importClient(deps.config)
      const from = { url: requireText(body, 'url'), apiKey: requireText(body, 'api_key') }
      return fromHealthchecks(await readHealthchecks(http, from))
    },
  },
  cronitor: {
    operationId: 'planImportFromCronitor',
    title: 'a Cronitor export',
    read: async (body) => fromCronitor(requireText(body, 'text')),
  },
  'uptime-kuma': {
    operationId: 'planImportFromUptimeKuma',
    title: 'a backup of Uptime Kuma 1.x',
    read: async (body) => fromUptimeKuma(readKumaBackup(Buffer.from(requireText(body, 'text')))),
  },
}

/** Import of checks from other monitors; version 3 only. */
export const importFromRoutes: readonly Route[] = [
  write({
    ...common,
    path: '/api/v3/import-from/start',
    operationId: 'startWatching',
    summary: 'Start the deadlines of imported checks without a ping',
    description: 'A check that no ping reaches goes down after its period and grace time.',
    params: {},
    responses: {
      200: {
        description: 'The number of checks whose deadline was started.',
        content: json(z.object({ watched: z.int() })),
      },
    },
    async handle({ key, actor, deps }) {
      return { watched: await startWatching(deps.db, actor, key.project, deps) }
    },
  }),
  ...Object.entries(SOURCES).map(([name, { operationId, title, read }]) => planRoute(name, operationId, title, read)),
  write({
    ...common,
    path: '/api/v3/import-from/{plan}/apply',
    operationId: 'applyImportFrom',
    summary: 'Apply a plan',
    description:
      'Nothing is changed and `applied` is false if there are conflicts (unless `skip_conflicts=1`), or if `digest` does not match the changes.',
    params: {
      plan: { pattern: UUID_PATTERN, description: 'Id of the plan.', example: '5f3a2b6e-0d5c-4a55-9a5e-6a0a3f1c9b27' },
    },
    query: z.object({
      digest: z.string().optional().describe('Apply only the plan with this digest.'),
      skip_conflicts: z.string().optional().describe('`1`: leave checks in conflict unchanged.'),
      overwrite,
    }),
    responses: {
      200: { description: 'The result.', content: json(result) },
      403: { description: 'The project would exceed its limit of checks. No body.' },
    },
    async handle({ key: { project }, actor, params, request, deps }) {
      const imported = await requirePlan(deps.db, { project, id: params.plan }, deps)
      const query = queryOf(request)
      const digest = query.get('digest')
      const options = {
        apply: true,
        skipConflicts: query.get('skip_conflicts') === '1',
        overwrite: isOverwriting(request),
        ...(digest !== null && { confirmed: digest }),
      }
      const input = { project, imported, options }
      const done = await deps.importSlots.run(`${project.id}`, () => moveIn(deps.db, actor, input, deps))
      if (done.applied) await discardPlan(deps.db, { project, id: params.plan })
      return done
    },
  }),
]

/** Declares the operation that plans the import from one source. */
function planRoute(name: string, operationId: string, title: string, readSource: ReadSource): Route {
  return write({
    ...common,
    path: `/api/v3/import-from/${name}`,
    operationId,
    summary: `Plan the import of checks from ${title}`,
    description: 'Changes nothing. The plan is kept for an hour. Its `digest` depends on `overwrite`.',
    params: {},
    body: { required: true, content: json(source) },
    query: z.object({ overwrite }),
    responses: { 200: { description: 'The plan.', content: json(plan) } },
    async handle({ key: { project }, actor, body, request, deps }) {
      return await deps.importSlots.run(`${project.id}`, async () => {
        const imported = await readSource(body, deps)
        const options = { apply: false, overwrite: isOverwriting(request) }
        const planned = await moveIn(deps.db, actor, { project, imported, options }, deps)
        return { plan: await savePlan(deps.db, { project, imported }, deps), digest: planDigest(planned), ...planned }
      })
    },
  })
}

function requireText(body: JsonObject, member: string): string {
  const value = body[member]
  if (typeof value !== 'string') throw new ValidationError(`${member} must be a string`)
  return value
}
