import type { Knex } from 'knex'
import { RateLimitedError } from '../../errors.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { type LinkMailDeps, queueLinkMail } from '../../tenancy/operations/queue-link-mail.ts'
import { takeTokens } from '../../tenancy/rate-limits/store.ts'
import { email } from '../integrations/kinds/email.ts'
import { listMemberAddresses, listVerifiedRecipients } from '../integrations/recipient-store.ts'
import type { ConfigObject } from '../integrations/shown-config.ts'
import { listIntegrations } from '../integrations/store.ts'
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
export function recipientText(address: string): string {
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
