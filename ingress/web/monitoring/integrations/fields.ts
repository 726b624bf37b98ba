import { z } from 'zod'
import { incomingWebhookHelp } from '#shared/monitoring/integrations/fields.ts'
import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import type { ConfigObject } from '#shared/monitoring/integrations/shown-config.ts'
import { guideOf } from './guides.ts'

export interface OptionField {
  name: string
  label: string
  /** shown in the empty input; '' without one */
  example: string
  hint: string
  type: 'text' | 'long-text' | 'number' | 'flag' | 'choice' | 'list' | 'headers' | 'integrations'
  choices: readonly string[]
  fallback: unknown
  isSecret: boolean
}

const propertySchema = z.object({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  default: z.unknown().optional(),
  maxLength: z.number().optional(),
})
const objectSchema = z.object({ properties: z.record(z.string(), propertySchema) })

/** Returns the fields of a kind from its schema and manual. Aliases, which the manual does not name, have no field. */
export function optionFields(kind: IntegrationKind): OptionField[] {
  const schema = objectSchema.safeParse(z.toJSONSchema(kind.schema, { io: 'input', unrepresentable: 'any' }))
  if (!schema.success) return []
  const { properties } = schema.data
  const guide = guideOf(kind.kind)
  return [...manualOf(kind)].flatMap(([name, text]) => {
    const property = properties[name]
    if (!property) return []
    return [
      {
        name,
        label: guide.options[name]?.label ?? labelOf(name),
        example: guide.options[name]?.example ?? '',
        hint: HINTS[name] ?? (kind.help === incomingWebhookHelp ? '' : hintOf(text)),
        type: kind.kind === 'group' ? ('integrations' as const) : typeOf(name, property),
        choices: property.enum ?? [],
        fallback: property.default ?? null,
        isSecret: kind.secretFields.includes(name),
      },
    ]
  })
}

/** Returns lines of the manual that describe no option. */
export function notesOf(kind: IntegrationKind): string {
  return kind.help.filter((line) => !OPTION.test(line)).join(' ')
}

/** `name[, name]  text`: a line may describe several options. */
const OPTION = /^([a-z_]+(?:, [a-z_]+)*) {2,}(.+)$/

function manualOf(kind: IntegrationKind): Map<string, string> {
  const manual = new Map<string, string>()
  for (const line of kind.help) {
    const [, names, text] = OPTION.exec(line) ?? []
    // A line about several options is shown once, at the first.
    for (const [index, name] of (names?.split(', ') ?? []).entries()) manual.set(name, index === 0 ? (text ?? '') : '')
  }
  return manual
}

function typeOf(name: string, property: z.infer<typeof propertySchema>): OptionField['type'] {
  if (property.enum) return 'choice'
  if (property.type === 'boolean') return 'flag'
  if (property.type === 'integer' || property.type === 'number') return 'number'
  if (property.type === 'array') return 'list'
  if (property.type === 'object') return 'headers'
  return name.startsWith('body') ? 'long-text' : 'text'
}

/** Omits empty text fields, so that defaults and stored secrets apply. */
export function configOf(fields: readonly OptionField[], form: URLSearchParams): Record<string, unknown> {
  const config: Record<string, unknown> = {}
  for (const { name, type } of fields) {
    const text = (form.get(`option-${name}`) ?? '').trim()
    if (type === 'flag') config[name] = form.has(`option-${name}`)
    else if (type === 'integrations') config[name] = form.getAll(`option-${name}`)
    else if (text === '') continue
    else if (type === 'number') config[name] = Number(text)
    else if (type === 'list') config[name] = text.split(',').map((piece) => piece.trim())
    else if (type === 'headers') config[name] = headersOf(text)
    else config[name] = text
  }
  return config
}

export function textOfOption(field: OptionField, config: ConfigObject): string {
  const value = config[field.name]
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, content]) => `${name}: ${content}`)
      .join('\n')
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === undefined || value === null ? '' : String(value)
}

/**
 * Removes `method_down` and `method_up` where they equal the default: POST with a body, otherwise GET. A stored webhook
 * contains both; sent back by a form, they would no longer follow a changed body.
 */
export function chosenConfig(config: ConfigObject): ConfigObject {
  const defaults = (['down', 'up'] as const).filter(
    (way) => config[`method_${way}`] === (config[`body_${way}`] ? 'POST' : 'GET'),
  )
  return Object.fromEntries(
    Object.entries(config).filter(([name]) => !defaults.some((way) => name === `method_${way}`)),
  )
}

function headersOf(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':')
      return at === -1 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

const LABELS: Readonly<Record<string, string>> = {
  url: 'URL',
  value: 'Recipient',
  down: 'Report failures',
  up: 'Report recoveries',
  id: 'Chat id',
  method_down: 'Method for failures',
  method_up: 'Method for recoveries',
  body_down: 'Body for failures',
  body_up: 'Body for recoveries',
  headers_down: 'Headers for failures',
  headers_up: 'Headers for recoveries',
  base_url: 'Server',
  priority: 'Priority of failures',
  priority_up: 'Priority of recoveries',
  cmd_down: 'Command for failures',
  cmd_up: 'Command for recoveries',
  api_key: 'API key',
  key: 'API key',
  service_key: 'Integration key',
  bot_email: 'E-mail address of the bot',
  to: 'Stream or person',
  repo: 'Repository',
  list_id: 'List',
  thread_id: 'Topic',
  content_sid: 'Content template',
  homeserver: 'Home server',
  mtype: 'Type of message',
  channels: 'Integrations',
}

/** Hints that replace a line of the manual. */
const HINTS: Readonly<Record<string, string>> = {
  url_down: 'Leave one of the two URLs empty to send nothing in that case.',
  base_url: 'Leave it empty for the server of the service.',
  region: 'Where the account is kept.',
  method_down: 'Default: GET, or POST with a body.',
}

/** Formats a line of the manual as a sentence; a final remark in parentheses is the default. */
function hintOf(manual: string): string {
  const text = sentence(manual.replace(/ ?\(secret\)/, '').replace(/ \(([^()]+)\)$/, '. Left empty: $1'))
  return text === '' || text.endsWith('.') ? text : `${text}.`
}

function labelOf(name: string): string {
  return LABELS[name] ?? sentence(name.replaceAll('_', ' '))
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
