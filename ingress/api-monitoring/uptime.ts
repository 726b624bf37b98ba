import { z } from 'zod'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { parseFlipFilters } from '#shared/monitoring/flips/filters.ts'
import { listFlips } from '#shared/monitoring/flips/store.ts'
import { excludedSpans, timedWindows } from '#shared/monitoring/maintenance/spans.ts'
import { uptimeOf } from '#shared/monitoring/maintenance/uptime.ts'
import { findUptimeSubject, listUnknown } from '#shared/monitoring/maintenance/uptime-store.ts'
import { windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { runYielding } from '#shared/platform/process/time-slices.ts'
import type { IngressDeps } from '../deps.ts'
import { queryOf } from '../middleware/form-text.ts'
import type { Route } from '../route.ts'
import { anyKey, read } from './monitoring-route.ts'
import { requireCheckId, uuidOfUniqueKey } from './operation.ts'
import { uniqueKeyParam, uuidParam } from './schemas.ts'

const seconds = z.int().min(0)
const uptimeSchema = z
  .object({
    up: seconds,
    down: seconds,
    unknown: seconds.describe('Neither: the service could not receive an expected ping.'),
    maintenance: seconds.describe('In windows whose `uptime` is `exclude`.'),
    off: seconds.describe('Paused, before the first ping, or before the check was created.'),
    ratio: z.number().min(0).max(1).nullable().describe('up / (up + down), cut to six digits; null when both are 0.'),
  })
  .meta({ id: 'Uptime' })

const common = {
  tags: ['Alerting'],
  access: anyKey,
  summary: 'Get the seconds that a check was up, down, unknown or in maintenance',
  description: 'The path accepts the unique_key instead of the uuid.',
  query: z.object({
    start: z.string().optional().describe('UNIX timestamp; default: the creation of the check.'),
    end: z.string().optional().describe('UNIX timestamp; default and maximum: now.'),
  }),
  errors: [403, 404],
  responses: {
    200: { description: 'The time.', content: { 'application/json': uptimeSchema } },
    400: { description: 'A filter is not valid. No body.' },
  },
} as const

/** Returns the time that a check was up, down, unknown, in maintenance and off (docs/spec/alerting.md#unknown-time); version 3 only. */
export const uptimeRoutes: readonly Route[] = [
  read({
    ...common,
    path: '/api/v3/checks/{uuid}/uptime',
    operationId: 'getUptime',
    params: { uuid: uuidParam },
    async handle({ key, params, request, deps, setLag }) {
      const id = await requireCheckId(params.uuid, key, deps)
      return await uptimeFor(id, { key, query: queryOf(request), deps, setLag })
    },
  }),
  read({
    ...common,
    path: '/api/v3/checks/{unique_key}/uptime',
    operationId: 'getUptimeByUniqueKey',
    documentedBy: 'getUptime',
    params: { unique_key: uniqueKeyParam },
    async handle({ key, params, request, deps, setLag }) {
      const id = await requireCheckId(await uuidOfUniqueKey(params.unique_key, key, deps), key, deps)
      return await uptimeFor(id, { key, query: queryOf(request), deps, setLag })
    },
  }),
]

/** @throws ValidationError for an empty period */
async function uptimeFor(
  checkId: number,
  requested: { key: ProjectKey; query: URLSearchParams; deps: IngressDeps; setLag(lagMs: number): void },
) {
  const { key, query, deps, setLag } = requested
  const range = parseFlipFilters(query, deps.now())
  if (!range) throw new ValidationError('')
  setLag(await deps.barrier.pass([checkId]))
  const now = deps.now()
  const until = Math.min(range.before ?? now, now)
  const subject = await findUptimeSubject(deps.db, checkId, range.from ?? 0)
  if (!subject) throw new NotFoundError('')
  const from = Math.min(range.from ?? subject.createdAt, until)
  const [flips, unknown, windows] = await Promise.all([
    listFlips(deps.db, checkId, { from, before: until }),
    listUnknown(deps.db, checkId, from, until),
    windowsOf(deps.db, [key.project.id]),
  ])
  const about = { uuid: subject.uuid, tags: splitTags(subject.tags) }
  const { createdAt, before, oldest } = subject
  const excluded = excludedSpans(await runYielding(timedWindows(windows, from, until)), about)
  return uptimeOf({ flips, before: before ?? oldest, createdAt, unknown, excluded }, from, until)
}
