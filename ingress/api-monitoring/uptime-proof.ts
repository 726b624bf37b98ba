import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { invalid } from '#shared/monitoring/alerting/fields.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import { proveUptime } from '#shared/monitoring/operations/uptime.ts'
import { datesBetween, isDate } from '#shared/transparency/statements/day-record.ts'
import { MAX_DAYS } from '#shared/transparency/statements/verify-uptime.ts'
import { queryOf } from '../middleware/form-text.ts'
import type { Route } from '../route.ts'
import { read, readWriteKey } from './monitoring-route.ts'
import { requireCheckId } from './operation.ts'
import { uuidParam } from './schemas.ts'

const object = z.record(z.string(), z.unknown())
const proofSchema = z
  .object({
    check: z.string().describe('unique_key'),
    name: z.string().describe('The current name; it is not proved.'),
    from: z.string(),
    until: z.string(),
    records: z.array(object).describe('One for each day, and one more for each correction of it.'),
    statements: z.array(object).describe('Every statement of the project from the first of these days to the last.'),
    proofs: z.array(object).describe('Of each statement, as `GET /v1/anchors/{txId}` answers.'),
  })
  .meta({ id: 'UptimeProof' })

/** Returns the daily statements of a check for offline verification (docs/spec/alerting.md#daily-statements); version 3 only. */
export const uptimeProofRoutes: readonly Route[] = [
  read({
    access: readWriteKey,
    tags: ['Alerting'],
    path: '/api/v3/checks/{uuid}/uptime-proof',
    operationId: 'proveUptime',
    summary: 'Get the daily uptime statements of a check, with their proofs',
    description:
      'Verify it with `npm run -s verify` or on the page `/verify`. Empty for a project without daily statements.',
    params: { uuid: uuidParam },
    query: z.object({
      from: z.string().describe('The first day, YYYY-MM-DD, UTC.'),
      until: z.string().describe(`The last day, included; at most ${MAX_DAYS} days in all.`),
    }),
    errors: [400, 403, 404],
    responses: {
      200: { description: 'The proof.', content: { 'application/json': proofSchema } },
    },
    async handle({ key, params, request, deps }) {
      const id = await requireCheckId(params.uuid, key, deps)
      const days = daysOf(queryOf(request))
      const check = await findCheck(deps.db, params.uuid)
      if (!check) throw new NotFoundError('')
      return await proveUptime(deps.db, { ...check, id, projectId: key.project.id }, days)
    },
  }),
]

/** @throws ValidationError that names the field */
function daysOf(query: URLSearchParams): { from: string; until: string } {
  const [from, until] = [dateOf(query, 'from'), dateOf(query, 'until')]
  if (until < from) throw invalid('until', 'must not be before from')
  if (datesBetween(from, until).length > MAX_DAYS) throw invalid('until', `must be within ${MAX_DAYS} days of from`)
  return { from, until }
}

function dateOf(query: URLSearchParams, name: string): string {
  const text = query.getAll(name).at(-1)
  if (text === undefined) throw invalid(name, 'is required')
  if (!isDate(text)) throw invalid(name, 'must be a date YYYY-MM-DD')
  return text
}
