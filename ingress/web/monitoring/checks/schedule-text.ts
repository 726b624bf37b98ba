import cronstrue from 'cronstrue'
import { earlyLimit } from '#shared/monitoring/checks/early.ts'
import { goingDownAt, graceStart } from '#shared/monitoring/checks/status.ts'
import { guessKind, isValidSchedule, nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { resolveTimeZone } from '#shared/monitoring/schedules/time-zones.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { everyText } from '../../shell/format.ts'

export interface SchedulePreview {
  /** null if the schedule is valid */
  problem: string | null
  /** `Every 15 min, and 1 h of grace.` */
  words: string
  tz: string
  /** next times of a schedule; empty for an interval */
  next: readonly Micros[]
  /** assumes that the last success is now */
  lateAt: Micros | null
  downAt: Micros | null
  /** half of the shortest of the next intervals, if pings would be accepted earlier than that */
  earlyLimit: Micros | null
}

export interface ScheduleInput {
  kind: 'simple' | 'schedule'
  timeoutSeconds: number
  graceSeconds: number
  schedule: string
  tz: string
  earlySeconds?: number
}

const SHOWN_TIMES = 5
const [MIN_SECONDS, MAX_SECONDS] = [60, 365 * 86_400]
const MAX_EARLY_SECONDS = 86_400

/** @param now time of the assumed last success */
export function previewSchedule(input: ScheduleInput, now: Micros): SchedulePreview {
  const { kind, timeoutSeconds, graceSeconds, schedule, tz } = input
  const none = { words: '', tz, next: [], lateAt: null, downAt: null, earlyLimit: null }
  const isLength = (seconds: number) => seconds >= MIN_SECONDS && seconds <= MAX_SECONDS
  if (!isLength(graceSeconds)) return { ...none, problem: 'The grace time is a number, from one minute to a year.' }
  if (kind === 'simple') {
    if (!isLength(timeoutSeconds)) return { ...none, problem: 'The period is a number, from one minute to a year.' }
    const lateAt = now + microsOfSeconds(timeoutSeconds)
    const words = `A ping at least ${everyText(timeoutSeconds)}.`
    return { ...none, problem: null, words, lateAt, downAt: lateAt + microsOfSeconds(graceSeconds) }
  }
  const { earlySeconds = 0 } = input
  if (!(earlySeconds >= 0 && earlySeconds <= MAX_EARLY_SECONDS))
    return { ...none, problem: 'Pings are accepted early by a number, from zero to one day.' }
  if (schedule.trim() === '') return { ...none, problem: 'The schedule is empty.' }
  if (resolveTimeZone(tz) === null) return { ...none, problem: `“${tz.slice(0, 50)}” is not a time zone.` }
  if (!isValidSchedule(schedule, tz)) {
    return {
      ...none,
      problem:
        'This is neither a cron expression with five fields nor an OnCalendar expression, or it never occurs in the time zone.',
    }
  }
  const times = { ...check(input), lastPing: now }
  const next = nextTimes(schedule, tz, now)
  const limit = earlyLimit(next)
  return {
    problem: null,
    words: `${scheduleText(schedule)}, by the clock of ${tz}.`,
    tz,
    next,
    earlyLimit: limit !== null && microsOfSeconds(earlySeconds) > limit ? limit : null,
    lateAt: graceStart(times, nextOccurrence),
    downAt: goingDownAt(times, nextOccurrence),
  }
}

/** Describes a cron expression, `At 03:15, Monday through Friday`; returns other schedules unchanged. */
export function scheduleText(schedule: string): string {
  if (guessKind(schedule) !== 'cron') return schedule
  try {
    return cronstrue.toString(schedule, { use24HourTimeFormat: true })
  } catch {
    // The library refuses some valid expressions, for example with names of months.
    return schedule
  }
}

export function nextTimes(schedule: string, tz: string, now: Micros): Micros[] {
  const times: Micros[] = []
  let after: Micros | null = now
  while (times.length < SHOWN_TIMES && after !== null) {
    after = nextOccurrence(guessKind(schedule), schedule, tz, after)
    if (after !== null) times.push(after)
  }
  return times
}

function check({ timeoutSeconds, graceSeconds, schedule, tz, earlySeconds = 0 }: ScheduleInput) {
  return {
    kind: guessKind(schedule),
    timeoutSeconds,
    graceSeconds,
    schedule,
    tz,
    earlySeconds,
    status: 'up' as const,
    nPings: 1,
    lastStart: null,
    lastStartRid: null,
    lastDuration: null,
    alertAfter: null,
    deadlineExtendedAt: null,
  }
}
