import { splitTags } from '../checks/tags.ts'
import type { AlertLinks } from './notification.ts'

/** See docs/spec/monitoring.md#webhooks. */
export interface PlaceholderValues {
  uuid: string
  status: 'up' | 'down'
  /** time of the flip, whole seconds with `+00:00` */
  now: string
  name: string
  slug: string
  tags: string
  checkJson: string
  body: string | null
  exitStatus: number | null
  /** without a policy, these placeholders stay unchanged */
  alert?: AlertLinks
  group?: NotifiedGroup
}

interface NotifiedGroup {
  count: number
  members: readonly object[]
  /** of a bundle; a message about one incident has the link in `alert` */
  ackUrl?: string
}

/** Values are percent-encoded in a URL; headers are Latin-1; only a body may contain the body of the ping. */
export type TemplatePosition = 'url' | 'header' | 'body'

/**
 * At each `$`, replaces the first placeholder in the published order that matches. So `$TAG10` is `$TAG1` and a 0.
 * Values are not expanded again; unknown placeholders stay.
 */
export function fillTemplate(template: string, values: PlaceholderValues, position: TemplatePosition): string {
  if (!template.includes('$')) return finish(template, position)
  const placeholders = placeholdersOf(values, position)
  const [head = '', ...pieces] = template.split('$')
  const filled = pieces.map((piece) => {
    const match = placeholders.find(([name]) => piece.startsWith(name))
    return match ? match[1] + piece.slice(match[0].length) : `$${piece}`
  })
  return finish(head + filled.join(''), position)
}

function placeholdersOf(values: PlaceholderValues, position: TemplatePosition): [string, string][] {
  const quote = position === 'url' ? percentEncode : (text: string) => text
  const body = values.body ?? ''
  return [
    ['CODE', values.uuid],
    ['STATUS', values.status],
    ['NOW', quote(values.now)],
    ['NAME_JSON', quote(JSON.stringify(values.name))],
    ['NAME', quote(values.name)],
    ['SLUG', values.slug],
    ['TAGS', quote(values.tags)],
    ['JSON', quote(values.checkJson)],
    ...(position === 'body' ? BODY_NAMES.map((name): [string, string] => [name, bodyValue(name, body)]) : []),
    ['EXITSTATUS', String(values.exitStatus ?? -1)],
    ...splitTags(values.tags).map((tag, index): [string, string] => [`TAG${index + 1}`, quote(tag)]),
    ...(values.alert ? alertPlaceholders(values.alert, quote) : []),
    ...(values.group ? groupPlaceholders(values.group, quote) : []),
  ]
}

function alertPlaceholders(alert: AlertLinks, quote: (text: string) => string): [string, string][] {
  return [
    ['INCIDENT_URL', quote(alert.url)],
    ['INCIDENT', alert.incidentId],
    ['ACK_URL', quote(alert.ackUrl)],
    ['SEVERITY', alert.severity],
    ['STEP', alert.step === null ? '' : String(alert.step)],
    ['REPEAT', String(alert.repeat)],
  ]
}

function groupPlaceholders(
  { count, members, ackUrl }: NotifiedGroup,
  quote: (text: string) => string,
): [string, string][] {
  return [
    ['GROUP_JSON', quote(JSON.stringify(members))],
    ['GROUP_COUNT', String(count)],
    ...(ackUrl === undefined ? [] : [['ACK_URL', quote(ackUrl)] as [string, string]]),
  ]
}

const BODY_NAMES = ['BODY_JSON', 'BODY'] as const

function bodyValue(name: (typeof BODY_NAMES)[number], body: string): string {
  return name === 'BODY_JSON' ? JSON.stringify(body) : body
}

/** In headers, removes line breaks and replaces characters outside Latin-1 with references. */
function finish(text: string, position: TemplatePosition): string {
  if (position !== 'header') return text
  return text.replace(/[\r\n\0]+/g, ' ').replace(/[^\0-\xff]/gu, (char) => `&#${char.codePointAt(0)};`)
}

function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/')
}
