import type { Knex } from 'knex'
import { NotFoundError, RateLimitedError } from '../../errors.ts'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { harmlessName } from '../../tenancy/mails/mail.ts'
import { type LinkMailDeps, queueLinkMail } from '../../tenancy/operations/link-mails.ts'
import { takeTokens } from '../../tenancy/rate-limits/store.ts'
import { email } from '../integrations/kinds/other.ts'
import type { ConfigObject } from '../integrations/shown-config.ts'
import {
  deleteVerifiedRecipient,
  insertVerifiedRecipient,
  listIntegrations,
  listMemberAddresses,
  listVerifiedRecipients,
  type StoredIntegration,
  confirmRecipient as storeConfirmation,
  updateIntegrationRow,
} from '../integrations/store.ts'
import { findProjectName, findProjectOrganisation } from '../projects/changes-store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { decryptConfig } from './integration-config.ts'

/** Consent requests to one address and of one project. An empty bucket refills within 900 s. */
const PER_RECIPIENT = 10
const PER_PROJECT = 40
const SHARE_PER_SECOND = 1 / 900

export interface LinkedIntegration {
  id: number
  projectId: number
  name: string
  kind: string
  sealedConfig: string
}

export function recipientOf(kind: string, config: ConfigObject): string | null {
  return kind === email.kind ? String(config.value) : null
}

/** Case is ignored. */
function recipientText(address: string): string {
  return `recipient:${address.toLowerCase()}`
}

/**
 * No request is needed for verified members, recipients that consented in this project, and those of its verified
 * integrations. Others must not get unrequested mails (docs/spec/monitoring.md#webhooks).
 */
export async function knownRecipients(
  { db, secrets }: { db: Knex; secrets: Secrets },
  projectId: number,
): Promise<(address: string) => boolean> {
  const members = await listMemberAddresses(db, projectId)
  const digests = await listVerifiedRecipients(db, projectId)
  const integrations = await listIntegrations(db, projectId)
  const consented = new Set(digests.map((digest) => digest.toString('hex')))
  const sendingTo = integrations
    .filter((one) => one.kind === email.kind && one.isEmailVerified && one.disabledAt === null)
    .map((one) => String(decryptConfig(one, secrets).value).toLowerCase())
  const addresses = new Set([...members, ...sendingTo])
  return (address) =>
    addresses.has(address.toLowerCase()) ||
    secrets.digests(recipientText(address)).some((digest) => consented.has(digest.toString('hex')))
}

export interface Requested {
  uuid: string
  address: string
  /** entered the address */
  actor?: Actor
}

/** Further ones can be requested later on the page of the integration. Returns the number of mails. */
export async function requestRecipients(
  tx: Knex,
  enqueue: Enqueue,
  deps: LinkMailDeps,
  projectId: number,
  requested: readonly Requested[],
): Promise<number> {
  if (requested.length === 0) return 0
  const { secrets } = deps
  const bucketOf = (address: string) => `confirm:to:${secrets.digest(recipientText(address)).toString('base64url')}`
  const projectBucket = `confirm:of:${projectId}`
  const buckets = new Map(requested.map(({ address }) => [bucketOf(address), 1] as const))
  const grants = await takeTokens(
    tx,
    [
      { bucket: projectBucket, wanted: Math.min(buckets.size, PER_PROJECT), capacity: PER_PROJECT },
      ...[...buckets].map(([bucket, wanted]) => ({ bucket, wanted, capacity: PER_RECIPIENT })),
    ],
    SHARE_PER_SECOND,
  )
  const project = await findProjectName(tx, projectId)
  let left = grants.find(({ bucket }) => bucket === projectBucket)?.granted ?? 0
  let count = 0
  for (const { bucket, granted } of grants) {
    const one = requested.find(({ address }) => bucketOf(address) === bucket)
    if (!one || granted < 1 || left < 1) continue
    left -= 1
    count += 1
    await mailRequest(tx, enqueue, deps, { ...one, project })
  }
  return count
}

