import type { Knex } from 'knex'
import { mapInTurns } from '../../platform/process/turns.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { findKind } from '../channels/kinds.ts'
import { shownConfig } from '../channels/shown-config.ts'
import { listChannels } from '../channels/store.ts'
import { listChecks } from '../checks/store.ts'
import { CONFIG_DOCUMENT_VERSION, type ConfigDocument, toDocumentedCheck } from '../projects/config-document.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { openConfig } from './integration-config.ts'

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
  const channels = await listChannels(db, project.id)
  const checks = await listChecks(db, project.id)
  const document: ConfigDocument = {
    version: CONFIG_DOCUMENT_VERSION,
    channels: channels.map((channel) => {
      const kind = findKind(channel.kind)
      const config = openConfig(channel, secrets)
      const shown = withSecrets ? config : kind ? shownConfig(kind, config) : {}
      return { id: channel.uuid, kind: channel.kind, name: channel.name, config: shown }
    }),
    checks: await mapInTurns(checks, toDocumentedCheck),
  }
  const target = withSecrets ? `${project.name}, with secrets` : project.name
  const { organisationId } = project
  await insertActorAudit(db, actor, { organisationId, action: 'project.exported', target })
  return document
}
