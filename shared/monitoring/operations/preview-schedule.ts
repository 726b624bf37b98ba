import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import { isUuid } from '../../uuid.ts'
import { invalid, isPresent, readInstant, readObject, readText, refuseUnknown } from '../alerting/fields.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { changesOf, type PersonChange } from '../on-call/changes.ts'
import { type Shift, shifts } from '../on-call/on-call.ts'
import { readSchedule } from '../on-call/read-schedule.ts'
import { DAY_SECONDS, type OnCallFacts, type ScheduleFields } from '../on-call/schedule.ts'
import { findSchedule, listResponders, type Responder } from '../on-call/schedule-store.ts'
import { type Warning, warningsOf } from '../on-call/warnings.ts'
import type { Project } from '../projects/store.ts'
import { namedIntegrations } from './check-changes.ts'
import { loadScheduleUse, type ReachDeps } from './reachable.ts'
import { loadOnCallFacts } from './record-shifts.ts'

export interface SchedulePreview {
  schedule: ScheduleFields
  shifts: Shift[]
  warnings: Warning[]
  /** compared with the stored schedule; with no schedule without one */
  changes: PersonChange[]
  people: ReadonlyMap<string, Responder>
}

const DAY: Micros = microsOfSeconds(DAY_SECONDS)
const MAX_DAYS = 93
const DEFAULT_DAYS = 14

/** Stores nothing. @throws ValidationError for the first invalid member, NotFoundError for an unknown `id` */
export async function previewSchedule(
  db: Knex,
  { project, body, now }: { project: Pick<Project, 'id' | 'organisationId'>; body: JsonObject; now: Micros },
  deps: ReachDeps,
): Promise<SchedulePreview> {
  const draft = readObject(body.schedule, 'schedule')
  const id = isPresent(body.id) ? readText(body.id, 'id', { max: 100 }) : null
  const stored = id !== null && isUuid(id) ? await findSchedule(db, project.id, id) : null
  if (id !== null && !stored) throw new NotFoundError('')
  const schedule = readSchedule(draft, stored, await namedIntegrations(db, project.id))
  const from = isPresent(body.from) ? readInstant(body.from, 'from') : now
  const until = isPresent(body.until) ? readInstant(body.until, 'until') : from + DEFAULT_DAYS * DAY
  if (until <= from || until - from > MAX_DAYS * DAY)
    throw invalid('until', `must be after from, by at most ${MAX_DAYS} days`)
  refuseUnknown(body, '', ['schedule', 'id', 'from', 'until', 'api_key'])

  const [facts] = stored ? await loadOnCallFacts(db, [stored], now) : []
  const people = facts?.people ?? new Map((await listResponders(db, [project.organisationId])).map((p) => [p.email, p]))
  const before: OnCallFacts | null = facts ?? null
  const after = { schedule, overrides: facts?.overrides ?? [], members: new Set(people.keys()) }
  const result = shifts(after, from, until)
  const changes = changesOf(before ? shifts(before, from, until) : [], result)
  const useOf = await loadScheduleUse(
    db,
    [{ people }],
    { organisationId: project.organisationId, visible: [project] },
    deps,
  )
  // A policy cannot name a schedule before it is stored.
  const use = stored ? useOf(stored.uuid) : { ...useOf(''), isUsed: true }
  const warnings = warningsOf(after, now, use)
  return { schedule, shifts: result, warnings, changes, people }
}
