import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { mailDue } from '../../contracts/mail-due.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { LinkMail } from '../mails/link-mail.ts'
import { insertMail } from '../mails/store.ts'

/** What mails with links are made from. */
export interface LinkMailDeps {
  config: Pick<Config, 'publicUrl' | 'siteName' | 'smtpUrl'>
  secrets: Secrets
}

/**
 * Stores a short mail with one link, in the transaction of that link; a worker sends it. Links are built from the
 * configured public address, never from the request's.
 * @param mail.path what the link leads to on this installation
 * @returns whether it will be sent: false when no mail server is configured
 */
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
