import type { Knex } from 'knex'
import type { Micros } from '../../time.ts'
import { invalid, isPresent, readList, readObject } from '../alerting/fields.ts'
import { type Plan, targetsOf } from '../alerting/policy.ts'
import type { JsonValue } from '../checks/json-body.ts'
import { HORIZON, shifts } from '../on-call/on-call.ts'
import { readSchedule } from '../on-call/read-schedule.ts'
import type { ScheduleFields } from '../on-call/schedule.ts'
import { listResponders, listSchedules, type StoredSchedule } from '../on-call/schedule-store.ts'
import type { Project } from '../projects/store.ts'
import type { SimulatedPeople, SimulatedSchedule } from '../simulation/simulated-people.ts'
import { namedIntegrations } from './check-changes.ts'
import { locating } from './export-project.ts'
import { loadFactPeople } from './fact-people.ts'
import { loadShifts } from './on-call-reads.ts'
import type { ReachDeps } from './reachable.ts'
import { loadOnCallFacts } from './record-shifts.ts'
import { MAX_SCHEDULES } from './schedules.ts'

type SimulatedProject = Pick<Project, 'id' | 'organisationId'>

/** by uuid of the schedule that a draft replaces */
export type ScheduleDrafts = ReadonlyMap<string, ScheduleFields>

/** Each draft names a schedule of the project and the members to change. @throws ValidationError */
export async function readScheduleDrafts(
  db: Knex,
  project: SimulatedProject,
  value: JsonValue | undefined,
): Promise<ScheduleDrafts> {
  const drafts = new Map<string, ScheduleFields>()
  if (!isPresent(value)) return drafts
  const listed = readList(value, 'schedules', { max: MAX_SCHEDULES })
  const stored = (await listSchedules(db, project)).filter(({ projectId }) => projectId === project.id)
  const integrations = await namedIntegrations(db, project.id)
  for (const [index, item] of listed.entries()) {
    const path = `schedules[${index}]`
    const { id, ...body } = readObject(item, path)
    const current = stored.find(({ uuid }) => uuid === id)
    if (!current) throw invalid(`${path}.id`, 'must be the id of a schedule of the project')
    if (drafts.has(current.uuid)) throw invalid(`${path}.id`, 'repeats another draft')
    await locating(path, async () => {
      drafts.set(current.uuid, readSchedule(body, current, integrations))
    })
  }
  return drafts
}

interface Span {
  /** of the first event */
  from: Micros
  until: Micros
  now: Micros
}

/**
 * Loads the persons and schedules of a plan. Shifts until now are as recorded, and later ones as computed; those of a
 * draft are computed. Returns null if the plan notifies no persons.
 */
export async function loadSimulatedPeople(
  db: Knex,
  { project, plan, drafts, ...span }: { project: SimulatedProject; plan: Plan | null; drafts: ScheduleDrafts } & Span,
  deps: ReachDeps,
): Promise<SimulatedPeople | null> {
  const targets = plan ? targetsOf(plan) : []
  if (targets.length === 0) return null
  const ids = new Set(targets.flatMap((target) => ('schedule' in target ? [target.schedule] : [])))
  const stored = ids.size === 0 ? [] : (await listSchedules(db, project)).filter(({ uuid }) => ids.has(uuid))
  const schedules = await shiftsOf(db, stored, drafts, span)
  const addresses = new Set([
    ...targets.flatMap((target) => ('person' in target ? [target.person] : [])),
    ...schedules.flatMap((schedule) => schedule.shifts.map(({ person }) => person)),
  ])
  const responders = await listResponders(db, [project.organisationId])
  const people = await loadFactPeople(
    db,
    deps,
    responders.filter(({ email }) => addresses.has(email)),
  )
  return { people, schedules }
}

async function shiftsOf(
  db: Knex,
  stored: readonly StoredSchedule[],
  drafts: ScheduleDrafts,
  { from, until, now }: Span,
): Promise<SimulatedSchedule[]> {
  // Shifts are cut at the end, which is no change of shift. So it is later than the simulation.
  const time = { from: Math.max(from, until - HORIZON), until: until + 1 }
  const drafted = stored.filter(({ uuid }) => drafts.has(uuid))
  const others = stored.filter(({ uuid }) => !drafts.has(uuid))
  const isPast = time.from < now
  const ofDrafts = await loadOnCallFacts(db, drafted, Math.min(time.from, now))
  const ofOthers = isPast ? [] : await loadOnCallFacts(db, others, now)
  const recorded = isPast ? await loadShifts(db, others, { ...time, now }) : []
  const computed = [...ofDrafts, ...ofOthers].map((facts) => {
    const { uuid: id, name } = facts.schedule
    const draft = drafts.get(id)
    return {
      id,
      name: draft?.name ?? name,
      shifts: shifts({ ...facts, schedule: draft ?? facts.schedule }, time.from, time.until),
    }
  })
  return [
    ...recorded.map(({ facts, shifts: list }) => ({
      id: facts.schedule.uuid,
      name: facts.schedule.name,
      shifts: list,
    })),
    ...computed,
  ]
}
