import type { Knex } from 'knex'
import { ForbiddenError, ValidationError } from '../../errors.ts'
import { createTimeSlices } from '../../platform/process/time-slices.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import type { Micros } from '../../time.ts'
import { readInstant, readList, readObject } from '../alerting/fields.ts'
import type { NamedIntegration } from '../checks/integrations-field.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { insertOverride, overridesOf } from '../on-call/override-store.ts'
import { type OverrideFields, readOverride } from '../on-call/read-override.ts'
import { readSchedule, scheduleView } from '../on-call/read-schedule.ts'
import type { ScheduleFields } from '../on-call/schedule.ts'
import { insertSchedule, listSchedules, lockSchedule, updateSchedule } from '../on-call/schedule-store.ts'
import type { ObjectChanges } from '../projects/config-document.ts'
import type { Project } from '../projects/store.ts'
import { addressOf, changeFacts } from './change-facts.ts'
import { namedIntegrations } from './check-changes.ts'
import { identity, insertAs, locating } from './export-project.ts'
import { differences } from './import-alerting.ts'
import { recordShifts } from './record-shifts.ts'
import { MAX_OVERRIDES, MAX_SCHEDULES } from './schedules.ts'
import { noteShiftChanges } from './shift-changes.ts'

interface Input {
  project: Project
  apply: boolean
  /** collects the addresses of the document */
  people: Set<string>
  actor: Actor
  now: Micros
}

type NewOverride = OverrideFields & { uuid: string }

/**
 * Stores differences if `apply` is set, and adds overrides that the schedule does not have. The caller must have locked
 * the project. @throws ValidationError with the path of the first invalid entry, ForbiddenError beyond a limit
 */
export async function importSchedules(
  tx: Knex,
  { project, apply, people, actor, now }: Input,
  listed: readonly JsonObject[],
  newIntegrations: readonly NamedIntegration[],
): Promise<ObjectChanges> {
  const report: ObjectChanges = { create: [], update: [], unchanged: 0 }
  if (listed.length === 0) return report
  const stored = (await listSchedules(tx, project)).filter(({ projectId }) => projectId === project.id)
  const existing = new Map(stored.map((schedule) => [schedule.uuid, schedule]))
  const integrations = [...(await namedIntegrations(tx, project.id)), ...newIntegrations]
  const createdBy = auditedActor(actor).actor
  const slices = createTimeSlices()
  for (const [index, { id, overrides: given, ...body }] of listed.entries()) {
    await slices.yieldIfNeeded()
    await locating(`schedules[${index}]`, async () => {
      const uuid = identity(id, 'id')
      const current = existing.get(uuid) ?? null
      const fields = readSchedule(body, current, integrations)
      const had = current ? await overridesOf(tx, [current.id], 0) : []
      const read = readOverrides(given, now).filter((override) => !had.some((one) => one.uuid === override.uuid))
      for (const address of addressesOf(fields, read)) people.add(address)
      const insertAll = async (scheduleId: number) => {
        for (const { uuid: own, ...override } of read)
          await insertAs(tx, 'override', (to) => insertOverride(to, scheduleId, override, { createdBy, uuid: own }))
      }
      if (!current) {
        report.create.push({ id: uuid, name: fields.name })
        if (apply) await create(tx, { project, uuid, actor, now }, fields, insertAll)
        return
      }
      const open = had.filter(({ end }) => end > now).length
      if (open + read.length > MAX_OVERRIDES)
        throw new ForbiddenError(`The schedule “${fields.name}” would exceed its limit of ${MAX_OVERRIDES} overrides.`)
      const changes = {
        ...differences(scheduleView(current), scheduleView(fields)),
        ...(read.length > 0 && { overrides: { from: open, to: open + read.length } }),
      }
      if (Object.keys(changes).length === 0) {
        report.unchanged += 1
        return
      }
      report.update.push({ id: uuid, name: fields.name, changes })
      if (!apply) return
      await changeFacts(tx, { id: current.id, now, actor }, async () => {
        if (!(await updateSchedule(tx, current.id, fields))) throw new ValidationError(NAME_IN_USE)
        await insertAll(current.id)
      })
    })
  }
  if (report.create.length > 0 && existing.size + report.create.length > MAX_SCHEDULES)
    throw new ForbiddenError(`The project would exceed its limit of ${MAX_SCHEDULES} schedules.`)
  return report
}

const NAME_IN_USE = 'name is used by another schedule'

async function create(
  tx: Knex,
  { project, uuid, actor, now }: { project: Project; uuid: string; actor: Actor; now: Micros },
  fields: ScheduleFields,
  insertAll: (scheduleId: number) => Promise<void>,
): Promise<void> {
  let id: number | null = null
  await insertAs(tx, 'schedule', async (savepoint) => {
    id = await insertSchedule(savepoint, project, fields, uuid)
  })
  if (id === null) throw new ValidationError(NAME_IN_USE)
  await insertAll(id)
  const schedule = await lockSchedule(tx, id)
  if (!schedule) return
  const facts = await recordShifts(tx, schedule, now)
  await noteShiftChanges(tx, null, facts, { now, known: addressOf(actor) })
}

/** Omits overrides that have ended. */
function readOverrides(value: JsonValue | undefined, now: Micros): NewOverride[] {
  if (value === undefined) return []
  return readList(value, 'overrides', { max: MAX_OVERRIDES }).flatMap((it, index) => {
    const { id, ...body } = readObject(it, `overrides[${index}]`)
    const uuid = identity(id, `overrides[${index}].id`)
    if (readInstant(body.end, `overrides[${index}].end`) <= now) return []
    return [{ uuid, ...readOverride(body, now) }]
  })
}

function addressesOf({ layers, fallback }: ScheduleFields, overrides: readonly NewOverride[]): string[] {
  const named = [...layers.flatMap(({ people }) => people), fallback, ...overrides.map(({ person }) => person)]
  return named.filter((address) => address !== null)
}
