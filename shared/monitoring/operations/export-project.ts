import type { Knex } from 'knex'
import { mapYielding } from '../../platform/process/time-slices.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { policiesOf, rulesOfChecks } from '../alerting/policy-store.ts'
import { policyView } from '../alerting/policy-view.ts'
import { NO_RULES } from '../alerting/read-policy.ts'
import { type AssignedCheck, listChecks } from '../checks/store.ts'
import { findKind } from '../integrations/kinds.ts'
import { shownConfig } from '../integrations/shown-config.ts'
import { listIntegrations } from '../integrations/store.ts'
import { windowsOf } from '../maintenance/window-store.ts'
import { windowView } from '../maintenance/window-view.ts'
import { findPingSecrets } from '../pings/secret-store.ts'
import {
  CONFIG_DOCUMENT_VERSION,
  type ConfigDocument,
  toDocumentedCheck,
  toDocumentedRules,
} from '../projects/config-document.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { decryptConfig } from './integration-config.ts'

/**
 * The configuration of a project as a document.
 * @param input.withSecrets for backups by the operator; never by the API
 */
export async function exportProject(
  db: Knex,
  actor: Actor,
  { project, withSecrets = false }: { project: Project; withSecrets?: boolean },
  { secrets }: Pick<OperationDeps, 'secrets'>,
): Promise<ConfigDocument> {
  const channels = await listIntegrations(db, project.id)
  const checks = await listChecks(db, project.id)
  const ids = checks.map(({ id }) => id)
  const rules = await rulesOfChecks(db, ids)
  const sealed = withSecrets ? await findPingSecrets(db, ids) : new Map<number, string>()
  const policies = (await policiesOf(db, [project.id])).map(policyView)
  const windows = (await windowsOf(db, [project.id])).map(windowView).toReversed()
  const documented = (check: AssignedCheck) => {
    const secret = sealed.get(check.id)
    const opened = secret === undefined ? null : secrets.open('ping-secret', secret)
    const shown = toDocumentedRules(rules.get(check.id) ?? NO_RULES, opened)
    return { ...toDocumentedCheck(check), ...(shown && { rules: shown }) }
  }
  const document: ConfigDocument = {
    version: CONFIG_DOCUMENT_VERSION,
    channels: channels.map((channel) => {
      const kind = findKind(channel.kind)
      const config = decryptConfig(channel, secrets)
      const shown = withSecrets ? config : kind ? shownConfig(kind, config) : {}
      return { id: channel.uuid, kind: channel.kind, name: channel.name, config: shown }
    }),
    checks: await mapYielding(checks, documented),
    ...(policies.length > 0 && { policies }),
    ...(windows.length > 0 && { windows }),
  }
  // A key reads the same by other requests, and tools that compare documents do so every few minutes.
  if (actor.kind === 'key' && !withSecrets) return document
  const target = withSecrets ? `${project.name}, with secrets` : project.name
  const { organisationId } = project
  await insertActorAudit(db, actor, { organisationId, action: 'project.exported', target })
  return document
}
