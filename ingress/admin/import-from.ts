import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { CacheChange } from '#shared/contracts/ingress-messages.ts'
import { DomainError } from '#shared/errors.ts'
import { fromCronitor } from '#shared/monitoring/move-in/cronitor.ts'
import { fromCrontab, rewriteCrontab } from '#shared/monitoring/move-in/crontab.ts'
import { fromHealthchecks } from '#shared/monitoring/move-in/healthchecks.ts'
import { fromHealthchecksRows } from '#shared/monitoring/move-in/healthchecks-rows.ts'
import { readHealthchecksDatabase } from '#shared/monitoring/move-in/healthchecks-store.ts'
import type { Imported } from '#shared/monitoring/move-in/imported.ts'
import { readUptimeKuma } from '#shared/monitoring/move-in/kuma-store.ts'
import { type MoveInReport, reportLines } from '#shared/monitoring/move-in/report.ts'
import { fromUptimeKuma } from '#shared/monitoring/move-in/uptime-kuma.ts'
import {
  addImportedKeys,
  checkImportedKeys,
  type ImportedKeys,
  usableKeys,
} from '#shared/monitoring/operations/import-keys.ts'
import { moveIn, pingUrls } from '#shared/monitoring/operations/move-in.ts'
import type { MoveInOptions } from '#shared/monitoring/operations/plan-move-in.ts'
import { importClient, readHealthchecks } from '#shared/monitoring/operations/read-healthchecks.ts'
import { startWatching } from '#shared/monitoring/operations/start-watching.ts'
import type { Project } from '#shared/monitoring/projects/store.ts'
import { announceOnce } from '#shared/platform/broker/announce-once.ts'
import { nowMicros } from '#shared/time.ts'
import {
  type AdminContext,
  type Command,
  numberOf,
  type Options,
  type Output,
  operatorOf,
  secretOf,
  textOf,
  UsageError,
} from './command.ts'
import { requireProject } from './project.ts'

const common = {
  project: { description: 'id of the project', value: 'ID', required: true },
  plan: { description: 'show the changes only; this is the default' },
  apply: { description: 'make the changes' },
  'skip-conflicts': { description: 'apply the rest, and leave checks in conflict unchanged' },
  overwrite: { description: 'take the setting of the source where both changed it' },
  reclaim: { description: 'use uuids again that another organisation deleted' },
} as const

const commonHelp = [
  'An import deletes nothing, and importing twice changes nothing. New checks wait for their first ping.',
  'Exit status 3: there are conflicts, and without --skip-conflicts nothing was changed.',
]

const healthchecks: Command = {
  noun: 'import-from',
  verb: 'healthchecks',
  summary: 'Take over a Healthchecks project by its API or from its database',
  examples: [
    'import-from healthchecks --project ID --url https://healthchecks.io --api-key-file key.txt',
    'import-from healthchecks --project ID --database hc.sqlite',
  ],
  options: {
    ...common,
    url: { description: 'address of its pages, to use its API', value: 'URL' },
    database: {
      description: 'its SQLite file or the URL of its PostgreSQL database; default: the setting IMPORT_DATABASE_URL',
      value: 'FILE|URL',
    },
    'hc-project': { description: 'code of its project, if the database has several', value: 'CODE' },
    'api-key-file': {
      description: 'file with its read-write API key; - reads standard input; default: the setting IMPORT_API_KEY',
      value: 'FILE',
    },
    'api-key': { description: 'the key itself, which other users of this machine can see', value: 'KEY' },
    'ping-key': { description: 'its ping key, so that addresses with slugs continue to work', value: 'KEY' },
    'keep-api-key': { description: 'accept the API key here too, for existing API clients' },
  },
  help: [
    'Checks keep uuid, slug and badge key, so ping addresses stay the same.',
    'The database (3.0 to 4.3) also has the settings of integrations and the ping key. It is only read.',
    ...commonHelp,
  ],
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const database = databaseOf(options, context)
    const pingKey = typeof options['ping-key'] === 'string' ? options['ping-key'] : undefined
    checkImportedKeys({ pingKey })
    const source =
      database === null
        ? await readByApi(options, context, pingKey)
        : await readDatabase(options, context, { project, pingKey, ...database })
    const report = await run(options, context, { project, ...source })
    return { ...outputOf(report), warnings: source.warnings }
  },
}

type FromHealthchecks = Omit<Import, 'project'> & { warnings: readonly string[] }

async function readByApi(options: Options, context: AdminContext, pingKey?: string): Promise<FromHealthchecks> {
  const { apiKey, warnings } = await apiKeyOf(options, context)
  const keys: ImportedKeys = { pingKey, apiKey: options['keep-api-key'] === true ? apiKey : undefined }
  checkImportedKeys(keys)
  await using http = importClient(context.config)
  const answers = await readHealthchecks(http, { url: textOf(options, 'url'), apiKey })
  return { imported: fromHealthchecks(answers), keys, warnings }
}

