import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { CacheChange } from '#shared/contracts/ingress-messages.ts'
import { DomainError } from '#shared/errors.ts'
import { fromCronitor } from '#shared/monitoring/move-in/cronitor.ts'
import { fromCrontab, rewriteCrontab } from '#shared/monitoring/move-in/crontab.ts'
import type { Imported } from '#shared/monitoring/move-in/imported.ts'
import { readUptimeKuma } from '#shared/monitoring/move-in/kuma-store.ts'
import { type MoveInReport, reportLines } from '#shared/monitoring/move-in/report.ts'
import { fromUptimeKuma } from '#shared/monitoring/move-in/uptime-kuma.ts'
import { addImportedKeys, checkImportedKeys, type ImportedKeys } from '#shared/monitoring/operations/import-keys.ts'
import { moveIn, pingUrls } from '#shared/monitoring/operations/move-in.ts'
import type { MoveInOptions } from '#shared/monitoring/operations/plan-move-in.ts'
import { startWatching } from '#shared/monitoring/operations/start-watching.ts'
import type { Project } from '#shared/monitoring/projects/store.ts'
import { announceOnce } from '#shared/platform/broker/announce-once.ts'
import { nowMicros } from '#shared/time.ts'
import {
  type AdminContext,
  type Command,
  countOf,
  numberOf,
  type Options,
  type Output,
  operatorOf,
  textOf,
  UsageError,
} from './command.ts'
import { databaseOf, readByApi, readDatabase, readText } from './import-sources.ts'
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
    return { ...outputOf(options, report), warnings: source.warnings }
  },
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
    const output = outputOf(options, report)
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
    return outputOf(options, await run(options, context, { project, imported: fromUptimeKuma(monitors), keys: {} }))
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
    return { json: { watched }, text: `watching ${countOf(watched, 'check')} that no ping has reached` }
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

function outputOf(options: Options, report: MoveInReport): Output {
  const text = reportLines(report, options.apply === true).join('\n')
  return { json: report, text, conflicts: report.conflicts.length > 0 }
}

/** Adds the ping addresses, which the source does not have. */
async function outputOfFile(options: Options, context: AdminContext, input: Import): Promise<Output> {
  const report = await run(options, context, input)
  const urls = await pingUrls(context.db, { ...input, report }, context)
  const pairs = [...urls].map(([key, url]) => ({ key, url }))
  const output = outputOf(options, report)
  const lines = pairs.map(({ key, url }) => `  ${key}: ${url}`)
  return {
    ...output,
    json: { ...report, urls: pairs },
    text: [output.text, 'New ping addresses:', ...lines].join('\n'),
  }
}
