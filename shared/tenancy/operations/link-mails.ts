import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { mailDue } from '../../contracts/worker-messages.ts'
import { RateLimitedError } from '../../errors.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { LinkMail, WrittenMail } from '../mails/mail.ts'
import { insertMail } from '../mails/store.ts'
import { secondsUntilToken, takeTokens } from '../rate-limits/store.ts'

export interface LinkMailDeps {
  config: Pick<Config, 'publicUrl' | 'siteName' | 'smtpUrl'>
  secrets: Secrets
}

/** Links use the configured public address, never the request's. Returns false when no mail server is configured. */
export async function queueLinkMail(
  tx: Knex,
  enqueue: Enqueue,
  { config, secrets }: LinkMailDeps,
  { path, ...mail }: Omit<LinkMail, 'url'> & { path: string },
): Promise<boolean> {
  if (config.smtpUrl === undefined) return false
  const id = randomUUID()
  const whole: LinkMail = { ...mail, url: config.publicUrl + path }
  await insertMail(tx, { id, sealedMail: secrets.seal('mail', JSON.stringify(whole)) })
  await enqueue(mailDue, { mailId: id })
  return true
}

export async function queueWrittenMail(
  tx: Knex,
  enqueue: Enqueue,
  { secrets }: { secrets: Secrets },
  { id, ...mail }: WrittenMail & { id: string },
): Promise<void> {
  await insertMail(tx, { id, sealedMail: secrets.seal('mail', JSON.stringify(mail)) })
  await enqueue(mailDue, { mailId: id })
}

/** All processes share the bucket. @throws RateLimitedError */
export async function takeToken(db: Knex, bucket: string, perMinute: number, refusal: string): Promise<void> {
  const share = 1 / 60
  const [grant] = await takeTokens(db, [{ bucket, wanted: 1, capacity: perMinute }], share)
  if (grant && grant.granted > 0) return
  throw new RateLimitedError(refusal, secondsUntilToken(grant?.left ?? 0, perMinute, share))
}
