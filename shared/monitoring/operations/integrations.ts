import type { Knex } from 'knex'
import { notificationDue } from '../../contracts/worker-messages.ts'
import { NotFoundError, ValidationError } from '../../errors.ts'
import type { Outbox } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Check } from '../checks/check.ts'
import { findKind } from '../integrations/kinds.ts'
import { type ConfigObject, withStoredSecrets } from '../integrations/shown-config.ts'
import {
  deleteIntegrationRow,
  insertIntegration,
  type StoredIntegration,
  updateIntegrationRow,
} from '../integrations/store.ts'
import { insertNotifications } from '../notifications/store.ts'
import { assignToAllChecks, assignToChecks, toggleAssignment } from '../pages/integration-store.ts'
import type { Project } from '../projects/store.ts'
import { auditCheck } from './check-changes.ts'
import { inTransaction, type OperationDeps } from './deps.ts'
import { checkConfig, checkName, decryptConfig, needsSettings, requireKind } from './integration-config.ts'
import { knownRecipients, recipientOf, requestRecipient } from './recipients.ts'

/** All checks that the project has now, or those with these uuids. */
type AssignedChecks = 'all' | readonly string[]

interface NewIntegration {
  project: Project
  kind: unknown
  name: unknown
  config: unknown
  checks?: AssignedChecks
}

/**
 * Mails a consent request to the recipient of an e-mail integration, unless the consent is known. @throws
 * ValidationError for the first invalid member, RateLimitedError after too many consent requests
 */
export async function createIntegration(
  db: Knex,
  actor: Actor,
  { project, checks = [], ...input }: NewIntegration,
  deps: Pick<OperationDeps, 'config' | 'secrets' | 'outbox'>,
): Promise<StoredIntegration> {
  const kind = requireKind(input.kind)
  const name = checkName(input.name)
  const config = await checkConfig({ db, config: deps.config }, project.id, kind, input.config)
  const sealedConfig = deps.secrets.seal('integration', JSON.stringify(config))
  const address = recipientOf(kind.kind, config)
  return await inTransaction(db, deps, async (tx, enqueue) => {
    const needsConsent =
      enqueue !== null && address !== null && !(await knownRecipients({ ...deps, db: tx }, project.id))(address)
    const created = { projectId: project.id, kind: kind.kind, name, sealedConfig, isEmailVerified: !needsConsent }
    const integration = await insertIntegration(tx, created)
    await assignChecks(tx, integration.id, project.id, checks)
    const { organisationId } = project
    await insertActorAudit(tx, actor, {
      organisationId,
      action: 'integration.created',
      target: `${name} (${kind.label})`,
    })
    if (needsConsent) await requestRecipient(tx, enqueue, deps, project.id, { uuid: integration.uuid, address, actor })
    return integration
  })
}

/** @throws ValidationError if the project does not have a check */
async function assignChecks(tx: Knex, integrationId: number, projectId: number, checks: AssignedChecks): Promise<void> {
  if (checks === 'all') return await assignToAllChecks(tx, integrationId, projectId)
  if (checks.length === 0) return
  const found = await assignToChecks(tx, integrationId, projectId, checks)
  const unknown = checks.filter((uuid) => !found.includes(uuid))
  if (unknown.length > 0) throw new ValidationError(`the project has no check ${unknown.join(', ')}`)
}

interface IntegrationChange {
  project: Project
  integration: StoredIntegration
  name?: unknown
  disabled?: unknown
  /** omitted secrets stay stored while the origin stays the same; null deletes a secret */
  config?: unknown
  /** uses it for these checks too */
  checks?: AssignedChecks
}

/**
 * `isRefreshing` is true if a consent request was mailed to a new recipient. @throws ValidationError for the first
 * invalid member, RateLimitedError after too many consent requests
 */
