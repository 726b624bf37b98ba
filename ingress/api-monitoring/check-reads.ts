import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { rulesOfChecks } from '#shared/monitoring/alerting/policy-store.ts'
import { NO_RULES } from '#shared/monitoring/alerting/read-policy.ts'
import { type AssignedCheck, findCheck, listChecks } from '#shared/monitoring/checks/store.ts'
import { hasAllTags } from '#shared/monitoring/checks/tags.ts'
import { toCheckView } from '#shared/monitoring/checks/view.ts'
import type { ChangedRules } from '#shared/monitoring/operations/rules.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import type { IngressDeps } from '../deps.ts'
import { queryOf } from '../middleware/form-text.ts'
import type { Route } from '../route.ts'
import { jsonListTexts, sendPieces, textPieces } from '../text-pieces.ts'
import { anyKey, read } from './monitoring-route.ts'
import { type ApiVersion, requireCheckId, uuidOfUniqueKey } from './operation.ts'
import { checkSchema, readOnlyCheckSchema, uniqueKeyParam, uuidParam } from './schemas.ts'

const anyCheck = z.union([checkSchema, readOnlyCheckSchema])

export function checkReadRoutes(version: ApiVersion): Route[] {
  const common = {
    tags: ['Checks'],
    access: anyKey,
    errors: [403, 404],
    responses: {
      200: { description: 'The check.', content: { 'application/json': anyCheck } },
    },
  }
  return [
    read({
      ...common,
      path: `/api/v${version}/checks/`,
      operationId: 'listChecks',
      summary: 'List checks',
      description: 'In the order of their creation. A read-only key gets the read-only form.',
      params: {},
      query: z.object({
        slug: z.string().optional().describe('Only checks with exactly this slug.'),
        tag: z.array(z.string()).optional().describe('Repeatable: only checks that have all of these tags.'),
        ...rulesQuery(version),
      }),
      responses: {
        ...common.responses,
        200: {
          description: 'The checks.',
          content: { 'application/json': z.object({ checks: z.array(anyCheck) }) },
        },
      },
      async handle({ key, request, deps, setLag }) {
        const query = queryOf(request)
        const name = `${version} ${key.project.id} ${key.kind} ${query}`
        const { pieces, lagMs } = await deps.checkLists(name, () => renderList({ key, version, query }, deps))
        setLag(lagMs)
        return (response) => sendPieces(response, 'application/json', pieces)
      },
    }),
    read({
      ...common,
      path: `/api/v${version}/checks/{uuid}`,
      operationId: 'getCheck',
      summary: 'Get a check',
      description: 'The path accepts the unique_key instead of the uuid.',
      params: { uuid: uuidParam },
      query: z.object(rulesQuery(version)),
      async handle({ key, params, request, deps, setLag }) {
        const id = await requireCheckId(params.uuid, key, deps)
        setLag(await deps.barrier.pass([id]))
        return await renderCheck(params.uuid, { key, version, query: queryOf(request) }, deps)
      },
    }),
    read({
      ...common,
      path: `/api/v${version}/checks/{unique_key}`,
      operationId: 'getCheckByUniqueKey',
      documentedBy: 'getCheck',
      summary: 'Get a check by its unique_key',
      params: { unique_key: uniqueKeyParam },
      async handle({ key, params, request, deps, setLag }) {
        const uuid = await uuidOfUniqueKey(params.unique_key, key, deps)
        setLag(await deps.barrier.pass([await requireCheckId(uuid, key, deps)]))
        return await renderCheck(uuid, { key, version, query: queryOf(request) }, deps)
      },
    }),
  ]
}

interface Reading {
  key: ProjectKey
  version: ApiVersion
  query: URLSearchParams
}

async function renderList({ key, version, query }: Reading, deps: IngressDeps) {
  const lagMs = await deps.barrier.pass('all')
  // The last of repeated slugs counts. An empty slug is no filter; an empty tag matches nothing.
  const slug = query.getAll('slug').at(-1) || undefined
  const tags = query.getAll('tag')
  const checks = await listChecks(deps.db, key.project.id, slug)
  const options = viewOptions(key, version, deps)
  const wanted = checks.filter((check) => hasAllTags(check.tags, tags))
  const rules = showsRules(key, version, query) ? await findShownRules(wanted, deps) : null
  const view = (check: AssignedCheck) => ({ ...toCheckView(check, options), ...rules?.(check) })
  const texts = jsonListTexts(wanted, view, '{"checks":', '}')
  return { pieces: await textPieces(texts), lagMs }
}

async function renderCheck(uuid: string, { key, version, query }: Reading, deps: IngressDeps) {
  const check = await findCheck(deps.db, uuid)
  if (check?.projectId !== key.project.id) throw new NotFoundError('')
  const rules = showsRules(key, version, query) ? await findShownRules([check], deps) : null
  return { ...toCheckView(check, viewOptions(key, version, deps)), ...rules?.(check) }
}

export function viewOptions(key: Pick<ProjectKey, 'kind'>, version: ApiVersion, deps: IngressDeps) {
  return {
    base: deps.config.publicUrl,
    version,
    readOnly: key.kind !== 'rw',
    now: deps.now(),
    next: nextOccurrence,
  }
}

/** Returns true if a check object has the member `rules`: only on request, and never for a read-only key (docs/spec/alerting.md#ground-rules). */
export function showsRules(key: Pick<ProjectKey, 'kind'>, version: ApiVersion, query: URLSearchParams): boolean {
  return version === 3 && key.kind === 'rw' && query.get('rules') === '1'
}

export function rulesQuery(version: ApiVersion): { rules?: z.ZodOptional<z.ZodString> } {
  return version === 3 ? { rules: z.string().optional().describe('`1`: with the rules of the check.') } : {}
}

export async function findShownRules(checks: readonly { id: number }[], { db }: Pick<IngressDeps, 'db'>) {
  const found = await rulesOfChecks(
    db,
    checks.map(({ id }) => id),
  )
  return ({ id }: { id: number }) => ({ rules: found.get(id) ?? NO_RULES })
}

/** Only the response to a change shows a new ping secret. */
export function shownRules({ rules, secret }: ChangedRules) {
  return secret === null || rules.ping_auth === null ? rules : { ...rules, ping_auth: { ...rules.ping_auth, secret } }
}
