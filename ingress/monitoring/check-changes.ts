import type { Response } from 'express'
import type { Knex } from 'knex'
import { ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { listChannels } from '#shared/monitoring/channels/store.ts'
import { resolveChannels } from '#shared/monitoring/checks/channels-field.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import { applySpec, uniqueCriteria } from '#shared/monitoring/checks/settings.ts'
import { type CheckSpec, parseCheckSpec } from '#shared/monitoring/checks/spec.ts'
import { goingDownAt } from '#shared/monitoring/checks/status.ts'
import {
  type AssignedCheck,
  assignChannels,
  countChecks,
  findCheck,
  findUnique,
  insertCheck,
  lockCheck,
  updateSettings,
} from '#shared/monitoring/checks/store.ts'
import { noteCheckLimit } from '#shared/monitoring/projects/quota-store.ts'
import { lockProject, type Project, type ProjectKey } from '#shared/monitoring/projects/store.ts'
import { isValidSchedule, nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { resolveTimeZone } from '#shared/monitoring/schedules/time-zones.ts'
import { transaction } from '#shared/platform/database/db.ts'
import type { IngressDeps } from '../deps.ts'
import { type ApiVersion, readAfterPings } from './operation.ts'

interface Admitted {
  key: ProjectKey
  body: JsonObject
}

/** A body as a valid request. @throws ValidationError with the first thing that is wrong */
export function parseSpec(body: JsonObject): CheckSpec {
  const parsed = parseCheckSpec(body, { isValidSchedule, resolveTimeZone })
  if (!parsed.ok) throw new ValidationError(parsed.error)
  return parsed.spec
}

/**
 * Creates a check, or updates the one that `unique` finds (monitoring behaviour 5.5). Requests that look for a check,
 * or that a limit may refuse, take their turn per project.
 * @throws ForbiddenError when the project has as many checks as it may
 */
export async function createOrUpdateCheck(
  { key, body }: Admitted,
  version: ApiVersion,
  response: Response,
  deps: IngressDeps,
): Promise<{ check: AssignedCheck; isNew: boolean }> {
  const { project } = key
  const spec = parseSpec(body)
  const criteria = uniqueCriteria(spec)
  const limit = project.checkLimit ?? deps.config.checkLimit
  if (criteria) await passBarrierOfMatch()

  return await transaction(deps.db, async (tx) => {
    await lockProject(tx, project.id)
    const match = criteria ? await findUnique(tx, project.id, criteria) : null
    if (match) return { check: await applyUpdate(tx, project, match.uuid, spec, version), isNew: false }
    if ((await countChecks(tx, project.id)) >= limit) throw new ForbiddenError('')
    const channels = await chooseChannels(tx, project.id, spec)
    const created = await insertCheck(tx, project.id, applySpec(null, spec, { slugFromName: version < 3 }))
    if (channels) await assignChannels(tx, created, channels)
    return { check: { ...created, channelIds: channels ?? [] }, isNew: true }
  }).catch(async (error: unknown) => {
    if (error instanceof ForbiddenError) await noteCheckLimit(deps.db, project.id, limit)
    throw error
  })

  /** The answer to an upsert shows the check's state, so it must show the pings before it. */
  async function passBarrierOfMatch(): Promise<void> {
    const match = criteria && (await findUnique(deps.db, project.id, criteria))
    if (match) await readAfterPings([match.id], response, deps)
  }
}

/** Updates a check that is known to be the project's own. @throws NotFoundError when it vanished meanwhile */
export async function updateCheck(
  { key, body, id, uuid }: Admitted & { id: number; uuid: string },
  version: ApiVersion,
  response: Response,
  deps: IngressDeps,
): Promise<AssignedCheck> {
  const spec = parseSpec(body)
  await readAfterPings([id], response, deps)
  return await transaction(deps.db, (tx) => applyUpdate(tx, key.project, uuid, spec, version))
}

/** Locked, so that the instant of going down is computed from what the last ping left. */
async function applyUpdate(
  tx: Knex,
  project: Pick<Project, 'id'>,
  uuid: string,
  spec: CheckSpec,
  version: ApiVersion,
): Promise<AssignedCheck> {
  const check = await lockCheck(tx, project.id, uuid)
  if (!check) throw new NotFoundError('')
  const channels = await chooseChannels(tx, project.id, spec)
  const changes = applySpec(check, spec, { slugFromName: version < 3 })
  const changed = { ...check, ...changes }
  await updateSettings(tx, check.id, changes, goingDownAt(changed, nextOccurrence))
  if (channels) await assignChannels(tx, check, channels)
  const stored = await findCheck(tx, uuid)
  if (!stored) throw new NotFoundError('')
  return stored
}

/** @returns the ids to assign; null when the request does not say */
async function chooseChannels(tx: Knex, projectId: number, spec: CheckSpec): Promise<string[] | null> {
  if (spec.channels === undefined) return null
  const channels = await listChannels(tx, projectId)
  const choice = resolveChannels(
    spec.channels,
    channels.map(({ uuid, name }) => ({ id: uuid, name })),
  )
  if (!choice.ok) throw new ValidationError(choice.error)
  return choice.ids
}
