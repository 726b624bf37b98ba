import { parseDocument } from 'yaml'
import { ValidationError } from '../../errors.ts'
import { isSlug, MAX_NAME_LENGTH, slugify } from '../checks/slug.ts'
import { guessKind, isValidSchedule } from '../schedules/schedule.ts'
import { uniqueSlug } from './crontab.ts'
import { type Imported, type ImportedCheck, MAX_IMPORTED, type Note, type SettingValue } from './imported.ts'

/** Code units of a file. */
const MAX_TEXT = 5_000_000
/** Aliases may expand a short file without limit. */
const MAX_ALIASES = 100

type Entry = Readonly<Record<string, unknown>>

/**
 * Returns the jobs and heartbeats of a Cronitor export. Checks and sites are listed only.
 * @throws ValidationError if the text is not such an export
 */
export function fromCronitor(text: string): Imported {
  const root = parseYaml(text)
  const groups = ['jobs', 'heartbeats', 'checks', 'sites'].map(
    (group) => [group, entriesOf(root[group], group)] as const,
  )
  const count = groups.reduce((sum, [, entries]) => sum + entries.length, 0)
  if (count === 0) throw new ValidationError('the file has no jobs, heartbeats, checks or sites')
  if (count > MAX_IMPORTED) throw new ValidationError(`the file has more than ${MAX_IMPORTED} monitors`)
  const imported: Imported = { source: 'cronitor', checks: [], integrations: [], notTaken: [], toDo: [] }
  const slugs = new Set<string>()
  for (const [group, entries] of groups) {
    for (const [key, entry] of entries) {
      const subject = `${group} ${key}`
      if (group === 'checks' || group === 'sites') {
        imported.notTaken.push({ subject, reason: 'this service does not send requests to your servers' })
        continue
      }
      const check = checkOf(key, entry, slugs, (reason) => imported.notTaken.push({ subject, reason }))
      if (check) imported.checks.push(check)
    }
  }
  if (imported.checks.length > 0)
    imported.toDo.push('replace the telemetry calls of the jobs by the new ping addresses')
  return imported
}

function parseYaml(text: string): Entry {
  if (text.length > MAX_TEXT) throw new ValidationError(`the file has more than ${MAX_TEXT} characters`)
  const document = parseDocument(text, { schema: 'core', uniqueKeys: false, logLevel: 'silent' })
  const [error] = document.errors
  if (error) throw new ValidationError(`the file is not YAML: line ${error.linePos?.[0].line ?? 1}`)
  try {
    const root: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    if (isEntry(root)) return root
  } catch {
    throw new ValidationError('the file has too many aliases')
  }
  throw new ValidationError('the file is not a list of monitors')
}

/** Monitors are named by the members of an object, or by `key` in a list. */
function entriesOf(value: unknown, group: string): [key: string, entry: Entry][] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) {
    return value.map((entry: unknown, index) => {
      if (!isEntry(entry)) throw new ValidationError(`${group}[${index}] is not an object`)
      return [textOf(entry.key) || textOf(entry.name) || `${index + 1}`, entry]
    })
  }
  if (!isEntry(value)) throw new ValidationError(`${group} is not an object`)
  return Object.entries(value).map(([key, entry]) => {
    if (entry !== null && !isEntry(entry)) throw new ValidationError(`${group}.${key} is not an object`)
    return [key, entry ?? {}]
  })
}

function checkOf(
  key: string,
  entry: Entry,
  slugs: Set<string>,
  note: (reason: Note['reason']) => void,
): ImportedCheck | null {
  const schedules = Array.isArray(entry.schedules) ? entry.schedules : []
  if (schedules.length > 1) note('a check has one schedule: only the first is taken')
  const when = scheduleOf(textOf(entry.schedule) || textOf(schedules[0]), textOf(entry.timezone) || 'UTC')
  if (typeof when === 'string') {
    note(when)
    return null
  }
  const raised = typeof when.timeout === 'number' && when.timeout < 60
  if (raised) note('the period is shorter than a minute: raised to 60 seconds')
  const name = [...(textOf(entry.name) || key)].slice(0, MAX_NAME_LENGTH).join('')
  const slug = uniqueSlug((isSlug(key) ? key : slugify(key)).slice(0, MAX_NAME_LENGTH - 5), slugs)
  const tags = [...listOf(entry.tags), textOf(entry.group)].map((tag) => tag.trim().replace(/\s+/g, '-'))
  const max = maxDuration(entry, note)
  for (const member of ['failure_tolerance', 'schedule_tolerance', 'notify', 'environments']) {
    if (isPresent(entry[member])) note(`${member} is not taken`)
  }
  return {
    key,
    uuid: null,
    settings: {
      ...{ name, slug, tags: [...new Set(tags)].filter((tag) => tag !== '').join(' ') },
      ...{ desc: textOf(entry.note), ...when, ...(raised && { timeout: 60 }) },
      grace: Math.max(60, numberOf(entry.grace_seconds) ?? 60),
    },
    ...(max !== null && { rules: { run: { max } } }),
    isPaused: entry.paused === true || entry.disabled === true,
  }
}

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  sec: 1,
  s: 1,
  minute: 60,
  min: 60,
  m: 60,
  hour: 3600,
  hr: 3600,
  h: 3600,
  day: 86_400,
  d: 86_400,
  week: 604_800,
  w: 604_800,
}

/** Returns the settings of a schedule, or the reason why it is not taken. */
function scheduleOf(text: string, tz: string): Record<string, SettingValue> | string {
  const schedule = text.trim()
  if (schedule === '') return 'has no schedule'
  const seconds = /^every\s/i.test(schedule) ? secondsOf(schedule.replace(/^every\s+/i, '')) : null
  if (seconds !== null) return { timeout: seconds }
  const isCron = guessKind(schedule) === 'cron' && isValidSchedule(schedule)
  return isCron ? { schedule, tz } : `the schedule ${schedule} is not supported`
}

/** Reads `5 minutes`, `minute` or `90s`. */
function secondsOf(text: string): number | null {
  const [, count = '1', unit = ''] = /^(\d{1,7}(?:\.\d+)?)?\s*([a-z]+?)s?$/i.exec(text.trim()) ?? []
  const seconds = UNIT_SECONDS[unit.toLowerCase()]
  return seconds === undefined ? null : Math.round(Number(count) * seconds)
}

function maxDuration(entry: Entry, note: (reason: string) => void): number | null {
  let max: number | null = null
  for (const assertion of listOf(entry.assertions)) {
    const [, limit] = /^metric\.duration\s*<=?\s*(.+)$/.exec(assertion.trim()) ?? []
    const seconds = limit === undefined ? null : secondsOf(limit)
    if (seconds === null || max !== null || seconds > 31_536_000) note(`the assertion ${assertion} is not taken`)
    else max = Math.max(60, seconds)
    if (seconds !== null && seconds < 60) note(`the assertion ${assertion} is raised to 60 seconds`)
  }
  return max
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf).filter((text) => text !== '') : []
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) ? value : null
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}
