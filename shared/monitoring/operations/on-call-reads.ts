import type { Knex } from 'knex'
import { mapYielding } from '../../platform/process/time-slices.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import type { Shift } from '../on-call/on-call.ts'
import { currentAndNext, timeline } from '../on-call/record.ts'
import { type PersonReport, reportOf } from '../on-call/report.ts'
import { DAY_SECONDS } from '../on-call/schedule.ts'
import type { StoredSchedule } from '../on-call/schedule-store.ts'
import { acknowledgements, notificationCounts, recordedShifts } from '../on-call/shift-store.ts'
import { type LoadedFacts, loadOnCallFacts } from './record-shifts.ts'

const DAY: Micros = microsOfSeconds(DAY_SECONDS)

export interface ScheduleShifts {
  facts: LoadedFacts
  /** recorded up to now, computed afterwards */
  shifts: Shift[]
}

/** Returns the shifts of each schedule that overlap the time. The last one may be cut at `until`. */
export async function loadShifts(
  db: Knex,
  schedules: readonly StoredSchedule[],
  span: { from: Micros; until: Micros; now: Micros },
): Promise<ScheduleShifts[]> {
  const ids = schedules.map(({ id }) => id)
  const facts = await loadOnCallFacts(db, schedules, span.now)
  // The open row shows the beginning of the current shift.
  const rows = await recordedShifts(db, ids, Math.min(span.from, span.now), Math.max(span.until, span.now))
  return await mapYielding(facts, (each) => {
    const { id, nextChangeAt } = each.schedule
    const own = rows.filter(({ scheduleId }) => scheduleId === id)
    return { facts: each, shifts: timeline(each, { rows: own, nextChangeAt }, span) }
  })
}

export interface CurrentShift {
  facts: LoadedFacts
  current: Shift | null
  next: Shift | null
  /** true if `current` ends after the time that was computed */
  isEndless: boolean
}

/** Returns who is on call at an instant and who is next, within 400 days. */
export async function loadCurrent(
  db: Knex,
  schedules: readonly StoredSchedule[],
  { at, now }: { at: Micros; now: Micros },
): Promise<CurrentShift[]> {
  const found = new Map<number, CurrentShift>()
  let open = schedules
  // Most shifts are short, so most need only a few days.
  for (const days of [16, 400]) {
    const until = Math.max(at, now) + days * DAY
    for (const { facts, shifts } of await loadShifts(db, open, { from: at, until, now })) {
      const { current, next } = currentAndNext(shifts, at)
      found.set(facts.schedule.id, { facts, current, next, isEndless: current?.until === until })
    }
    open = schedules.filter(({ id }) => found.get(id)?.isEndless || found.get(id)?.next === null)
    if (open.length === 0) break
  }
  return schedules.flatMap(({ id }) => found.get(id) ?? [])
}

export interface ReportRow extends Omit<PersonReport, 'person'> {
  person: { name: string; address: string }
  notifications: number
  night_notifications: number
  acknowledged: number
  median_ack_seconds: number | null
}

/** Returns the time of each person from recorded shifts, up to now. */
export async function loadReport(
  db: Knex,
  schedule: StoredSchedule,
  { from, until, now }: { from: Micros; until: Micros; now: Micros },
): Promise<ReportRow[]> {
  const end = Math.min(until, now)
  const [[facts], rows, acks, notified] = await Promise.all([
    loadOnCallFacts(db, [schedule], now),
    recordedShifts(db, [schedule.id], from, end),
    acknowledgements(db, schedule.projectId, from, end),
    notificationCounts(db, schedule, from, end),
  ])
  const recorded = rows.map((row) => ({ ...row, until: row.until ?? end }))
  return reportOf(recorded, schedule, from, end).map(({ person, ...sums }) => {
    const ack = acks.find(({ by }) => by === person)
    const counts = notified.find((each) => each.person === person)
    return {
      person: { name: facts?.people.get(person)?.name ?? '', address: person },
      ...sums,
      notifications: counts?.count ?? 0,
      night_notifications: counts?.nightCount ?? 0,
      acknowledged: ack?.count ?? 0,
      median_ack_seconds: ack?.medianSeconds ?? null,
    }
  })
}
