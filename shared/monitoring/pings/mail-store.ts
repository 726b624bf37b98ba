import type { Knex } from 'knex'
import type { MailText } from '../../contracts/mail-text.ts'
import type { Prepared, RunPrepared } from '../../platform/database/prepared.ts'
import { execute } from '../../platform/database/sql.ts'

/** One row per recipient, until the evaluator moves it to the pings. `text` is from `packMailText`. */
export async function storeMail(
  db: Knex,
  ids: readonly string[],
  mail: { body: Buffer; text: Buffer | null },
): Promise<void> {
  const { text } = mail
  await execute(
    db,
    `INSERT INTO ping_bodies (id, body, text)
     SELECT t.id, mail.body, mail.text
     FROM unnest(?::uuid[]) AS t(id), (SELECT ?::bytea AS body, ?::bytea AS text) AS mail`,
    [ids, mail.body, text],
  )
}

export async function readStoredText(run: RunPrepared, id: string): Promise<MailText | null> {
  const [row] = await run(READ_TEXT, [id])
  if (!row?.text) return null
  const [subject = '', ...pieces] = texts(JSON.parse(row.text.toString('utf8')))
  return { subject, pieces }
}

const READ_TEXT: Prepared<{ text: Buffer | null }> = {
  name: 'read-stored-text',
  text: 'SELECT text FROM ping_bodies WHERE id = $1',
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** The broker did not accept the message, or the check was deleted. */
export async function pruneStoredMails(db: Knex, days: number): Promise<void> {
  await execute(db, 'DELETE FROM ping_bodies WHERE created_at < now() - make_interval(days => ?::int)', [days])
}
