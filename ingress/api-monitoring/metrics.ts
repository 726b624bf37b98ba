import type { Request, Response } from 'express'
import { ForbiddenError, UnauthorizedError, ValidationError } from '#shared/errors.ts'
import { listShownChecks } from '#shared/monitoring/checks/shown-store.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { listSchedules } from '#shared/monitoring/on-call/schedule-store.ts'
import { loadOnCallFacts } from '#shared/monitoring/operations/record-shifts.ts'
import { API_KEY_LENGTH } from '#shared/monitoring/projects/api-key.ts'
import { runHistograms } from '#shared/monitoring/rules/run-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { enterTenant } from '#shared/platform/database/tenant.ts'
import { mapYielding } from '#shared/platform/process/time-slices.ts'
import type { IngressDeps } from '../deps.ts'
import { findKey } from '../middleware/authenticate.ts'
import { queryOf } from '../middleware/form-text.ts'
import { limitRate } from '../middleware/rate-limit.ts'
import { defineRoute, type Route } from '../route.ts'
import { sendPieces, textPieces } from '../text-pieces.ts'
import { setLag } from './monitoring-route.ts'
import { onCallLines } from './on-call-lines.ts'
import { prometheusLines, runLines } from './prometheus.ts'
import { uuidParam } from './schemas.ts'

const common = {
  method: 'get',
  tags: ['Metrics'],
  responses: {
    200: { description: 'Prometheus text format.', content: { 'text/plain': null } },
    400: { description: 'The key is not 32 characters long.' },
    401: { description: 'There is no key.' },
    403: { description: 'The key is unknown, or not a read-only one.' },
    429: { description: 'More requests than the limit allows.' },
  },
} as const

const project = { ...uuidParam, description: 'Any uuid: only the key identifies the project.' }

/** Metrics of the checks of a project for Prometheus, for the holder of its read-only key. */
export const metricsRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    path: '/projects/{uuid}/metrics/{key}',
    operationId: 'getProjectMetrics',
    summary: 'Get the metrics of a project, with the read-only key in the path',
    security: [],
    params: {
      uuid: project,
      key: { pattern: '[^/]+', description: 'The read-only key.', example: 'hcr_0000000000000000000000000000' },
    },
    async handle(request, response, deps) {
      await answerMetrics(request.params.key, request, response, deps)
    },
  }),
  defineRoute({
    ...common,
    path: '/projects/{uuid}/metrics/',
    operationId: 'getProjectMetricsWithBearer',
    summary: 'Get the metrics of a project, with the read-only key as a bearer token',
    security: ['projectBearer'],
    params: { uuid: project },
    async handle(request, response, deps) {
      const [, key] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
      if (key === undefined) throw new UnauthorizedError('a bearer token is missing')
      await answerMetrics(key, request, response, deps)
    },
  }),
]

async function answerMetrics(key: string, request: Request, response: Response, deps: IngressDeps): Promise<void> {
  // The key may be in the path.
  response.setHeader('Cache-Control', 'no-store')
  if (key.length !== API_KEY_LENGTH) throw new ValidationError('')
  const found = await findKey(key, deps)
  if (found?.kind !== 'ro') throw new ForbiddenError('')
  enterTenant({ projectId: found.project.id, organisationId: found.project.organisationId })
  await limitRate(found, response, deps)
  setLag(response, await deps.barrier.pass('all'))
  const now = deps.now()
  const checks = await listShownChecks(deps.db, found.project.id)
  const measured = await mapYielding(checks, (check) => ({ check, status: shownStatus(check, now, nextOccurrence) }))
  const withRuns = queryOf(request).get('runs') === '1'
  const histograms = withRuns ? await runHistograms(deps.db, found.project.id) : []
  const parts = [prometheusLines(measured)]
  if (withRuns) parts.push(runLines(histograms))
  if (queryOf(request).get('on_call') === '1') {
    const schedules = await listSchedules(deps.db, found.project)
    const own = schedules.filter(({ projectId }) => projectId === found.project.id)
    parts.push(onCallLines(await loadOnCallFacts(deps.db, own, now), now))
  }
  await sendPieces(response, 'text/plain; version=0.0.4; charset=utf-8', await textPieces(joined(...parts)))
}

function* joined(...parts: Iterable<string>[]): Generator<string> {
  for (const part of parts) yield* part
}