export async function updateIntegration(
  db: Knex,
  actor: Actor,
  { project, integration, checks = [], ...input }: IntegrationChange,
  deps: Pick<OperationDeps, 'config' | 'secrets' | 'outbox'>,
): Promise<{ isRefreshing: boolean }> {
  const changes: Parameters<typeof updateIntegrationRow>[2] = {}
  let newAddress: string | null = null
  if (input.name !== undefined) changes.name = checkName(input.name)
  if (typeof input.disabled === 'boolean') changes.disabled = input.disabled
  else if (input.disabled !== undefined) throw new ValidationError('disabled must be true or false')
  const isEmpty = needsSettings(integration, deps.secrets)
  if (isEmpty && input.config === undefined && changes.disabled === false) {
    throw new ValidationError('disabled must be true until the integration has its config')
  }
  if (input.config !== undefined) {
    const kind = requireKind(integration.kind)
    const stored = decryptConfig(integration, deps.secrets)
    const whole = withStoredSecrets(kind, configObject(input.config), stored)
    const config = await checkConfig({ db, config: deps.config }, project.id, kind, whole)
    if (config.value !== stored.value) newAddress = recipientOf(kind.kind, config)
    changes.sealedConfig = deps.secrets.seal('integration', JSON.stringify(config))
    if (isEmpty) changes.disabled ??= false
  }
  return await inTransaction(db, deps, async (tx, enqueue) => {
    const isKnown =
      enqueue === null || newAddress === null || (await knownRecipients({ ...deps, db: tx }, project.id))(newAddress)
    await updateIntegrationRow(tx, integration.id, {
      ...changes,
      ...(newAddress !== null && { isEmailVerified: isKnown }),
    })
    await assignChecks(tx, integration.id, project.id, checks)
    await insertActorAudit(tx, actor, { organisationId: project.organisationId, ...auditEntry(integration, changes) })
    if (enqueue === null || newAddress === null || isKnown) return { isRefreshing: false }
    await requestRecipient(tx, enqueue, deps, project.id, { uuid: integration.uuid, address: newAddress, actor })
    return { isRefreshing: true }
  })
}

function auditEntry(integration: StoredIntegration, changes: Parameters<typeof updateIntegrationRow>[2]) {
  const { disabled, ...others } = changes
  if (disabled !== undefined && Object.keys(others).length === 0) {
    const action = disabled ? 'integration.disabled' : 'integration.enabled'
    return { action, target: integration.name || integration.kind }
  }
  const label = findKind(integration.kind)?.label ?? integration.kind
  return { action: 'integration.changed', target: `${changes.name ?? integration.name} (${label})` }
}

function configObject(value: unknown): ConfigObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ValidationError('config must be an object')
  }
  return { ...value }
}

export async function deleteIntegration(
  db: Knex,
  actor: Actor,
  { project, integration }: { project: Project; integration: StoredIntegration },
): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await deleteIntegrationRow(tx, project.id, integration.uuid)))
      throw new NotFoundError('The integration does not exist any more.')
    const { organisationId } = project
    const target = integration.name || integration.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.deleted', target })
  })
}

/** Ignores integrations of other projects. */
export async function toggleIntegration(
  db: Knex,
  actor: Actor,
  { project, check, integrationUuid }: { project: Project; check: Check; integrationUuid: string },
): Promise<void> {
  await transaction(db, async (tx) => {
    await toggleAssignment(tx, check.id, project.id, integrationUuid)
    await auditCheck(tx, actor, project, 'check.integrations-changed', check)
  })
}

/** Uses the same path as every other notification. Returns its id. */
export async function testIntegration(
  actor: Actor,
  {
    project,
    integration,
    status = 'down',
  }: { project: Project; integration: StoredIntegration; status?: 'up' | 'down' },
  deps: { outbox: Pick<Outbox, 'run'> },
): Promise<string> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const test = { flipId: null, checkId: null, status }
    const [notificationId] = await insertNotifications(tx, test, [integration.id])
    if (notificationId === undefined) throw new Error('the test message was not stored')
    await enqueue(notificationDue, { notificationId })
    const { organisationId } = project
    const target = integration.name || integration.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.tested', target })
    return notificationId
  })
}
