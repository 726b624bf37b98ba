import { randomOf } from '../support/random.ts'
import { type FullProject, variablesOf } from './full-project.ts'
import { valueFor } from './json-mutation.ts'
import { type FuzzRoute, openApi } from './routes.ts'

/** Pages that belong to monitoring: accounts and risk signals have no full project. */
const PAGES =
  /^\/(?:$|projects|checks|integrations|incidents|status|organisations\/[^/]+\/(?:audit|members)|schedule-preview)/
/** Checks that a form selects. */
const SELECTED = 10
const OF_RISK = /\/risk(?:\/|$)/

/** Returns the routes of the monitoring API and its pages: reads, then writes, then deletions. */
export function monitoringRoutes(routes: readonly FuzzRoute[], { badges }: FullProject): FuzzRoute[] {
  const named = routes.filter(({ path, kind }) =>
    kind === 'page' ? PAGES.test(path) && !OF_RISK.test(path) : /^\/(?:api\/v3|projects)\//.test(path),
  )
  const ofBadges = badges.map((path): FuzzRoute => ({ method: 'GET', path, kind: 'api', query: [], headers: [] }))
  return [...ofBadges, ...named].toSorted((a, b) => rankOf(a) - rankOf(b))
}

function rankOf({ method, path }: FuzzRoute): number {
  if (method === 'GET') return 0
  if (path.endsWith('/settings/delete')) return 3
  return method === 'DELETE' || /\/(?:delete|remove|revoke|end|withdraw)$/.test(path) ? 2 : 1
}

/** Returns a request of the owner of the project, with the largest allowed body. */
export function fullRequest(route: FuzzRoute, full: FullProject, round: number): Buffer {
  const { method, path, kind } = route
  const variables = variablesOf(full, path, round)
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(variables[name] ?? 'x'))
  const isForm = kind === 'page'
  const body = method === 'GET' ? '' : isForm ? formFor(path, full) : JSON.stringify(jsonFor(route, full, variables))
  const target = path === '/api/v3/import' ? `${filled}?apply=1` : filled
  const head = [
    `${method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    isForm ? `Cookie: ${full.cookie}` : `X-Api-Key: ${full.rwKey}`,
    `Authorization: Bearer ${full.roKey}`,
    `Content-Type: ${isForm ? 'application/x-www-form-urlencoded' : 'application/json'}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Returns a form with the fields of all pages, because a page ignores unknown fields. */
function formFor(path: string, full: FullProject): string {
  const form = new URLSearchParams({
    _csrf: full.csrf,
    name: 'renamed',
    title: 'Renamed',
    tags: 't1 t2',
    tag: 't1',
    match: 't1',
    kind: 'simple',
    timeout: '1',
    timeout_unit: 'hours',
    grace: '5',
    grace_unit: 'minutes',
    severity: 'critical',
    mode: 'any',
    parent_tags: 't1',
    do: 'pause',
    query: 'tag=t1',
    policy: full.policies[0] ?? '',
    position: '0',
    steps: '1',
    'steps[0].whom': 'own',
    source: 'recorded',
    for: '1',
    every: '30 3 * * *',
    tz: 'Europe/Paris',
    note: 'x',
    text: 'x',
    url: 'http://127.0.0.1:65000/',
    add_check: full.checks[0] ?? '',
  })
  for (const uuid of full.checks.slice(0, SELECTED)) form.append('check', uuid)
  for (const uuid of full.integrations) form.append('integration', uuid)
  if (path.endsWith('/import')) form.append('document', JSON.stringify(full.document))
  return form.toString()
}

function jsonFor(route: FuzzRoute, full: FullProject, { check = '' }: Readonly<Record<string, string>>): unknown {
  const window = { match: 't1 t2', every: '*/30 * * * *', for: 60, tz: 'Europe/Paris' }
  const policy = { name: 'p', match: 't1', steps: Array.from({ length: 10 }, () => ({ channels: '*' })) }
  const bodies: Readonly<Record<string, unknown>> = {
    '/api/v3/checks/': { name: 'job 0', unique: ['name'], desc: 'x'.repeat(10_000), channels: '*' },
    '/api/v3/checks/{uuid}': { desc: 'x'.repeat(10_000), channels: '*', tags: 't1 t999' },
    '/api/v3/checks/{uuid}/rules': { parents: [{ tag: 't1' }, { tag: 't2' }], severity: 'warning' },
    '/api/v3/channels/': { kind: 'webhook', name: 'one more', config: { url: 'http://127.0.0.1:65000/' } },
    '/api/v3/channels/{uuid}': { name: 'renamed' },
    '/api/v3/import': full.document,
    '/api/v3/policies/': policy,
    '/api/v3/policies/{policy}': policy,
    '/api/v3/windows/': window,
    '/api/v3/windows/{window}': window,
    '/api/v3/incidents/{incident}/note': { text: 'x' },
    '/api/v3/simulations/': { check, recorded: 'pings', policy, windows: Array.from({ length: 100 }, () => window) },
  }
  return bodies[route.path] ?? (route.body === undefined ? {} : valueFor(randomOf(20261), route.body, openApi))
}
