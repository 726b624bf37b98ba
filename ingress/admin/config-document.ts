import { readFile } from 'node:fs/promises'
import type { CacheChange } from '#shared/contracts/ingress-messages.ts'
import { parseJsonBody } from '#shared/monitoring/checks/json-body.ts'
import { exportProject } from '#shared/monitoring/operations/export-project.ts'
import { importProject } from '#shared/monitoring/operations/import-project.ts'
import type { ImportReport, ObjectChanges } from '#shared/monitoring/projects/config-document.ts'
import { announceOnce } from '#shared/platform/broker/announce-once.ts'
import { type Command, operatorOf, textOf, UsageError } from './command.ts'
import { requireProject } from './project.ts'

const project = { description: 'id of the project', value: 'ID', required: true } as const

const exporting: Command = {
  noun: 'export',
  summary: 'Print the configuration of a project as one JSON document',
  options: {
    project,
    'with-secrets': { description: 'include the credentials of integrations: keep the result safe' },
  },
  async run(options, context) {
    const owner = await requireProject(textOf(options, 'project'), context)
    const input = { project: owner, withSecrets: options['with-secrets'] === true }
    const document = await exportProject(context.db, operatorOf(context), input, context)
    return { json: document, text: JSON.stringify(document, null, 2) }
  },
}

const importing: Command = {
  noun: 'import',
  summary: 'Compare a project with a document, or make it agree',
  options: {
    project,
    file: { description: 'the document; - reads standard input', value: 'FILE', required: true },
    apply: { description: 'make the changes; without it they are only shown' },
  },
  help: [
    'Reads what `export` prints, and lists of checks as the API of this or another service with it answers them',
    '(GET /api/v3/checks/ with the read-write key). Ids are kept, so ping URLs stay the same. Nothing is deleted.',
  ],
  async run(options, context) {
    const owner = await requireProject(textOf(options, 'project'), context)
    const file = textOf(options, 'file')
    const parsed = parseJsonBody(await readFile(file === '-' ? '/dev/stdin' : file))
    if (!parsed.ok) throw new UsageError(`${file}: ${parsed.error}`)
    const changes: CacheChange[] = []
    const deps = { ...context, outbox: null, announce: (change: CacheChange) => void changes.push(change) }
    const input = { project: owner, document: parsed.body, apply: options.apply === true }
    const report = await importProject(context.db, operatorOf(context), input, deps)
    await announceOnce(context.config.amqpUrl, changes)
    return { json: report, text: describe(report) }
  },
}

export const documentCommands: readonly Command[] = [exporting, importing]

function describe(report: ImportReport): string {
  const unknown = report.unknownIntegrations.map((id) => `integration ${id} is not known: not assigned`)
  return [
    report.applied ? 'Applied:' : 'Would change (apply with --apply):',
    ...changes('integrations', report.channels),
    ...changes('checks', report.checks),
    ...(report.schedules ? changes('schedules', report.schedules) : []),
    ...(report.policies ? changes('policies', report.policies) : []),
    ...(report.windows ? changes('windows', report.windows) : []),
    ...unknown,
    ...(report.unknownPeople ?? []).map((address) => `${address} is not a member`),
  ].join('\n')
}

function changes(what: string, { create, update, unchanged }: ObjectChanges): string[] {
  return [
    `${what}: ${create.length} new, ${update.length} changed, ${unchanged} the same`,
    ...create.map(({ id, name }) => `  + ${id} ${name}`),
    ...update.map((it) => `  ~ ${it.id} ${it.name}: ${Object.keys(it.changes).join(', ')}`),
  ]
}
