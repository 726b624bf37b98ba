import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import type { Micros } from '../../time.ts'
import { overridesOf, type StoredOverride } from '../on-call/override-store.ts'
import { recordUntil } from '../on-call/record.ts'
import type { OnCallFacts } from '../on-call/schedule.ts'
import {
  dueSchedules,
  listResponders,
  type Responder,
  type StoredSchedule,
  saveNextChange,
  tryLockSchedule,
} from '../on-call/schedule-store.ts'
import { openShift, saveRecording } from '../on-call/shift-store.ts'

export interface LoadedFacts extends OnCallFacts {
  schedule: StoredSchedule
  overrides: readonly StoredOverride[]
  /** of the organisation, by address */
  people: ReadonlyMap<string, Responder>
}

/** Loads the facts about schedules, which apply from the last recording on. */
export async function loadOnCallFacts(
  db: Knex,
  schedules: readonly StoredSchedule[],
  now: Micros,
): Promise<LoadedFacts[]> {
  if (schedules.length === 0) return []
  const since = Math.min(now, ...schedules.map(({ nextChangeAt }) => nextChangeAt ?? now))
  const ids = schedules.map(({ id }) => id)
  const overrides = await overridesOf(db, ids, since)
  const responders = await listResponders(db, [...new Set(schedules.map(({ organisationId }) => organisationId))])
  const people = Map.groupBy(responders, ({ organisationId }) => organisationId)
  return schedules.map((schedule) => {
    const own = new Map((people.get(schedule.organisationId) ?? []).map((person) => [person.email, person]))
    return {
      schedule,
      overrides: overrides.filter(({ scheduleId }) => scheduleId === schedule.id),
      members: new Set(own.keys()),
      people: own,
    }
  })
}

/** Records the shifts of a locked schedule up to `now`, before and after each change of its facts. Returns the facts. */
export async function recordShifts(tx: Knex, schedule: StoredSchedule, now: Micros): Promise<LoadedFacts> {
  const [facts] = await loadOnCallFacts(tx, [schedule], now)
  if (!facts) throw new Error('the facts of a schedule are found')
  const open = await openShift(tx, schedule.id)
  const recording = recordUntil(facts, { open, nextChangeAt: schedule.nextChangeAt }, now)
  await saveRecording(tx, schedule.id, recording)
  await saveNextChange(tx, schedule.id, recording.nextChangeAt)
  return facts
}

const BATCH = 200

/** Records due changes, each schedule in its own transaction. Schedules that another process records are left to it. */
export async function recordDueShifts(db: Knex, now: Micros): Promise<void> {
  for (let count = BATCH; count === BATCH; ) {
    const due = await dueSchedules(db, now, BATCH)
    let recorded = 0
    for (const id of due) {
      await transaction(db, async (tx) => {
        const schedule = await tryLockSchedule(tx, id)
        if (!schedule) return
        await recordShifts(tx, schedule, now)
        recorded += 1
      })
    }
    count = recorded === 0 ? 0 : due.length
  }
}
