import type { Knex } from 'knex'
import { NotFoundError, RateLimitedError } from '../../errors.ts'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
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
import { findProjectOrganisation } from '../projects/changes-store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { decryptConfig } from './integration-config.ts'

/** Requests for consent: to one address, and of one project. A quarter of an hour refills a bucket. */
const PER_RECIPIENT = 10
const PER_PROJECT = 40
const SHARE_PER_SECOND = 1 / 900

/** An integration as the holder of a link in one of its mails reaches it. */
export interface LinkedIntegration {
  id: number
  projectId: number
  name: string
  kind: string
  sealedConfig: string
}

/** The address that an e-mail integration sends to; null for other kinds. */
export function recipientOf(kind: string, config: ConfigObject): string | null {
  return kind === email.kind ? String(config.value) : null
}

/** What is stored of an address whose holder agreed: the same for every spelling of its letters. */
function recipientText(address: string): string {
  return `recipient:${address.toLowerCase()}`
}

/**
 * Whose consent is known: members of the organisation whose address is verified, and whoever agreed in this project
 * before. With other addresses this installation would send unrequested mails (docs/spec/monitoring.md#webhooks).
 */
export async function knownRecipients(
  { db, secrets }: { db: Knex; secrets: Secrets },
  projectId: number,
): Promise<(address: string) => boolean> {
  const members = await listMemberAddresses(db, projectId)
  const digests = await listVerifiedRecipients(db, projectId)
  const channels = await listIntegrations(db, projectId)
  const agreed = new Set(digests.map((digest) => digest.toString('hex')))
  const sendingTo = channels
    .filter((one) => one.kind === email.kind && one.isEmailVerified && one.disabledAt === null)
    .map((one) => String(decryptConfig(one, secrets).value).toLowerCase())
  const addresses = new Set([...members, ...sendingTo])
  return (address) =>
    addresses.has(address.toLowerCase()) ||
    secrets.digests(recipientText(address)).some((digest) => agreed.has(digest.toString('hex')))
}

/** An e-mail integration whose recipient is to be asked. */
export interface Requested {
  uuid: string
  address: string
}

/**
 * Asks recipients whether they want the mails of an integration, as far as the limits allow; the others can be asked
 * later, from the page of their integration.
 * @returns how many are asked
 */
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
  const ofProject = `confirm:of:${projectId}`
  const buckets = new Map(requested.map(({ address }) => [bucketOf(address), 1] as const))
  const grants = await takeTokens(
    tx,
    [
      { bucket: ofProject, wanted: Math.min(buckets.size, PER_PROJECT), capacity: PER_PROJECT },
      ...[...buckets].map(([bucket, wanted]) => ({ bucket, wanted, capacity: PER_RECIPIENT })),
    ],
    SHARE_PER_SECOND,
  )
  let left = grants.find(({ bucket }) => bucket === ofProject)?.granted ?? 0
  let count = 0
  for (const { bucket, granted } of grants) {
    const one = requested.find(({ address }) => bucketOf(address) === bucket)
    if (!one || granted < 1 || left < 1) continue
    left -= 1
    count += 1
    await mailRequest(tx, enqueue, deps, one)
  }
  return count
}

/** Asks one recipient. @throws RateLimitedError beyond the limits: the caller's transaction stores nothing then */
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

/** The mail holds no name: whoever asks chooses them freely, and could make the mail say anything. */
async function mailRequest(
  tx: Knex,
  enqueue: Enqueue,
  { config, secrets }: LinkMailDeps,
  { uuid, address }: Requested,
): Promise<void> {
  const signature = secrets.digest(confirmText(uuid, address)).toString('base64url')
  await queueLinkMail(
    tx,
    enqueue,
    { config, secrets },
    {
      to: address,
      subject: `Do you want alerts by ${config.siteName}?`,
      lead: `${config.siteName} is to tell this address when checks of a project go down and come up again. It begins once you agree, on a page that names the project:`,
      path: `/integrations/${uuid}/confirm/${signature}`,
      foot: 'If you do not know what this is about, nothing needs to be done: you get no alerts.',
    },
  )
}

/** What the signature of a link to agree by is of: another address in its place ends it. */
export function confirmText(uuid: string, address: string): string {
  return `confirm:${uuid}:${address}`
}

/**
 * The recipient of an e-mail integration agrees to its mails, and with that to those of others of the project.
 * @throws NotFoundError when the integration is gone
 */
export async function confirmRecipient(
  db: Knex,
  actor: Actor,
  channel: LinkedIntegration,
  { secrets }: { secrets: Secrets },
): Promise<void> {
  const address = recipientOf(channel.kind, decryptConfig(channel, secrets)) ?? ''
  await transaction(db, async (tx) => {
    await storeConfirmation(tx, channel)
    await insertVerifiedRecipient(tx, channel.projectId, secrets.digest(recipientText(address)))
    const organisationId = await findProjectOrganisation(tx, channel.projectId)
    if (organisationId === null) throw new NotFoundError('The integration is gone.')
    const target = channel.name || channel.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.confirmed', target })
  })
}

/**
 * Asks the recipient of an e-mail integration once more whether they want its mails.
 * @throws NotFoundError when they need not be asked, RateLimitedError when too many were asked
 */
export async function requestVerificationAgain(
  actor: Actor,
  { project, channel }: { project: Project; channel: StoredIntegration },
  deps: Pick<OperationDeps, 'config' | 'secrets'> & { outbox: Pick<Outbox, 'run'> },
): Promise<void> {
  if (channel.isEmailVerified) throw new NotFoundError('There is nothing to ask the recipient of this integration.')
  const address = recipientOf(channel.kind, decryptConfig(channel, deps.secrets)) ?? ''
  await deps.outbox.run(async (tx, enqueue) => {
    await requestRecipient(tx, enqueue, deps, project.id, { uuid: channel.uuid, address })
    const { organisationId } = project
    const target = channel.name || channel.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.recipient-asked', target })
  })
}

/**
 * The recipient of an e-mail integration ends it: it is switched off, and the next one with this address asks again.
 * @throws NotFoundError when the integration is gone
 */
export async function unsubscribeRecipient(
  db: Knex,
  actor: Actor,
  channel: LinkedIntegration,
  { secrets }: { secrets: Secrets },
): Promise<void> {
  const address = recipientOf(channel.kind, decryptConfig(channel, secrets))
  await transaction(db, async (tx) => {
    await updateIntegrationRow(tx, channel.id, { disabled: true })
    if (address !== null) {
      await deleteVerifiedRecipient(tx, channel.projectId, secrets.digests(recipientText(address)))
    }
    const organisationId = await findProjectOrganisation(tx, channel.projectId)
    if (organisationId === null) throw new NotFoundError('The integration is gone.')
    const target = channel.name || channel.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.unsubscribed', target })
  })
}
