import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { findKind } from '../integrations/kinds.ts'
import { type ConfigObject, withStoredSecrets } from '../integrations/shown-config.ts'
import { type StoredIntegration, updateIntegrationRow } from '../integrations/store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { inTransaction } from './in-transaction.ts'
import { checkConfig, checkName, decryptConfig, requireKind } from './integration-config.ts'
import { knownRecipients, recipientOf, requestRecipient } from './recipients.ts'

interface IntegrationChange {
  project: Project
  /** an integration of the project */
  channel: StoredIntegration
  /** what is undefined stays */
  name?: unknown
  disabled?: unknown
  /** keeps the stored secrets that it leaves out while they go to the same origin; null drops one */
  config?: unknown
}

/**
 * Changes what is given of an integration. The recipient of an e-mail integration is asked first when it is another one
 * than before whose consent is not known.
 * @returns whether a recipient is asked
 * @throws ValidationError that names the first member that is wrong, RateLimitedError when too many were asked
 */
export async function updateIntegration(
  db: Knex,
  actor: Actor,
  { project, channel, ...given }: IntegrationChange,
  deps: Pick<OperationDeps, 'config' | 'secrets' | 'outbox'>,
): Promise<{ isRefreshing: boolean }> {
  const changes: Parameters<typeof updateIntegrationRow>[2] = {}
  let newAddress: string | null = null
  if (given.name !== undefined) changes.name = checkName(given.name)
  if (typeof given.disabled === 'boolean') changes.disabled = given.disabled
  else if (given.disabled !== undefined) throw new ValidationError('disabled is not a boolean')
  if (given.config !== undefined) {
    const kind = requireKind(channel.kind)
    const stored = decryptConfig(channel, deps.secrets)
    const whole = withStoredSecrets(kind, configObject(given.config), stored)
    const config = await checkConfig({ db, config: deps.config }, project.id, kind, whole)
    if (config.value !== stored.value) newAddress = recipientOf(kind.kind, config)
    changes.sealedConfig = deps.secrets.seal('integration', JSON.stringify(config))
  }
  return await inTransaction(db, deps, async (tx, enqueue) => {
    const isKnown =
      enqueue === null || newAddress === null || (await knownRecipients({ ...deps, db: tx }, project.id))(newAddress)
    await updateIntegrationRow(tx, channel.id, { ...changes, ...(newAddress !== null && { isEmailVerified: isKnown }) })
    await insertActorAudit(tx, actor, { organisationId: project.organisationId, ...said(channel, changes) })
    if (enqueue === null || newAddress === null || isKnown) return { isRefreshing: false }
    await requestRecipient(tx, enqueue, deps, project.id, { uuid: channel.uuid, address: newAddress })
    return { isRefreshing: true }
  })
}

/** An entry of the audit log: switching on and off alone is said as such. */
function said(channel: StoredIntegration, changes: Parameters<typeof updateIntegrationRow>[2]) {
  const { disabled, ...others } = changes
  if (disabled !== undefined && Object.keys(others).length === 0) {
    const action = disabled ? 'integration.disabled' : 'integration.enabled'
    return { action, target: channel.name || channel.kind }
  }
  const label = findKind(channel.kind)?.label ?? channel.kind
  return { action: 'integration.changed', target: `${changes.name ?? channel.name} (${label})` }
}

function configObject(value: unknown): ConfigObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ValidationError('config is not an object')
  }
  return { ...value }
}
