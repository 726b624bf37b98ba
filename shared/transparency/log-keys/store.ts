import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { LOG_KEY, type NoteKey, type NoteSigner, noteKey, signerFromSeed } from '../anchoring/note-key.ts'

/** A part of the log's origin; the logs of the two environments are separate. */
export function logName(env: ApiEnv): 'sandbox' | 'production' {
  return env === 'SANDBOX' ? 'sandbox' : 'production'
}

export function envOfLog(name: string): ApiEnv | undefined {
  if (name === 'sandbox') return 'SANDBOX'
  return name === 'production' ? 'PRODUCTION' : undefined
}

interface LogKeyRow {
  name: string
  publicKey: Buffer
  sealedSeed: string
}

/** Undefined before the log's first use. */
export async function findLogKey(db: Knex, env: ApiEnv): Promise<NoteKey | undefined> {
  const row = await readLogKey(db, env)
  return row && noteKey(row.name, LOG_KEY, row.publicKey)
}

/**
 * The first call creates the key; its origin is the address of the API at that time, and does not change. Throws if
 * the seed was sealed under another SECRET_KEY.
 */
export async function ensureLogSigner(db: Knex, secrets: Secrets, env: ApiEnv, publicUrl: string): Promise<NoteSigner> {
  const known = await readLogKey(db, env)
  const row = known ?? (await makeLogKey(db, secrets, env, publicUrl))
  return signerFromSeed(row.name, LOG_KEY, Buffer.from(secrets.open('log-key', row.sealedSeed), 'base64'))
}

async function makeLogKey(db: Knex, secrets: Secrets, env: ApiEnv, publicUrl: string): Promise<LogKeyRow> {
  const { host, pathname } = new URL(publicUrl)
  const name = `${host}${pathname.replace(/\/$/, '')}/anchors/${logName(env)}`
  const seed = randomBytes(32)
  const { key } = signerFromSeed(name, LOG_KEY, seed)
  await execute(
    db,
    'INSERT INTO log_keys (env, name, public_key, sealed_seed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    [env, name, Buffer.from(key.publicKey), secrets.seal('log-key', seed.toString('base64'))],
  )
  const row = await readLogKey(db, env)
  if (!row) throw new Error('the key of the log was not stored')
  return row
}

const LOG_KEY_ROW_COLUMNS = columns<LogKeyRow>({ name: 'name', publicKey: 'public_key', sealedSeed: 'sealed_seed' })

async function readLogKey(db: Knex, env: ApiEnv): Promise<LogKeyRow | undefined> {
  const rows = await query(db, typed`SELECT ${LOG_KEY_ROW_COLUMNS} FROM log_keys WHERE env = ?`, [env])
  return rows[0]
}
