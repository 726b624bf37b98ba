import { findIncident } from '#shared/monitoring/alerting/incident-read-store.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import { findIntegrationByUuid } from '#shared/monitoring/pages/integration-store.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Context } from './context.ts'
import type { Frame } from './layout.tsx'
import type { Area } from './navigation.ts'
import { enterProject, signedIn, type Workspace } from './workspace.ts'

/** By the first matching word of the path. */
const AREAS: Readonly<Record<string, Area>> = {
  acceptance: 'acceptance',
  account: 'account',
  agents: 'agents',
  businesses: 'businesses',
  checks: 'checks',
  clients: 'clients',
  deliveries: 'webhooks',
  families: 'clients',
  filters: 'checks',
  financing: 'financing',
  identity: 'identity',
  imports: 'imports',
  incidents: 'incidents',
  integrations: 'integrations',
  invitations: 'members',
  members: 'members',
  'on-call': 'on-call',
  packs: 'packs',
  policies: 'policies',
  pools: 'pools',
  trade: 'trade',
  usage: 'usage',
  webhooks: 'webhooks',
  windows: 'windows',
  keys: 'keys',
  settings: 'settings',
  'sign-out-everywhere': 'account',
  'status-notes': 'incidents',
  'status-page': 'status-page',
}

const RISK_BASE = /^\/organisations\/([0-9a-f-]{36})\/risk\/(?:sandbox|production)(?=\/)/

/**
 * Returns the navigation of a confirmation or error page. If the lookup fails it returns nothing, because an error page
 * must not fail.
 */
export async function surroundings(
  context: Context,
): Promise<Pick<Frame, 'workspace' | 'project' | 'area' | 'riskBase'>> {
  if (!context.session) return {}
  try {
    const opened = await signedIn(context)
    const project = await projectOf(context, opened)
    const workspace = project ? await enterProject(context, opened, project) : opened
    const area = context.request.path
      .split('/')
      .map((word) => (Object.hasOwn(AREAS, word) ? AREAS[word] : undefined))
      .find((one) => one !== undefined)
    const [base, organisation] = RISK_BASE.exec(context.request.path) ?? []
    const isOwn = workspace.memberships.some(({ organisationUuid }) => organisationUuid === organisation)
    return {
      workspace,
      ...(project && { project }),
      ...(area && { area }),
      ...(base !== undefined && isOwn && { riskBase: base }),
    }
  } catch {
    return {}
  }
}

/** Finds only projects of this user. */
async function projectOf({ params, deps }: Context, { projects }: Workspace) {
  const { project, check, integration, incident } = params
  if (check && isUuid(check)) {
    const found = await findCheck(deps.db, check)
    return projects.find(({ id }) => id === found?.projectId)
  }
  if (integration && isUuid(integration)) {
    const found = await findIntegrationByUuid(deps.db, integration)
    return projects.find(({ id }) => id === found?.projectId)
  }
  for (const one of incident && isUuid(incident) ? projects : []) {
    if (await findIncident(deps.db, one.id, incident ?? '')) return one
  }
  return projects.find(({ uuid }) => uuid === project)
}