/** @throws RateLimitedError beyond the limits, which rolls back the caller's transaction */
export async function requestRecipient(
  tx: Knex,
  enqueue: Enqueue,
  deps: LinkMailDeps,
  projectId: number,
  requested: Requested,
): Promise<void> {
  if ((await requestRecipients(tx, enqueue, deps, projectId, [requested])) === 1) return
  throw new RateLimitedError('Too many requests for consent. Wait a few minutes, then try again.', 120)
}

/** Users choose names freely and could abuse the mail for their own text, so it contains only harmless ones. */
async function mailRequest(
  tx: Knex,
  enqueue: Enqueue,
  { config, secrets }: LinkMailDeps,
  { uuid, address, actor, project }: Requested & { project: string },
): Promise<void> {
  const name = harmlessName(project)
  const checks = name === null ? 'checks of a project' : `checks of the project "${name}"`
  const entered = actor?.kind === 'person' ? `${actor.email} entered this address` : 'This address was entered'
  const signature = secrets.digest(confirmText(uuid, address)).toString('base64url')
  await queueLinkMail(
    tx,
    enqueue,
    { config, secrets },
    {
      to: address,
      subject: `Do you want alerts from ${config.siteName}?`,
      lead: `${entered} to receive alerts from ${config.siteName} when ${checks} go down and come up again. Nothing is sent until you agree. The page names the project.`,
      action: 'See the request',
      path: `/integrations/${uuid}/confirm/${signature}`,
      foot: 'If you did not expect this mail, no action is needed: you will not receive alerts.',
    },
  )
}

/** Contains the address, so that a new address invalidates the link. */
export function confirmText(uuid: string, address: string): string {
  return `confirm:${uuid}:${address}`
}

/** Applies to all integrations of the project with the same address. @throws NotFoundError */
export async function confirmRecipient(
  db: Knex,
  actor: Actor,
  integration: LinkedIntegration,
  { secrets }: { secrets: Secrets },
): Promise<void> {
  const address = recipientOf(integration.kind, decryptConfig(integration, secrets)) ?? ''
  await transaction(db, async (tx) => {
    await storeConfirmation(tx, integration)
    await insertVerifiedRecipient(tx, integration.projectId, secrets.digest(recipientText(address)))
    const organisationId = await findProjectOrganisation(tx, integration.projectId)
    if (organisationId === null) throw new NotFoundError('The integration does not exist any more.')
    const target = integration.name || integration.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.confirmed', target })
  })
}

/** @throws NotFoundError if the recipient has consented already, RateLimitedError after too many consent requests */
export async function requestVerificationAgain(
  actor: Actor,
  { project, integration }: { project: Project; integration: StoredIntegration },
  deps: Pick<OperationDeps, 'config' | 'secrets'> & { outbox: Pick<Outbox, 'run'> },
): Promise<void> {
  if (integration.isEmailVerified) throw new NotFoundError('The recipient of this integration has consented already.')
  const address = recipientOf(integration.kind, decryptConfig(integration, deps.secrets)) ?? ''
  await deps.outbox.run(async (tx, enqueue) => {
    await requestRecipient(tx, enqueue, deps, project.id, { uuid: integration.uuid, address, actor })
    const { organisationId } = project
    const target = integration.name || integration.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.recipient-requested', target })
  })
}

/** Also deletes the consent. @throws NotFoundError if the integration was deleted */
export async function unsubscribeRecipient(
  db: Knex,
  actor: Actor,
  integration: LinkedIntegration,
  { secrets }: { secrets: Secrets },
): Promise<void> {
  const address = recipientOf(integration.kind, decryptConfig(integration, secrets))
  await transaction(db, async (tx) => {
    await updateIntegrationRow(tx, integration.id, { disabled: true })
    if (address !== null) {
      await deleteVerifiedRecipient(tx, integration.projectId, secrets.digests(recipientText(address)))
    }
    const organisationId = await findProjectOrganisation(tx, integration.projectId)
    if (organisationId === null) throw new NotFoundError('The integration does not exist any more.')
    const target = integration.name || integration.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.unsubscribed', target })
  })
}
