import { type Micros, microsOfSeconds } from '../../time.ts'
import { type OnCallSettings, startOfQuiet } from '../contacts/contact-rules.ts'
import { listText, namedList, oneLine, shortName } from '../notifications/text-parts.ts'
import type { Shift } from './on-call.ts'
import { DAY_SECONDS } from './schedule.ts'
import { wallTimeText } from './wall-time.ts'

type Settings = Pick<OnCallSettings, 'quiet' | 'notices'>

export interface ShiftNotice {
  kind: 'before' | 'start' | 'end'
  /** identifies the notice among those of a person and schedule */
  key: string
  shift: Shift
  at: Micros
  /** a later notice is useless */
  expiresAt: Micros
}

const DAY: Micros = microsOfSeconds(DAY_SECONDS)

/** Lists the notices about shifts. A notice in the quiet hours of its person moves to their beginning. */
export function shiftNotices(
  list: readonly Shift[],
  settingsOf: (person: string) => Settings | null,
  computedUntil: Micros,
): ShiftNotice[] {
  return list.flatMap((shift) => {
    const settings = settingsOf(shift.person)
    if (!settings) return []
    const { quiet, notices } = settings
    const { from, until } = shift
    const planned = (kind: ShiftNotice['kind'], key: string, at: Micros, expiresAt: Micros): ShiftNotice => {
      return { kind, key, shift, at: startOfQuiet(quiet, at), expiresAt }
    }
    const before = notices.before.map((seconds) =>
      planned('before', `before ${seconds} ${from}`, from - microsOfSeconds(seconds), from),
    )
    const start = notices.start ? [planned('start', `start ${from}`, from, until)] : []
    const isCut = until >= computedUntil
    const end = notices.end && !isCut ? [planned('end', `end ${until}`, until, until + DAY)] : []
    return [...before, ...start, ...end]
  })
}

/** Splits notices: those that fall due after `since` up to `now`, and the time of the next one. */
export function dueNotices(
  notices: readonly ShiftNotice[],
  since: Micros,
  now: Micros,
): { due: ShiftNotice[]; nextAt: Micros | null } {
  const due = notices.filter(({ at, expiresAt }) => since < at && at <= now && now < expiresAt)
  const later = notices.filter(({ at }) => at > now).map(({ at }) => at)
  return { due, nextAt: later.length === 0 ? null : Math.min(...later) }
}

export interface NamedIncident {
  name: string
  /** null: not acknowledged */
  ackBy: string | null
}

interface NoticeFacts {
  schedule: { name: string; tz: string }
  /** null: no end within 400 days */
  until: Micros | null
  /** name of the next person; null if it is not known */
  next: string | null
  incidents: readonly NamedIncident[]
}

/** Avoids the present tense, because the notice may be sent before the shift. */
export function noticeText(
  { kind, shift: { from } }: Pick<ShiftNotice, 'kind' | 'shift'>,
  { schedule, until, next, incidents }: NoticeFacts,
): { title: string; text: string } {
  const name = shortName(schedule.name)
  const end = until === null ? null : wallTimeText(until, schedule.tz)
  const zone = `(${schedule.tz})`
  if (kind === 'end') {
    const text = `Your shift for ${name} ends ${end} ${zone}.${next === null ? '' : ` Next: ${oneLine(next)}.`}`
    return { title: `End of shift: ${name}`, text }
  }
  const times = `begins ${wallTimeText(from, schedule.tz)} and ${end === null ? 'has no end' : `ends ${end}`}`
  const open = kind === 'start' && incidents.length > 0 ? ` ${incidentText(incidents)}` : ''
  const title = kind === 'start' ? `On call: ${name}` : `Next shift: ${name}`
  return { title, text: `Your shift for ${name} ${times} ${zone}.${open}` }
}

/** Messages for phones have little space. */
const MAX_INCIDENTS = 10

function incidentText(incidents: readonly NamedIncident[]): string {
  const names = incidents.map(
    ({ name, ackBy }) => `${name} (${ackBy === null ? 'not acknowledged' : `acknowledged by ${ackBy}`})`,
  )
  const list = namedList({ before: 'Open incidents: ', names, size: names.length, after: '.' })
  return listText({ ...list, names: list.names.slice(0, MAX_INCIDENTS) }, null)
}

/** `Ben is on call for Primary until Mon 7 Dec, 09:00 (Europe/Berlin). Next: Carl.` */
export function announcementText(
  { name, tz }: { name: string; tz: string },
  { person, until, next }: { person: string | null; until: Micros | null; next: string | null },
): string {
  const end = until === null ? '' : ` until ${wallTimeText(until, tz)} (${tz})`
  const who = person === null ? 'No person' : oneLine(person)
  return `${who} is on call for ${shortName(name)}${end}.${next === null ? '' : ` Next: ${oneLine(next)}.`}`
}
