import { readFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { ValidationError } from '../../errors.ts'
import { type KumaMonitor, readKumaBackup, tagText } from './uptime-kuma.ts'

const SQLITE_BEGINNING = 'SQLite format 3\0'

/**
 * Reads the monitors of a backup (1.x) or of the database (2.x) of Uptime Kuma. The database is not changed.
 * @throws ValidationError if the file is neither
 */
export async function readUptimeKuma(path: string): Promise<KumaMonitor[]> {
  const bytes = await readFile(path)
  const isDatabase = bytes.subarray(0, SQLITE_BEGINNING.length).toString('latin1') === SQLITE_BEGINNING
  return isDatabase ? readDatabase(path) : readKumaBackup(bytes)
}

function readDatabase(path: string): KumaMonitor[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    // Columns differ between releases, so absent ones must not be an error.
    const monitors = database.prepare(`SELECT * FROM monitor ORDER BY id`).all()
    const tags = database
      .prepare(`SELECT monitor_id, name, value FROM monitor_tag JOIN tag ON tag.id = tag_id ORDER BY monitor_tag.id`)
      .all()
    return monitors.map((row) => ({
      id: Number(row.id),
      type: textOf(row.type),
      name: textOf(row.name),
      description: textOf(row.description),
      interval: numberOf(row.interval),
      maxRetries: numberOf(row.maxretries),
      retryInterval: numberOf(row.retry_interval),
      isUpsideDown: numberOf(row.upside_down) === 1,
      isActive: numberOf(row.active) === 1,
      pushToken: textOf(row.push_token),
      tags: tags
        .filter(({ monitor_id: id }) => id === row.id)
        .map(({ name, value }) => tagText(textOf(name), textOf(value))),
    }))
  } catch {
    throw new ValidationError('the file is not a database of Uptime Kuma')
  } finally {
    database.close()
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
