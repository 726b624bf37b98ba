import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import {
  appliedMigrations,
  checksWithMissingSources,
  countRows,
  sealedColumnsUnreadable,
  sequencesBehind,
} from '#shared/platform/database/inventory-store.ts'
import { pendingMigrations } from '#shared/platform/database/migrate.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { findLogKey } from '#shared/transparency/log-keys/store.ts'
import { verifyStoredLog } from '#shared/transparency/operations/verify-stored-log.ts'
import type { Finding } from './command.ts'

const ENVS: readonly ApiEnv[] = ['SANDBOX', 'PRODUCTION']

/** Properties that a copy must share with its source. */
export interface Inventory {
  migrations: string[]
  rows: Record<string, number>
  /** size and root of the newest checkpoint, by log */
  logs: Record<string, { size: number; root: string }>
}

/**
 * Reads the database in one snapshot and rebuilds each log from its entries. @throws Error if a log does not match its
 * signature
 */
export async function takeInventory(db: Knex): Promise<Inventory> {
  const logs: Inventory['logs'] = {}
  for (const env of ENVS) {
    const key = await findLogKey(db, env)
    if (!key) continue
    const { size, root, problem } = await verifyStoredLog(db, env, key)
    if (problem !== null) throw new Error(`the log of ${env} is not well: ${problem}`)
    logs[env] = { size, root }
  }
  return { migrations: await appliedMigrations(db), rows: await countRows(db), logs }
}

/** Checks the internal consistency of a database: a restored one must pass before it is used. */
export async function databaseFindings(db: Knex, secrets: Pick<Secrets, 'open'>): Promise<Finding[]> {
  const pending = await pendingMigrations(db)
  if (pending.length > 0) {
    return [{ what: 'schema', ok: false, text: `${pending.length} migrations pending: npm run -s migrate` }]
  }
  const finding = (what: string, ill: string, well: string): Finding => ({ what, ok: ill === '', text: ill || well })
  const unreadable = await sealedColumnsUnreadable(db, secrets)
  const behind = await sequencesBehind(db)
  const few = await checksWithMissingSources(db)
  const findings = [
    finding('schema', '', 'is current'),
    finding(
      'secrets',
      unreadable.length > 0
        ? `${unreadable.map(({ column }) => column).join(', ')} cannot be opened: another SECRET_KEY was in use`
        : '',
      'open with this SECRET_KEY',
    ),
    finding('numbers', behind.length > 0 ? `${behind.join(', ')} would be given twice` : '', 'go on after the last'),
    finding('pings', few > 0 ? `${few} checks have logged more pings than they count` : '', 'are counted'),
  ]
  return [...findings, ...(await logFindings(db))]
}

/** Checks each transparency log: rebuilt from its entries, it must match the signed tree head. */
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
  const finding = (what: string, ill: string, well: string): Finding => ({ what, ok: ill === '', text: ill || well })
  return [
    finding(
      'rows',
      different.map((name) => `${name} ${backup.rows[name] ?? 'none'} -> ${copy.rows[name] ?? 'none'}`).join(', '),
      `the same in ${Object.keys(backup.rows).length} tables`,
    ),
    finding('logs', logs.length > 0 ? `${logs.join(', ')} differ` : '', 'have the same sizes and roots'),
    finding(
      'migrations',
      backup.migrations.join() === copy.migrations.join() ? '' : 'differ',
      `the same ${backup.migrations.length}`,
    ),
  ]
}
