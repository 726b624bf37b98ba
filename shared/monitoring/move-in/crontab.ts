import { ValidationError } from '../../errors.ts'
import { MAX_NAME_LENGTH, slugify } from '../checks/slug.ts'
import { isValidSchedule } from '../schedules/schedule.ts'
import { resolveTimeZone } from '../schedules/time-zones.ts'
import { type Imported, type ImportedCheck, MAX_IMPORTED, type Note } from './imported.ts'

export interface CrontabOptions {
  /** overrides `CRON_TZ`; null if the file states it */
  tz: string | null
  /** tag of the checks; part of their keys */
  host: string
  grace: number
  /** the sixth field of a line is the user, as in /etc/crontab */
  isSystem: boolean
  publicUrl: string
}

/** A line that a check was made of. */
export interface CrontabJob {
  /** index of the line */
  line: number
  key: string
  /** reason why the line is not changed; null if it is */
  leave: string | null
}

export interface Crontab {
  imported: Imported
  jobs: CrontabJob[]
}

const MACROS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}

const ASSIGNMENT = /^\s*([A-Za-z_]\w*|"[^"]+"|'[^']+')\s*=\s*(.*)$/
const NAME_COMMENT = /^\s*#\s*Name:\s*(.+?)\s*$/i

/**
 * Returns one check per job of a crontab.
 * @throws ValidationError without a time zone, for an unknown one, and above MAX_IMPORTED jobs
 */
export function fromCrontab(text: string, options: CrontabOptions): Crontab {
  const checks: ImportedCheck[] = []
  const jobs: CrontabJob[] = []
  const notTaken: Note[] = []
  const toDo: string[] = []
  const slugs = new Set<string>()
  let zone = options.tz === null ? null : zoneOf(options.tz)
  let name: string | null = null
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const named = NAME_COMMENT.exec(line)?.[1]
    if (named !== undefined) name = named
    if (/^\s*(#|$)/.test(line)) continue
    const [, variable, value] = ASSIGNMENT.exec(line) ?? []
    if (variable !== undefined) {
      if (variable === 'CRON_TZ' && options.tz === null) zone = zoneOf(unquoted(value ?? ''))
      continue
    }
    if (zone === null) throw new ValidationError('tz must be given: the crontab has no CRON_TZ before its first job')
    const subject = `line ${index + 1}`
    const entry = readEntry(line, options.isSystem)
    const problem = entry === null ? 'is not a line of a crontab' : problemOf(entry, zone)
    if (entry === null || problem !== null) notTaken.push({ subject, reason: problem ?? '' })
    else {
      const { command, leave } = watchedOrNot(entry.command, options.publicUrl)
      if (leave === ELSEWHERE) notTaken.push({ subject, reason: leave })
      else {
        const check = checkOf({ ...entry, command }, { name, zone, slugs }, options)
        // A second line with the same command and user would be the same check.
        if (checks.some(({ key }) => key === check.key)) notTaken.push({ subject, reason: 'repeats an earlier line' })
        else {
          checks.push(check)
          jobs.push({ line: index, key: check.key, leave })
          if (leave !== null && leave !== WATCHED) toDo.push(`edit ${subject} by hand: it ${leave}`)
        }
      }
    }
    name = null
  }
  if (checks.length > MAX_IMPORTED) throw new ValidationError(`the crontab has more than ${MAX_IMPORTED} jobs`)
  return { imported: { source: 'crontab', checks, integrations: [], notTaken, toDo }, jobs }
}

/**
 * Returns the crontab with a ping after each command, and the changes as a unified diff without context.
 * @param urlOf ping URL of a key; undefined if it has no check
 */
export function rewriteCrontab(
  text: string,
  jobs: readonly CrontabJob[],
  urlOf: (key: string) => string | undefined,
): { text: string; diff: string } {
  const lines = text.split('\n')
  const diff: string[] = []
  for (const { line, key, leave } of jobs) {
    const [url, before] = [urlOf(key), lines[line]]
    if (leave !== null || url === undefined || before === undefined) continue
    const ending = before.endsWith('\r') ? '\r' : ''
    const after = withPing(before.slice(0, before.length - ending.length), url) + ending
    lines[line] = after
    diff.push(`@@ -${line + 1} +${line + 1} @@`, `-${before}`, `+${after}`)
  }
  return { text: lines.join('\n'), diff: diff.length === 0 ? '' : ['--- crontab', '+++ crontab', ...diff].join('\n') }
}

/** cron passes the text after the first unescaped `%` to the command as input. */
function withPing(line: string, url: string): string {
  const at = line.search(/(?<!\\)%/)
  const [command, input] = at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at)]
  return `${command.trimEnd()}${pingOf(url)}${input}`
}

