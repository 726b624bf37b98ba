import type { Knex } from 'knex'
import { ConflictError, ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { acrossTenants } from '../../platform/database/tenant.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import { invalid, isPresent, readInstant, refuseUnknown } from '../alerting/fields.ts'
import { alertingChanged, policiesNaming } from '../alerting/policy-store.ts'
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
import { addressOf, changeFacts, type Edit } from './change-facts.ts'
import { namedIntegrations } from './check-changes.ts'
import { inTransaction, type OperationDeps } from './deps.ts'
import { loadOnCallFacts, recordShifts } from './record-shifts.ts'
import { mailDeletedShifts, noteShiftChanges } from './shift-changes.ts'

export const MAX_SCHEDULES = 50
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
    if ((await countSchedules(tx, project.id)) >= MAX_SCHEDULES)
      throw new ForbiddenError(`The project has reached its limit of ${MAX_SCHEDULES} schedules.`)
    const id = await insertSchedule(tx, project, fields)
    if (id === null) throw new ConflictError(NAME_IN_USE)
    const schedule = await lockSchedule(tx, id)
    if (!schedule) throw new Error('an inserted row is found')
    const facts = await recordShifts(tx, schedule, now)
    await noteShiftChanges(tx, null, facts, { now, known: addressOf(actor) })
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
    await changeFacts(tx, { id: found.id, now, actor }, async (current) => {
      const fields = readSchedule(body, current, integrations)
      if (!(await updateRow(tx, current.id, fields))) throw new ConflictError(NAME_IN_USE)
      await audit(tx, actor, project, 'schedule.changed', fields.name)
    })
    return await requireSchedule(tx, project.id, uuid)
  })
}

/**
 * @param input.visible projects whose policies the caller may see by name
 * @throws NotFoundError, ConflictError if a policy names it
 */
export async function deleteSchedule(
  db: Knex,
  actor: Actor,
  input: { project: Owner; uuid: string; now: Micros; visible: readonly Pick<Project, 'id'>[] },
  deps: Pick<OperationDeps, 'config' | 'secrets' | 'outbox'>,
): Promise<StoredSchedule> {
  const { project, uuid, now, visible } = input
  return await inTransaction(db, deps, async (tx, enqueue) => {
    const schedule = await requireSchedule(tx, project.id, uuid)
    // A shared schedule may be named by policies of other projects.
    const users = await acrossTenants(() => policiesNaming(tx, project.organisationId, uuid))
    if (users.length > 0) throw new ConflictError(usedBy(users, visible))
    const [facts] = await loadOnCallFacts(tx, [schedule], now)
    if (facts && enqueue) await mailDeletedShifts(tx, enqueue, deps, { facts, now, known: addressOf(actor) })
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
    return await storeOverride(tx, { id, now, actor, fields, by }, (schedule) =>
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
    return await storeOverride(tx, { id: schedule.id, now, actor, known: [person], fields, by }, () =>
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
    await changeFacts(tx, { id: override.scheduleId, now, actor }, async (schedule) => {
      if (!(await deleteOverrideRow(tx, override.id))) throw new NotFoundError('')
      await audit(tx, actor, project, 'override.deleted', overrideLabel(schedule, override))
    })
    return override
  })
}

type User = Awaited<ReturnType<typeof policiesNaming>>[number]

/** Names a policy only if the caller may see its project. */
function usedBy(users: readonly User[], visible: readonly Pick<Project, 'id'>[]): string {
  const named = users.find(({ projectId }) => visible.some(({ id }) => id === projectId))
  if (named) return `is used by policy "${named.name}"`
  return users.length === 1
    ? 'is used by 1 policy of another project'
    : `is used by ${users.length} policies of other projects`
}

/** @throws NotFoundError */
async function requireSchedule(db: Knex, projectId: number, uuid: string): Promise<StoredSchedule> {
  const schedule = await findSchedule(db, projectId, uuid)
  if (!schedule) throw new NotFoundError('')
  return schedule
}

async function storeOverride(
  tx: Knex,
  { fields, by, ...edit }: Edit & { fields: OverrideFields; by: string },
  note: (schedule: StoredSchedule) => Promise<void>,
): Promise<StoredOverride> {
  const { id, now } = edit
  const stored = await changeFacts(tx, edit, async (schedule) => {
    if ((await overridesOf(tx, [id], now)).length >= MAX_OVERRIDES)
      throw new ForbiddenError(`The schedule has reached its limit of ${MAX_OVERRIDES} overrides.`)
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
