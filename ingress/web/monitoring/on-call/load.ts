import { NotFoundError } from '#shared/errors.ts'
import { listSchedules, type StoredSchedule } from '#shared/monitoring/on-call/schedule-store.ts'
import type { LoadedFacts } from '#shared/monitoring/operations/record-shifts.ts'
import type { Right } from '#shared/tenancy/accounts/roles.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Context } from '../../shell/context.ts'
import { type ProjectWorkspace, requireProject } from '../../shell/workspace.ts'

export interface ScheduleWorkspace extends ProjectWorkspace {
  schedule: StoredSchedule
  /** false for a shared schedule of another project, which only that project changes */
  isOwn: boolean
  base: string
}

/** Returns the schedule of the path. @throws NotFoundError, ForbiddenError */
export async function requireSchedulePage(context: Context, right: Right): Promise<ScheduleWorkspace> {
  const workspace = await requireProject(context, right)
  const { project } = workspace
  const uuid = context.params.schedule ?? ''
  const all = isUuid(uuid) ? await listSchedules(context.deps.db, project) : []
  const schedule = all.find((one) => one.uuid === uuid)
  const isOwn = schedule?.projectId === project.id
  if (!schedule || (right !== 'view' && !isOwn)) throw new NotFoundError('There is no such schedule.')
  return { ...workspace, schedule, isOwn, base: `/projects/${project.uuid}/on-call` }
}

/** Returns the display name of a person, or the address without one. */
export function namesOf(facts: readonly Pick<LoadedFacts, 'people'>[]): (address: string) => string {
  return (address) => facts.map(({ people }) => people.get(address)?.name).find((name) => name) ?? address
}
