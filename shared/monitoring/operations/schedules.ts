import type { Knex } from 'knex'
import { ConflictError, ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import { invalid, isPresent, readInstant, refuseUnknown } from '../alerting/fields.ts'
import { alertingChanged } from '../alerting/policy-store.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { nextChange } from '../on-call/on-call.ts'
import {
  deleteOverride as deleteOverrideRow,
  findOverride,
  insertOverride,
  overridesOf,
  type StoredOverride,
} from '../on-call/override-store.ts'
import { type OverrideFields, readOverride } from '../on-call/read-override.ts'
import { readPerson, readSchedule } from '../on-call/read-schedule.ts'
import { DAY_SECONDS } from '../on-call/schedule.ts'
import {
  countSchedules,
  deleteSchedule as deleteRow,
  findSchedule,
  insertSchedule,
  lockSchedule,
  type StoredSchedule,
  updateSchedule as updateRow,
} from '../on-call/schedule-store.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { namedIntegrations } from './check-changes.ts'
import { changeFacts, loadOnCallFacts, recordShifts } from './record-shifts.ts'

const MAX_SCHEDULES = 50
export const MAX_OVERRIDES = 500
const NAME_IN_USE = 'name is used by another schedule'

type Owner = Pick<Project, 'id' | 'organisationId'>

/** @throws ValidationError for the first invalid member, ForbiddenError beyond MAX_SCHEDULES, ConflictError for a used name */
export async function createSchedule(
  db: Knex,
  actor: Actor,
  { project, body, now }: { project: Owner; body: JsonObject; now: Micros },
): Promise<StoredSchedule> {
  return await transaction(db, async (tx) => {
    const fields = readSchedule(body, null, await namedIntegrations(tx, project.id))
    await lockProject(tx, project.id)
    if ((await countSchedules(tx, project.id)) >= MAX_SCHEDULES) throw new ForbiddenError('')
    const id = await insertSchedule(tx, project, fields)
    if (id === null) throw new ConflictError(NAME_IN_USE)
    const schedule = await lockSchedule(tx, id)
    if (!schedule) throw new Error('an inserted row is found')
    await recordShifts(tx, schedule, now)
    await audit(tx, actor, project, 'schedule.created', fields.name)
    return schedule
  })
}

/** A change is effective at once; the shifts before it stay as recorded. @throws as `createSchedule`, NotFoundError */
export async function updateSchedule(
  db: Knex,
  actor: Actor,
  input: { project: Owner; uuid: string; body: JsonObject; now: Micros },
): Promise<StoredSchedule> {
  const { project, uuid, body, now } = input
  return await transaction(db, async (tx) => {
    const found = await requireSchedule(tx, project.id, uuid)
    const integrations = await namedIntegrations(tx, project.id)
    await changeFacts(tx, found.id, now, async (current) => {
      const fields = readSchedule(body, current, integrations)
      if (!(await updateRow(tx, current.id, fields))) throw new ConflictError(NAME_IN_USE)
      await audit(tx, actor, project, 'schedule.changed', fields.name)
    })
    return await requireSchedule(tx, project.id, uuid)
  })
}

/** @throws NotFoundError */
export async function deleteSchedule(
  db: Knex,
  actor: Actor,
  { project, uuid }: { project: Owner; uuid: string },
): Promise<StoredSchedule> {
  return await transaction(db, async (tx) => {
    const schedule = await requireSchedule(tx, project.id, uuid)
    if (!(await deleteRow(tx, schedule.id))) throw new NotFoundError('')
    await audit(tx, actor, project, 'schedule.deleted', schedule.name)
    return schedule
  })
}

/** @throws ValidationError, NotFoundError, ForbiddenError beyond MAX_OVERRIDES */
export async function addOverride(
  db: Knex,
  actor: Actor,
  input: { project: Owner; uuid: string; body: JsonObject; by: string; now: Micros },
): Promise<StoredOverride> {
  const { project, uuid, body, by, now } = input
  return await transaction(db, async (tx) => {
    const { id } = await requireSchedule(tx, project.id, uuid)
    const fields = readOverride(body, now)
    return await storeOverride(tx, { id, fields, by, now }, (schedule) =>
      audit(tx, actor, project, 'override.created', overrideLabel(schedule, fields)),
    )
  })
}

/** Without an end, until the end of the shift. @throws ValidationError, NotFoundError, ForbiddenError beyond MAX_OVERRIDES */
export async function takeOver(
  db: Knex,
  actor: Actor,
  input: { project: Owner; uuid: string; body: JsonObject; by: string; now: Micros },
): Promise<StoredOverride> {
  const { project, uuid, body, by, now } = input
  return await transaction(db, async (tx) => {
    const schedule = await requireSchedule(tx, project.id, uuid)
    const person = readPerson(body.person, 'person')
    const until = isPresent(body.until) ? readInstant(body.until, 'until') : await endOfShift(tx, schedule, now)
    refuseUnknown(body, '', ['person', 'until', 'api_key'])
    if (until <= now) throw invalid('until', 'is in the past')
    const fields = { person, replaces: null, start: now, end: until, note: '' }
    return await storeOverride(tx, { id: schedule.id, fields, by, now }, () =>
      audit(tx, actor, project, 'schedule.taken-over', overrideLabel(schedule, fields)),
    )
  })
}

/** Its time in the past stays in the recorded shifts. @throws NotFoundError */
export async function removeOverride(
  db: Knex,
  actor: Actor,
  { project, uuid, now }: { project: Owner; uuid: string; now: Micros },
): Promise<StoredOverride> {
  return await transaction(db, async (tx) => {
    const override = await findOverride(tx, project.id, uuid)
    if (!override) throw new NotFoundError('')
    await changeFacts(tx, override.scheduleId, now, async (schedule) => {
      if (!(await deleteOverrideRow(tx, override.id))) throw new NotFoundError('')
      await audit(tx, actor, project, 'override.deleted', overrideLabel(schedule, override))
    })
    return override
  })
}

/** @throws NotFoundError */
async function requireSchedule(db: Knex, projectId: number, uuid: string): Promise<StoredSchedule> {
  const schedule = await findSchedule(db, projectId, uuid)
  if (!schedule) throw new NotFoundError('')
  return schedule
}

async function storeOverride(
  tx: Knex,
  input: { id: number; fields: OverrideFields; by: string; now: Micros },
  note: (schedule: StoredSchedule) => Promise<void>,
): Promise<StoredOverride> {
  const { id, fields, by, now } = input
  const stored = await changeFacts(tx, id, now, async (schedule) => {
    if ((await overridesOf(tx, [id], now)).length >= MAX_OVERRIDES) throw new ForbiddenError('')
    await note(schedule)
    return await insertOverride(tx, id, fields, { createdBy: by })
  })
  if (!stored) throw new NotFoundError('')
  return stored
}

/** @throws ValidationError if the shift has no near end */
async function endOfShift(tx: Knex, schedule: StoredSchedule, now: Micros): Promise<Micros> {
  const [facts] = await loadOnCallFacts(tx, [schedule], now)
  const end = facts ? nextChange(facts, now) : null
  if (end === null || end > now + microsOfSeconds(366 * DAY_SECONDS))
    throw invalid('until', 'is required, because the shift has no end within 366 days')
  return end
}

function overrideLabel({ name }: { name: string }, { person, replaces }: OverrideFields): string {
  return `${name}: ${person ?? 'no person'}${replaces === null ? '' : ` instead of ${replaces}`}`
}

/** Also invalidates the alerters' cache. */
async function audit(tx: Knex, actor: Actor, project: Owner, action: string, target: string): Promise<void> {
  await alertingChanged(tx, project.id)
  await insertActorAudit(tx, actor, { organisationId: project.organisationId, action, target })
}
