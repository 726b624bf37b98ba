import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import { ConflictError } from '#shared/errors.ts'
import {
  appliedMigrations,
  checksWithLowPingCount,
  countRows,
  sequencesBehind,
  unreadableSealedColumns,
} from '#shared/platform/database/inventory-store.ts'
import { schemaProblem } from '#shared/platform/database/migrate.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { findLogKey } from '#shared/transparency/log-keys/store.ts'
import { verifyStoredLog } from '#shared/transparency/operations/verify-stored-log.ts'
import type { Finding } from './command.ts'

const ENVS: readonly ApiEnv[] = ['SANDBOX', 'PRODUCTION']

/** Values that must be equal in a database and in a copy of it. */
export interface Inventory {
  migrations: string[]
  rows: Record<string, number>
  /** size and root of the newest checkpoint, by log */
  logs: Record<string, { size: number; root: string }>
}

/**
 * Counts the rows of each table and rebuilds each log from its entries. If others write meanwhile, the caller passes a
 * repeatable-read transaction. @throws ConflictError if a log does not match its signature
 */
export async function takeInventory(db: Knex): Promise<Inventory> {
  const logs: Inventory['logs'] = {}
  for (const env of ENVS) {
    const key = await findLogKey(db, env)
    if (!key) continue
    const { size, root, problem } = await verifyStoredLog(db, env, key)
    if (problem !== null) throw new ConflictError(`the log of ${env} is damaged: ${problem}`)
    logs[env] = { size, root }
  }
  return { migrations: await appliedMigrations(db), rows: await countRows(db), logs }
}

/**
 * Checks that a database is consistent in itself and that SECRET_KEY decrypts its values. A restored database may send
 * only if no finding is a problem.
 */
export async function databaseFindings(db: Knex, secrets: Pick<Secrets, 'open'>): Promise<Finding[]> {
  const problem = await schemaProblem(db)
  if (problem !== null) return [{ what: 'schema', ok: false, text: problem }]
  const unreadable = await unreadableSealedColumns(db, secrets)
  const behind = await sequencesBehind(db)
  const lowCounts = await checksWithLowPingCount(db)
  const findings = [
    finding('schema', '', 'is current'),
    finding(
      'secrets',
      unreadable.length > 0
        ? `${unreadable.map(({ column }) => column).join(', ')} cannot be decrypted: they were encrypted with another SECRET_KEY`
        : '',
      'can be decrypted with this SECRET_KEY',
    ),
    finding(
      'sequences',
      behind.length > 0 ? `the next value of ${behind.join(', ')} exists already` : '',
      'continue after the largest value of their columns',
    ),
    finding(
      'ping counts',
      lowCounts > 0 ? `n_pings of ${lowCounts} checks is lower than the number of a stored ping` : '',
      'include every stored ping',
    ),
  ]
  return [...findings, ...(await logFindings(db))]
}

/** Rebuilds each transparency log from its entries and compares it with its signed checkpoints. */
export async function logFindings(db: Knex): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const env of ENVS) {
    const key = await findLogKey(db, env)
    if (!key) continue
    const { size, root, problem } = await verifyStoredLog(db, env, key)
    const text = problem ?? `${size} entries, root ${root.slice(0, 16) || 'none'}`
    findings.push({ what: `log of ${env}`, ok: problem === null, text })
  }
  return findings
}

/** Compares a restored copy with the manifest of its backup. */
export function compareInventories(backup: Inventory, copy: Inventory): Finding[] {
  const different = Object.keys({ ...backup.rows, ...copy.rows }).filter(
    (name) => backup.rows[name] !== copy.rows[name],
  )
  const logs = Object.keys({ ...backup.logs, ...copy.logs }).filter(
    (env) => JSON.stringify(backup.logs[env]) !== JSON.stringify(copy.logs[env]),
  )
  return [
    finding(
      'rows',
      different.map((name) => `${name} ${backup.rows[name] ?? 'none'} -> ${copy.rows[name] ?? 'none'}`).join(', '),
      `equal in ${Object.keys(backup.rows).length} tables`,
    ),
    finding('logs', logs.length > 0 ? `${logs.join(', ')} differ` : '', 'have equal sizes and roots'),
    finding(
      'migrations',
      backup.migrations.join() === copy.migrations.join() ? '' : 'differ',
      `equal (${backup.migrations.length})`,
    ),
  ]
}

/** @param problem empty if there is none; then `okText` is shown */
function finding(what: string, problem: string, okText: string): Finding {
  return { what, ok: problem === '', text: problem || okText }
}
