import type { Knex } from 'knex'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { insertIntegration, type StoredIntegration } from '../integrations/store.ts'
import { assignToAllChecks } from '../pages/integration-store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { inTransaction } from './in-transaction.ts'
import { checkConfig, checkName, requireKind } from './integration-config.ts'
import { knownRecipients, recipientOf, requestRecipient } from './recipients.ts'

interface NewIntegration {
  project: Project
  kind: unknown
  name: unknown
  /** the kind's options */
  config: unknown
  /** whether every check of the project gets it */
  forAllChecks?: boolean
}

/**
 * Creates an integration. The recipient of an e-mail integration whose consent is not known is asked first.
 * @throws ValidationError that names the first member that is wrong, RateLimitedError when too many were asked
 */
export async function createIntegration(
  db: Knex,
  actor: Actor,
  { project, forAllChecks = false, ...given }: NewIntegration,
  deps: Pick<OperationDeps, 'config' | 'secrets' | 'outbox'>,
): Promise<StoredIntegration> {
  const kind = requireKind(given.kind)
  const name = checkName(given.name)
  const config = await checkConfig({ db, config: deps.config }, project.id, kind, given.config)
  const sealedConfig = deps.secrets.seal('integration', JSON.stringify(config))
  const address = recipientOf(kind.kind, config)
  return await inTransaction(db, deps, async (tx, enqueue) => {
    const isRefreshing =
      enqueue !== null && address !== null && !(await knownRecipients({ ...deps, db: tx }, project.id))(address)
    const created = { projectId: project.id, kind: kind.kind, name, sealedConfig, isEmailVerified: !isRefreshing }
    const channel = await insertIntegration(tx, created)
    if (forAllChecks) await assignToAllChecks(tx, channel.id, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, {
      organisationId,
      action: 'integration.created',
      target: `${name} (${kind.label})`,
    })
    if (isRefreshing) await requestRecipient(tx, enqueue, deps, project.id, { uuid: channel.uuid, address })
    return channel
  })
}