function pingOf(url: string): string {
  return `; curl -fsS -m 10 --retry 5 --retry-connrefused -o /dev/null ${url}/$?`
}

interface Entry {
  schedule: string
  user: string
  command: string
}

/** Returns null for a line that is no job. */
function readEntry(line: string, isSystem: boolean): Entry | null {
  const text = line.trim()
  const [, when, rest] = /^(@\S+|\S+(?:\s+\S+){4})\s+(.+)$/.exec(text) ?? []
  if (when === undefined || rest === undefined) return null
  const schedule = MACROS[when.toLowerCase()] ?? when.replace(/\s+/g, ' ')
  if (!isSystem) return { schedule, user: '', command: rest }
  const [, user, command] = /^(\S+)\s+(.+)$/.exec(rest) ?? []
  return user === undefined || command === undefined ? null : { schedule, user, command }
}

function problemOf({ schedule }: Entry, zone: string): string | null {
  if (schedule.toLowerCase() === '@reboot') return '@reboot has no schedule'
  if (schedule.startsWith('@')) return `${schedule} is not known`
  return isValidSchedule(schedule, zone) ? null : `${schedule} is not a valid cron expression`
}

const WATCHED = 'pings this service already'
const ELSEWHERE = 'pings another monitor'
const PINGS_ELSEWHERE =
  /\brunitor\b|hc-ping\.com|healthchecks\.io|cronitor\.(link|io)|nosnch\.in|\/ping\/[0-9a-f]{8}-|\/api\/push\//

/** Separates the ping that an earlier import added, so that its key stays the same. */
function watchedOrNot(command: string, publicUrl: string): { command: string; leave: string | null } {
  const ours = pingOf(publicUrl)
  const start = command.indexOf(ours.slice(0, -'/$?'.length))
  if (start !== -1) {
    const rest = command.slice(start).replace(/^; curl [^%]*?\/\$\?/, '')
    return { command: command.slice(0, start) + rest, leave: WATCHED }
  }
  if (command.includes(`${publicUrl}/ping/`)) return { command, leave: WATCHED }
  if (PINGS_ELSEWHERE.test(command)) return { command, leave: ELSEWHERE }
  const [shell = ''] = command.split(/(?<!\\)%/, 1)
  if (/(?<!&)&\s*$/.test(shell)) return { command, leave: 'ends with &, so its exit status is not known' }
  if (/^exec\s/.test(shell)) return { command, leave: 'begins with exec, so no command runs after it' }
  if (hasComment(shell)) return { command, leave: 'holds a comment' }
  return { command, leave: null }
}

function hasComment(command: string): boolean {
  const unquotedText = command.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/g, (text) => '_'.repeat(text.length))
  return /\s#/.test(unquotedText)
}

function checkOf(
  { schedule, user, command }: Entry,
  { name, zone, slugs }: { name: string | null; zone: string; slugs: Set<string> },
  { host, grace }: CrontabOptions,
): ImportedCheck {
  const shown = [...(name ?? programOf(command))].slice(0, MAX_NAME_LENGTH).join('')
  const slug = uniqueSlug(slugify(shown).slice(0, MAX_NAME_LENGTH - 5), slugs)
  const tags = slugify(host)
  return {
    // The ping is added before the input of a command, without the blanks there.
    key: [host, user, command.replace(/\s+%/, '%')].join(' '),
    uuid: null,
    settings: { name: shown, slug, tags, schedule, tz: zone, grace },
    isPaused: false,
  }
}

/** Returns the file name of the program, after a change of folder and assignments. */
function programOf(command: string): string {
  const text = command.replace(/^cd\s+\S+\s*(&&|;)\s*/, '').replace(/^([A-Za-z_]\w*=\S*\s+)+/, '')
  const [program = ''] = text.split(/[\s;|&<>]/, 1)
  return unquoted(program).split('/').at(-1) || 'job'
}

/** Returns the slug, with `-2` and so on if an earlier check has it. */
export function uniqueSlug(slug: string, taken: Set<string>): string {
  if (slug === '') return ''
  let result = slug
  for (let n = 2; taken.has(result); n++) result = `${slug}-${n}`
  taken.add(result)
  return result
}

function zoneOf(name: string): string {
  const zone = resolveTimeZone(name)
  if (zone === null) throw new ValidationError(`tz ${name} is not a valid timezone`)
  return zone
}

function unquoted(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, '$2')
}
