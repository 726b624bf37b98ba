import { readFile } from 'node:fs/promises'
import { fromHealthchecks } from '#shared/monitoring/move-in/healthchecks.ts'
import { fromHealthchecksRows } from '#shared/monitoring/move-in/healthchecks-rows.ts'
import { readHealthchecksDatabase } from '#shared/monitoring/move-in/healthchecks-store.ts'
import type { Imported } from '#shared/monitoring/move-in/imported.ts'
import { checkImportedKeys, type ImportedKeys, usableKeys } from '#shared/monitoring/operations/import-keys.ts'
import { importClient, readHealthchecks } from '#shared/monitoring/operations/read-healthchecks.ts'
import type { Project } from '#shared/monitoring/projects/store.ts'
import { type AdminContext, type Options, secretOf, textOf, UsageError } from './command.ts'

interface FromHealthchecks {
  imported: Imported
  keys: ImportedKeys
  warnings: readonly string[]
}

export async function readByApi(options: Options, context: AdminContext, pingKey?: string): Promise<FromHealthchecks> {
  const { apiKey, warnings } = await apiKeyOf(options, context)
  const keys: ImportedKeys = { pingKey, apiKey: options['keep-api-key'] === true ? apiKey : undefined }
  checkImportedKeys(keys)
  await using http = importClient(context.config)
  const answers = await readHealthchecks(http, { url: textOf(options, 'url'), apiKey })
  return { imported: fromHealthchecks(answers), keys, warnings }
}

export async function readDatabase(
  options: Options,
  context: AdminContext,
  from: { project: Project; pingKey: string | undefined; address: string; warnings: readonly string[] },
): Promise<FromHealthchecks> {
  const code = typeof options['hc-project'] === 'string' ? options['hc-project'].toLowerCase() : undefined
  const rows = await readHealthchecksDatabase(from.address, code)
  const imported = fromHealthchecksRows(rows)
  // Since 3.11 the database has a digest of the key, which needs the secret of the other server.
  const isPlain = !rows.project.apiKey.includes('.')
  const wantsApiKey = options['keep-api-key'] === true && rows.project.apiKey !== ''
  if (wantsApiKey && !isPlain)
    imported.notTaken.push({ subject: 'API key', reason: 'the database has its digest only' })
  const stored = {
    ...(from.pingKey === undefined && rows.project.pingKey !== null && { pingKey: rows.project.pingKey }),
    ...(wantsApiKey && isPlain && { apiKey: rows.project.apiKey }),
  }
  const { keys, notTaken } = await usableKeys(context.db, from.project, stored, context)
  imported.notTaken.push(...notTaken)
  return {
    imported,
    keys: { ...keys, ...(from.pingKey !== undefined && { pingKey: from.pingKey }) },
    warnings: [...from.warnings, ...rows.warnings],
  }
}

/** @returns null if the API is used. @throws UsageError if no source or both sources are given */
export function databaseOf(options: Options, { config }: AdminContext): { address: string; warnings: string[] } | null {
  const { url, database } = options
  if (url !== undefined && database !== undefined) throw new UsageError('--url and --database exclude each other')
  if (url !== undefined) return null
  if (typeof database !== 'string') {
    if (config.importDatabaseUrl === undefined) throw new UsageError('--url or --database is missing')
    return { address: config.importDatabaseUrl, warnings: [] }
  }
  const hasPassword = URL.canParse(database) && new URL(database).password !== ''
  const warning = '--database shows the password to every user of this machine; use the setting IMPORT_DATABASE_URL'
  return { address: database, warnings: hasPassword ? [warning] : [] }
}

async function apiKeyOf(options: Options, { config }: AdminContext): Promise<{ apiKey: string; warnings: string[] }> {
  const file = options['api-key-file']
  if (typeof file === 'string') return { apiKey: (await readText(file)).trim(), warnings: [] }
  if (options['api-key'] === undefined && config.importApiKey !== undefined) {
    return { apiKey: config.importApiKey, warnings: [] }
  }
  if (options['api-key'] === undefined) {
    throw new UsageError('the API key is missing: use --api-key-file, the setting IMPORT_API_KEY, or --api-key')
  }
  const apiKey = await secretOf(options, 'api-key')
  if (options['api-key'] === '-') return { apiKey, warnings: [] }
  return { apiKey, warnings: ['--api-key shows the key to every user of this machine; use --api-key-file'] }
}

/** Reads a file, or standard input for `-`. @throws UsageError if it cannot be read */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file === '-' ? '/dev/stdin' : file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read`, { cause: error })
  }
}
