import type { Knex } from 'knex'
import { mailDue } from '../../contracts/mail-due.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertMail } from '../mails/store.ts'
import type { WrittenMail } from '../mails/written-mail.ts'

/** Stores a mail in the transaction of what it tells of; a worker sends it. @param id the row's, and its message id */
export async function queueWrittenMail(
  tx: Knex,
  enqueue: Enqueue,
  { secrets }: { secrets: Secrets },
  { id, ...mail }: WrittenMail & { id: string },
): Promise<void> {
  await insertMail(tx, { id, sealedMail: secrets.seal('mail', JSON.stringify(mail)) })
  await enqueue(mailDue, { mailId: id })
}
