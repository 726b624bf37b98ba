import type { Knex } from 'knex'
import { acrossTenants } from '../../platform/database/tenant.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Micros } from '../../time.ts'
import { alertingChanged, policiesNaming } from '../alerting/policy-store.ts'
import { lockSchedule, markScheduleChanged, type StoredSchedule } from '../on-call/schedule-store.ts'
import { recordShifts } from './record-shifts.ts'
import { noteShiftChanges } from './shift-changes.ts'

export interface Edit {
  id: number
  now: Micros
  actor: Actor
  /** people who get no mail about their changed shifts; the actor gets none either */
  known?: readonly string[]
}

/** Changes the facts of a schedule at `now`. Returns null if it was deleted. */
export async function changeFacts<T>(
  tx: Knex,
  { id, now, actor, known = [] }: Edit,
  change: (schedule: StoredSchedule) => Promise<T>,
): Promise<T | null> {
  const schedule = await lockSchedule(tx, id)
  if (!schedule) return null
  const before = await recordShifts(tx, schedule, now)
  const result = await change(schedule)
  await markScheduleChanged(tx, id)
  await policiesChanged(tx, schedule)
  const changed = await lockSchedule(tx, id)
  if (!changed) return result
  const after = await recordShifts(tx, changed, now)
  await noteShiftChanges(tx, before, after, { now, known: [...known, ...addressOf(actor)] })
  return result
}

/** Makes open incidents of all projects that use the schedule due. */
async function policiesChanged(tx: Knex, { organisationId, uuid }: StoredSchedule): Promise<void> {
  await acrossTenants(async () => {
    const users = await policiesNaming(tx, organisationId, uuid)
    for (const projectId of new Set(users.map((policy) => policy.projectId))) await alertingChanged(tx, projectId)
  })
}

/** The address of a person who edits; keys and operators have none. */
export function addressOf(actor: Actor): string[] {
  return actor.kind === 'person' ? [actor.email] : []
}
