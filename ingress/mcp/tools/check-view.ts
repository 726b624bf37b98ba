import { z } from 'zod'
import { type FieldError, NotFoundError, ValidationError } from '#shared/errors.ts'
import type { FieldCode } from '#shared/field-codes.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { findIncident } from '#shared/monitoring/alerting/incident-read-store.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { nextPing, shownStatus } from '#shared/monitoring/checks/status.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import type { CheckOfProject } from '#shared/monitoring/operations/check-changes.ts'
import { findProject, type Project } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { enterTenant } from '#shared/platform/database/tenant.ts'
import { toIsoSeconds, toSeconds } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type ToolCall, UntrustedSchema, untrusted } from '../tool.ts'

/** A check for agents: texts of users are marked, and contents of pings are omitted. */
export const CheckSchema = z.object({
  checkId: z.string(),
  name: UntrustedSchema,
  tags: UntrustedSchema,
  description: UntrustedSchema,
  slug: UntrustedSchema,
  status: z.enum(['new', 'up', 'grace', 'down', 'paused']),
  started: z.boolean(),
  lastPing: z.string().nullable(),
  nextPing: z.string().nullable(),
  lastDurationSeconds: z.number().nullable(),
  pings: z.int(),
  timeoutSeconds: z.int().nullable(),
  schedule: z.string().nullable(),
  timeZone: z.string().nullable(),
  graceSeconds: z.int(),
})

const OWNER = 'owner of the check'

export function checkForAgents(check: Check, { deps }: Pick<ToolCall, 'deps'>): z.infer<typeof CheckSchema> {
  const due = nextPing(check, nextOccurrence)
  const isSimple = check.kind === 'simple'
  return {
    checkId: check.uuid,
    name: untrusted(OWNER, check.name),
    tags: untrusted(OWNER, check.tags),
    description: untrusted(OWNER, check.desc),
    slug: untrusted(OWNER, check.slug),
    status: shownStatus(check, deps.now(), nextOccurrence),
    started: check.lastStart !== null,
    lastPing: check.lastPing === null ? null : toIsoSeconds(check.lastPing),
    nextPing: due === null ? null : toIsoSeconds(due),
    lastDurationSeconds: check.lastDuration === null ? null : toSeconds(check.lastDuration),
    pings: check.nPings,
    timeoutSeconds: isSimple ? check.timeoutSeconds : null,
    schedule: isSimple ? null : check.schedule,
    timeZone: isSimple ? null : check.tz,
    graceSeconds: check.graceSeconds,
  }
}

export const ProjectInput = z.string().optional().describe('uuid of a project; optional if the key has one project')

/**
 * Returns the project of a call and limits the transaction to its rows.
 * @throws ValidationError if the key has several projects and the call names none; NotFoundError for any other project
 */
export async function projectOf(uuid: string | undefined, { caller, deps }: ToolCall): Promise<Project> {
  const [only, ...others] = caller.projects
  if (uuid === undefined && others.length > 0)
    throw invalid('project', 'REQUIRED', 'project is required, because the key has several projects')
  const named = uuid === undefined ? only : caller.projects.find((project) => project.uuid === uuid)
  if (named) enterTenant({ organisationId: caller.organisationId, projectId: named.id })
  const project = named && (await findProject(deps.db, named.uuid))
  if (!project) throw new NotFoundError('there is no such project of this key')
  return project
}

/** @throws NotFoundError alike for an unknown check and for one outside the key's projects */
export async function checkOf(checkId: string, { caller, deps }: ToolCall): Promise<CheckOfProject> {
  if (!isUuid(checkId)) throw noCheck()
  for (const { id, uuid } of caller.projects) {
    enterTenant({ organisationId: caller.organisationId, projectId: id })
    const check = await findCheck(deps.db, checkId)
    if (check?.projectId !== id) continue
    const project = await findProject(deps.db, uuid)
    if (project) return { project, id: check.id, uuid: checkId }
  }
  throw noCheck()
}

export function noCheck(): NotFoundError {
  return new NotFoundError('there is no such check in the projects of this key')
}

/** @throws NotFoundError alike for an unknown incident and for one outside the key's projects */
export async function incidentOf(
  incidentId: string,
  { caller, deps }: ToolCall,
): Promise<{ project: Project; incident: ShownIncident }> {
  for (const { id, uuid } of isUuid(incidentId) ? caller.projects : []) {
    enterTenant({ organisationId: caller.organisationId, projectId: id })
    const incident = await findIncident(deps.db, id, incidentId)
    const project = incident && (await findProject(deps.db, uuid))
    if (project) return { project, incident }
  }
  throw new NotFoundError('there is no such incident in the projects of this key')
}

function invalid(path: string, code: FieldCode, message: string): ValidationError {
  const errors: FieldError[] = [{ path, code, message }]
  return new ValidationError(message, errors)
}
