import { ValidationError } from '../../errors.ts'
import { type JsonObject, type JsonValue, NonIntegerNumber, parseJsonBody } from '../checks/json-body.ts'
import { MAX_NAME_LENGTH, slugify } from '../checks/slug.ts'
import { uniqueSlug } from './crontab.ts'
import { type Imported, type ImportedCheck, isObject, MAX_IMPORTED, textIn } from './imported.ts'

/** A monitor of Uptime Kuma, from a backup (1.x) or its database (2.x). */
export interface KumaMonitor {
  id: number
  type: string
  name: string
  description: string
  interval: number
  maxRetries: number
  retryInterval: number
  isUpsideDown: boolean
  isActive: boolean
  pushToken: string
  /** `name` or `name:value` */
  tags: string[]
}

/** Periods and grace times are at least this long, in seconds. */
const MIN_SECONDS = 60

/**
 * Returns the monitors of a backup of Uptime Kuma 1.x.
 * @throws ValidationError if the bytes are not such a backup
 */
export function readKumaBackup(bytes: Uint8Array): KumaMonitor[] {
  const parsed = parseJsonBody(bytes)
  const list = parsed.ok ? parsed.body.monitorList : undefined
  if (!Array.isArray(list) || !list.every(isObject))
    throw new ValidationError('the file is not a backup of Uptime Kuma')
  return list.map((entry) => ({
    id: numberIn(entry, 'id'),
    type: textIn(entry, 'type'),
    name: textIn(entry, 'name'),
    description: textIn(entry, 'description'),
    interval: numberIn(entry, 'interval'),
    maxRetries: numberIn(entry, 'maxretries'),
    retryInterval: numberIn(entry, 'retryInterval'),
    isUpsideDown: isTrue(entry.upsideDown),
    isActive: entry.active === undefined || isTrue(entry.active),
    pushToken: textIn(entry, 'pushToken'),
    tags: tagsIn(entry),
  }))
}

/**
 * Returns the push monitors as checks. Other monitors are listed only.
 * @throws ValidationError above MAX_IMPORTED monitors
 */
export function fromUptimeKuma(monitors: readonly KumaMonitor[]): Imported {
  if (monitors.length > MAX_IMPORTED) throw new ValidationError(`the file has more than ${MAX_IMPORTED} monitors`)
  const imported: Imported = { source: 'uptime-kuma', checks: [], integrations: [], notTaken: [], toDo: [] }
  const slugs = new Set<string>()
  for (const monitor of monitors) {
    const { type, name, isUpsideDown } = monitor
    const note = (reason: string) => imported.notTaken.push({ subject: `monitor ${name}`, reason })
    if (type !== 'push') note(`type ${type}: this service does not send requests to your servers`)
    else if (isUpsideDown) note('it is upside down: a ping would mean a failure')
    else imported.checks.push(checkOf(monitor, slugs, note))
  }
  imported.notTaken.push({ subject: 'notifications and heartbeats', reason: 'create the integrations by hand' })
  return imported
}

function checkOf(monitor: KumaMonitor, slugs: Set<string>, note: (reason: string) => void): ImportedCheck {
  const { id, name, description, interval, maxRetries, retryInterval, pushToken } = monitor
  if (interval < MIN_SECONDS) note(`the interval of ${interval} seconds is raised to ${MIN_SECONDS}`)
  const shown = [...name].slice(0, MAX_NAME_LENGTH).join('')
  const tags = monitor.tags.map((tag) => tag.trim().replace(/\s+/g, '-')).filter((tag) => tag !== '')
  return {
    key: `${id}`,
    uuid: null,
    settings: {
      name: shown,
      slug: uniqueSlug(slugify(shown).slice(0, MAX_NAME_LENGTH - 5), slugs),
      tags: [...new Set(tags)].join(' '),
      desc: description,
      timeout: Math.max(MIN_SECONDS, interval),
      grace: Math.max(MIN_SECONDS, maxRetries * retryInterval),
    },
    isPaused: !monitor.isActive,
    ...(/^[A-Za-z0-9_-]{1,64}$/.test(pushToken) && { pushToken }),
  }
}

function tagsIn(entry: JsonObject): string[] {
  const { tags } = entry
  if (!Array.isArray(tags)) return []
  return tags.filter(isObject).map((tag) => tagText(textIn(tag, 'name'), textIn(tag, 'value')))
}

export function tagText(name: string, value: string): string {
  return value === '' ? name : `${name}:${value}`
}

function numberIn(entry: JsonObject, member: string): number {
  const value = entry[member]
  if (value instanceof NonIntegerNumber) return Math.ceil(value.value)
  return typeof value === 'number' ? value : 0
}

function isTrue(value: JsonValue | undefined): boolean {
  return value === true || value === 1
}
