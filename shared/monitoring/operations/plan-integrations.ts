import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { acrossTenants } from '../../platform/database/tenant.ts'
import { group } from '../integrations/kinds/other.ts'
import { findKind } from '../integrations/kinds.ts'
import type { ConfigObject } from '../integrations/shown-config.ts'
import { findTakenIntegrations, listIntegrations } from '../integrations/store.ts'
import type { Imported, ImportedIntegration } from '../move-in/imported.ts'
import type { MoveInReport } from '../move-in/report.ts'
import type { OperationDeps } from './deps.ts'
import { checkConfig, needsSettings } from './integration-config.ts'

type Deps = Pick<OperationDeps, 'config' | 'secrets'>

/**
 * Adds the integrations to create to the plan, and those that an earlier import left without settings if the source has
 * them now. @returns ids that checks may name
 */
export async function planIntegrations(
  tx: Knex,
  projectId: number,
  { imported, planned }: { imported: Imported; planned: { report: MoveInReport; configs: Map<string, ConfigObject> } },
  deps: Deps,
): Promise<Set<string>> {
  const { report, configs } = planned
  const present = new Map((await listIntegrations(tx, projectId)).map((row) => [row.uuid, row]))
  const others = imported.integrations.filter(({ id }) => !present.has(id)).map(({ id }) => id)
  const taken = new Set(await acrossTenants(() => findTakenIntegrations(tx, others)))
  const known = new Set([...present.keys(), ...others.filter((id) => !taken.has(id))])
  const isMember = (id: string) =>
    (present.get(id) ?? imported.integrations.find((other) => other.id === id))?.kind !== group.kind && known.has(id)
  for (const integration of imported.integrations) {
    const { id, kind, name } = integration
    if (taken.has(id)) {
      const reason = 'its id belongs to an integration of another project'
      report.notTaken.push({ subject: `integration ${name || id}`, reason })
      continue
    }
    const row = present.get(id)
    if (row && (row.kind !== kind || !needsSettings(row, deps.secrets))) continue
    const toDo = imported.integrationToDo?.[id]
    if (toDo !== undefined) report.toDo.push(toDo)
    const settings = imported.settings?.[id]
    const checked =
      settings?.lacks === null
        ? await settingsOrProblem(tx, projectId, { integration, settings, isMember }, deps)
        : null
    if (typeof checked === 'string') report.toDo.push(`enter the settings of integration ${name || kind}: ${checked}`)
    if (checked !== null && typeof checked !== 'string') {
      configs.set(id, checked)
      report.configured.push(integration)
    } else if (!row) {
      configs.set(id, settings?.config ?? {})
      report.integrations.push(integration)
    }
  }
  return known
}

/** Returns the settings as they are stored, or the reason why they cannot be used. */
async function settingsOrProblem(
  tx: Knex,
  projectId: number,
  {
    integration,
    settings,
    isMember,
  }: { integration: ImportedIntegration; settings: { config: ConfigObject }; isMember: (id: string) => boolean },
  deps: Deps,
): Promise<ConfigObject | string> {
  const kind = findKind(integration.kind)
  if (!kind) return 'the kind is not known'
  if (kind.kind === group.kind) {
    const { channels } = settings.config
    const parsed = group.parse({ channels: Array.isArray(channels) ? channels.filter(isMember) : [] })
    return parsed.ok ? parsed.config : 'none of its members is taken'
  }
  try {
    // No DNS lookups during an import; each delivery checks the address again.
    const rules = { db: tx, config: deps.config, resolve: async () => [] }
    return await checkConfig(rules, projectId, kind, settings.config)
  } catch (error) {
    if (error instanceof ValidationError) return error.message
    throw error
  }
}
