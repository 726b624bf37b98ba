import { randomBytes, randomUUID } from 'node:crypto'
import type { Check } from '#shared/monitoring/checks/check.ts'
import type { CheckSettings } from '#shared/monitoring/checks/fields.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { insertCheck } from '#shared/monitoring/checks/store.ts'
import { insertIntegration, type StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { generateKey, type KeyKind, keyPrefix } from '#shared/monitoring/projects/api-key.ts'
import { insertProject, insertProjectKey, type Project } from '#shared/monitoring/projects/store.ts'
import { ensureOrganisation } from '#shared/tenancy/organisations/store.ts'
import type { IngressDeps } from '../../ingress/deps.ts'

type Deps = Pick<IngressDeps, 'db' | 'secrets'>

export interface TestProject {
  project: Project
  rwKey: string
  roKey: string
  pingKey: string
}

/** A project with a separate owner, with one key of each kind. */
export async function addProject(deps: Deps, options: { checkLimit?: number } = {}): Promise<TestProject> {
  const organisation = await deps.db.transaction((tx) => ensureOrganisation(tx, randomUUID()))
  const project = await insertProject(deps.db, { organisationId: organisation.id, name: 'tests', ...options })
  return {
    project,
    rwKey: await addKey(deps, project.id, 'rw'),
    roKey: await addKey(deps, project.id, 'ro'),
    pingKey: await addKey(deps, project.id, 'ping'),
  }
}

/** @param key a new one by default */
export async function addKey(
  deps: Deps,
  projectId: number,
  kind: KeyKind,
  key = generateKey(kind, randomBytes),
): Promise<string> {
  const digest = deps.secrets.digest(key)
  const folded = kind === 'ping' && { foldedDigest: deps.secrets.digest(key.toLowerCase()) }
  await insertProjectKey(deps.db, { projectId, kind, prefix: keyPrefix(key), digest, ...folded })
  return key
}

export async function addCheck(deps: Deps, projectId: number, settings: Partial<CheckSettings> = {}): Promise<Check> {
  return await insertCheck(deps.db, projectId, { ...DEFAULT_SETTINGS, ...settings })
}

export async function addIntegration(deps: Deps, projectId: number, name: string): Promise<StoredIntegration> {
  const sealedConfig = deps.secrets.seal(
    'integration',
    JSON.stringify({ value: 'alerts@example.org', down: true, up: true }),
  )
  return await insertIntegration(deps.db, { projectId, kind: 'email', name, sealedConfig })
}