async function readDatabase(
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
function databaseOf(options: Options, { config }: AdminContext): { address: string; warnings: string[] } | null {
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

const crontab: Command = {
  noun: 'import-from',
  verb: 'crontab',
  summary: 'Create a check for each line of a crontab, and print the changed crontab',
  examples: ['import-from crontab --project ID --file - --apply'],
  options: {
    ...common,
    file: { description: 'the crontab; - reads standard input', value: 'FILE', required: true },
    tz: { description: 'time zone of the lines (default: CRON_TZ of the file)', value: 'ZONE' },
    host: { description: 'tag of the checks (default: name of this machine)', value: 'NAME' },
    grace: { description: 'grace time in seconds (default: 3600)', value: 'N' },
    system: { description: 'lines have a user, as in /etc/crontab; default for files below /etc' },
    write: { description: 'also write the changed crontab to this file', value: 'FILE' },
  },
  help: ['Changes no crontab of the system: install the changed text with `crontab FILE`.', ...commonHelp],
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const file = textOf(options, 'file')
    const text = await readText(file)
    const { imported, jobs } = fromCrontab(text, {
      tz: typeof options.tz === 'string' ? options.tz : null,
      host: typeof options.host === 'string' ? options.host : hostname(),
      grace: numberOf(options, 'grace') ?? 3600,
      isSystem: options.system === true || /^\/etc\/(crontab$|cron\.d\/)/.test(file),
      publicUrl: context.config.publicUrl,
    })
    const report = await run(options, context, { project, imported, keys: {} })
    const urls = await pingUrls(context.db, { project, imported, report }, context)
    const changed = rewriteCrontab(text, jobs, (key) => urls.get(key))
    if (typeof options.write === 'string') await writeFile(options.write, changed.text)
    const output = outputOf(report)
    return { ...output, json: { ...report, diff: changed.diff }, text: `${output.text}\n${changed.diff}`.trimEnd() }
  },
}

const cronitor: Command = {
  noun: 'import-from',
  verb: 'cronitor',
  summary: 'Take over jobs and heartbeats of a Cronitor export',
  options: {
    ...common,
    file: { description: 'the YAML export; - reads standard input', value: 'FILE', required: true },
  },
  help: ['Ping addresses change; the jobs must call the new ones.', ...commonHelp],
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const imported = fromCronitor(await readText(textOf(options, 'file')))
    return await outputOfFile(options, context, { project, imported, keys: {} })
  },
}

const uptimeKuma: Command = {
  noun: 'import-from',
  verb: 'uptime-kuma',
  summary: 'Take over the push monitors of Uptime Kuma',
  options: { ...common, file: { description: 'kuma.db (2.x) or backup.json (1.x)', value: 'FILE', required: true } },
  help: [
    'Push addresses continue to work if the host name of the old server points to this installation.',
    ...commonHelp,
  ],
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const file = textOf(options, 'file')
    const monitors = await readUptimeKuma(file).catch((error: unknown) => {
      throw error instanceof DomainError ? error : new UsageError(`${file} cannot be read`, { cause: error })
    })
    return outputOf(await run(options, context, { project, imported: fromUptimeKuma(monitors), keys: {} }))
  },
}

const start: Command = {
  noun: 'import-from',
  verb: 'start',
  summary: 'Expect the first pings of imported checks from now on',
  options: { project: common.project },
  help: ['A check that no ping reaches goes down after its period and grace time, as if a ping had come now.'],
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const changes: CacheChange[] = []
    const deps = { now: nowMicros, announce: (change: CacheChange) => void changes.push(change) }
    const watched = await startWatching(context.db, operatorOf(context), project, deps)
    await announceOnce(context.config.amqpUrl, changes)
    return { json: { watched }, text: `watching ${watched} checks that no ping has reached` }
  },
}

export const importFromCommands: readonly Command[] = [healthchecks, crontab, cronitor, uptimeKuma, start]

interface Import {
  project: Project
  imported: Imported
  keys: ImportedKeys
}

async function run(
  options: Options,
  context: AdminContext,
  { project, imported, keys }: Import,
): Promise<MoveInReport> {
  if (options.plan === true && options.apply === true) throw new UsageError('--plan and --apply exclude each other')
  const actor = operatorOf(context)
  const moveInOptions: MoveInOptions = {
    apply: options.apply === true,
    skipConflicts: options['skip-conflicts'] === true,
    overwrite: options.overwrite === true,
    reclaim: options.reclaim === true,
    also: (tx) => addImportedKeys(tx, actor, { project, keys }, context),
  }
  const changes: CacheChange[] = []
  const announce = (change: CacheChange) => void changes.push(change)
  const deps = { ...context, outbox: null, announce, now: nowMicros }
  const report = await moveIn(context.db, actor, { project, imported, options: moveInOptions }, deps)
  if (report.applied) announce({ kind: 'project', projectId: project.id })
  await announceOnce(context.config.amqpUrl, changes)
  return report
}

function outputOf(report: MoveInReport): Output {
  return { json: report, text: reportLines(report).join('\n'), conflicts: report.conflicts.length > 0 }
}

/** Adds the ping addresses, which the source does not have. */
async function outputOfFile(options: Options, context: AdminContext, input: Import): Promise<Output> {
  const report = await run(options, context, input)
  const urls = await pingUrls(context.db, { ...input, report }, context)
  const pairs = [...urls].map(([key, url]) => ({ key, url }))
  const output = outputOf(report)
  const lines = pairs.map(({ key, url }) => `  ${key}: ${url}`)
  return {
    ...output,
    json: { ...report, urls: pairs },
    text: [output.text, 'New ping addresses:', ...lines].join('\n'),
  }
}

async function apiKeyOf(options: Options, { config }: AdminContext): Promise<{ apiKey: string; warnings: string[] }> {
  const file = options['api-key-file']
  if (typeof file === 'string') return { apiKey: (await readText(file)).trim(), warnings: [] }
  if (options['api-key'] === undefined && config.importApiKey !== undefined) {
    return { apiKey: config.importApiKey, warnings: [] }
  }
  const apiKey = await secretOf(options, 'api-key')
  if (options['api-key'] === '-') return { apiKey, warnings: [] }
  return { apiKey, warnings: ['--api-key shows the key to every user of this machine; use --api-key-file'] }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file === '-' ? '/dev/stdin' : file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read`, { cause: error })
  }
}
