import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import { findKind, integrationKinds } from '#shared/monitoring/integrations/kinds.ts'
import type { ConfigObject } from '#shared/monitoring/integrations/shown-config.ts'
import { findIntegration, listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { createIntegration, deleteIntegration, updateIntegration } from '#shared/monitoring/operations/integrations.ts'
import { countUsage } from '#shared/monitoring/pages/integration-store.ts'
import { isUuid } from '#shared/uuid.ts'
import {
  type AdminContext,
  type Command,
  countOf,
  jsonObjectOf,
  lines,
  listing,
  type Options,
  operatorOf,
  textOf,
  UsageError,
} from './command.ts'
import { requireProject } from './project.ts'

const kindsHelp = [...integrationKinds.values()].flatMap((kind) => [
  '',
  `  ${kind.kind} (${kind.label})`,
  ...kind.help.map((line) => `    ${line}`),
])

const projectOption = { description: 'id of the project', value: 'ID', required: true } as const
const checkOptions = {
  'all-checks': { description: 'use it for every check that the project has now' },
  check: { description: 'use it for these checks: their ids, separated by commas', value: 'UUID' },
} as const
const integrationOption = { description: 'id of the integration, from the list', value: 'ID', required: true } as const

const UNUSED =
  'Nothing is sent through it. Assign it with integration update --all-checks or --check, the page of a check, or an alert policy.'

const create: Command = {
  noun: 'integration',
  verb: 'create',
  summary: 'Create an integration',
  examples: [
    'integration create --project ID --all-checks --kind email --name On-call --config \'{"value": "oncall@example.org"}\'',
  ],
  options: {
    project: projectOption,
    kind: { description: 'one of the kinds below', value: 'KIND', required: true },
    name: { description: 'name of the integration', value: 'NAME', required: true },
    config: { description: "the kind's options as a JSON object", value: 'JSON', required: true },
    ...checkOptions,
  },
  help: ['Kinds and their options:', ...kindsHelp],
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const kind = kindOf(textOf(options, 'kind'))
    const name = textOf(options, 'name')
    const config = await jsonObjectOf(options, 'config')
    const input = { project, kind: kind.kind, name, config, checks: checksOf(options) }
    const { uuid } = await createIntegration(context.db, operatorOf(context), input, { ...context, outbox: null })
    const created = { integrationId: uuid, name, kind: kind.kind }
    const checks = (await countUsage(context.db, project.id)).get(uuid) ?? 0
    const text = [lines(created), `used by ${countOf(checks, 'check')}`, ...(checks === 0 ? [UNUSED] : [])]
    return { json: { ...created, checks }, text: text.join('\n') }
  },
}

const list: Command = {
  noun: 'integration',
  verb: 'list',
  summary: 'List the integrations of a project',
  options: { project: projectOption },
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const integrations = (await listIntegrations(context.db, project.id)).map((integration) => ({
      integrationId: integration.uuid,
      name: integration.name,
      kind: integration.kind,
      disabled: integration.disabledAt !== null,
      lastNotifyAt: integration.lastNotifyAt,
      lastError: integration.lastError,
    }))
    return listing(integrations, ({ integrationId, name, kind, disabled, lastError }) => [
      integrationId,
      kind.padEnd(10),
      name,
      disabled ? '(disabled)' : '',
      lastError,
    ])
  },
}

const update: Command = {
  noun: 'integration',
  verb: 'update',
  summary: 'Change an integration; omitted options stay unchanged',
  options: {
    project: projectOption,
    integration: integrationOption,
    name: { description: 'name of the integration', value: 'NAME' },
    config: { description: "the kind's options as a JSON object; omitted secrets stay unchanged", value: 'JSON' },
    disable: { description: 'send nothing through it' },
    enable: { description: 'send through it again' },
    ...checkOptions,
  },
  async run(options, context) {
    const { project, integration } = await requireIntegrationNamed(options, context)
    if (options.disable && options.enable) throw new UsageError('either --disable or --enable')
    const checks = checksOf(options)
    const changes: { name?: string; disabled?: boolean; config?: ConfigObject } = {}
    if (options.name !== undefined) changes.name = textOf(options, 'name')
    if (options.disable || options.enable) changes.disabled = options.disable === true
    if (options.config !== undefined) changes.config = await jsonObjectOf(options, 'config')
    if (Object.keys(changes).length === 0 && checks.length === 0) {
      throw new UsageError(
        'nothing to change; the options are --name, --config, --disable, --enable, --all-checks, --check',
      )
    }
    const deps = { ...context, outbox: null }
    await updateIntegration(context.db, operatorOf(context), { project, integration, checks, ...changes }, deps)
    const updated = {
      integrationId: integration.uuid,
      updated: Object.keys(options).filter((it) => !idOptions.includes(it)),
    }
    const used = countOf((await countUsage(context.db, project.id)).get(integration.uuid) ?? 0, 'check')
    return { json: updated, text: `changed ${updated.updated.join(', ')} of ${integration.uuid}, used by ${used}` }
  },
}

const idOptions = ['project', 'integration']

const remove: Command = {
  noun: 'integration',
  verb: 'delete',
  summary: 'Delete an integration; its checks keep their other integrations',
  options: { project: projectOption, integration: integrationOption },
  async run(options, context) {
    const { project, integration } = await requireIntegrationNamed(options, context)
    await deleteIntegration(context.db, operatorOf(context), { project, integration })
    return { json: { deleted: integration.uuid }, text: `deleted ${integration.uuid} (${integration.name})` }
  },
}

export const integrationCommands: readonly Command[] = [create, list, update, remove]

/** @throws UsageError that lists the kinds */
function kindOf(name: string): IntegrationKind {
  const kind = findKind(name)
  if (!kind) throw new UsageError(`there is no kind ${name}; there are ${[...integrationKinds.keys()].join(', ')}`)
  return kind
}

/** @throws UsageError if the project does not have the integration */
async function requireIntegrationNamed(options: Options, context: AdminContext) {
  const project = await requireProject(textOf(options, 'project'), context)
  const uuid = textOf(options, 'integration').toLowerCase()
  const integration = isUuid(uuid) ? await findIntegration(context.db, project.id, uuid) : null
  if (!integration) throw new UsageError(`the project has no integration ${uuid}`)
  return { project, integration }
}

/** @throws UsageError if both options are given, or an id is no uuid */
function checksOf(options: Options): 'all' | readonly string[] {
  const { check } = options
  if (options['all-checks'] === true && check !== undefined) throw new UsageError('either --all-checks or --check')
  if (options['all-checks'] === true) return 'all'
  if (typeof check !== 'string') return []
  const uuids = check.split(',').map((uuid) => uuid.trim().toLowerCase())
  const wrong = uuids.find((uuid) => !isUuid(uuid))
  if (wrong !== undefined) throw new UsageError(`--check takes ids of checks, not "${wrong}"`)
  return [...new Set(uuids)]
}
