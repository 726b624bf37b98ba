import { channelKinds } from '#shared/channels/kinds.ts'
import { insertChannel } from '#shared/channels/store.ts'
import { checkConfig, checkName, requireKind } from '../monitoring/integration-config.ts'
import { type Command, lines, textOf, UsageError } from './command.ts'
import { requireProject } from './project.ts'

const kindsHelp = [...channelKinds.values()].flatMap((kind) => [
  '',
  `  ${kind.kind} (${kind.label})`,
  ...kind.help.map((line) => `    ${line}`),
])

const create: Command = {
  noun: 'channel',
  verb: 'create',
  summary: 'Create an integration',
  options: {
    project: { description: 'id of the project', value: 'ID', required: true },
    kind: { description: 'one of the kinds below', value: 'KIND', required: true },
    name: { description: 'what people call it', value: 'NAME', required: true },
    config: { description: "the kind's options as a JSON object", value: 'JSON', required: true },
  },
  help: ['Kinds and their options:', ...kindsHelp],
  async run(given, context) {
    const project = await requireProject(textOf(given, 'project'), context)
    const kind = requireKind(textOf(given, 'kind'))
    const name = checkName(textOf(given, 'name'))
    const config = await checkConfig(context, project.id, kind, parseJson(textOf(given, 'config')))
    const sealedConfig = context.secrets.seal(JSON.stringify(config))
    const { uuid } = await insertChannel(context.db, { projectId: project.id, kind: kind.kind, name, sealedConfig })
    const created = { channelId: uuid, name, kind: kind.kind }
    return { json: created, text: lines(created) }
  },
}

export const channelCommands: readonly Command[] = [create]

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('--config is not JSON')
  }
}
