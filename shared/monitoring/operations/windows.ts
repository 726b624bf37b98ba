import type { Knex } from 'knex'
import { ForbiddenError, NotFoundError, ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Micros } from '../../time.ts'
import { alertingChanged } from '../alerting/policy-store.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { readWindow } from '../maintenance/read-window.ts'
import { endedAt, isMute, MIN_LENGTH, MUTED, timesOf } from '../maintenance/window.ts'
import {
  deleteWindow as deleteRow,
  findWindow,
  knownChecks,
  type StoredWindow,
  saveWindow,
  windowsOf,
} from '../maintenance/window-store.ts'
import { lockProject, type Project } from '../projects/store.ts'

export const MAX_WINDOWS = 100

/**
 * Takes effect at once. `uuid` is null for a new one. @throws ValidationError for the first invalid member,
 * ForbiddenError beyond MAX_WINDOWS, NotFoundError if the project does not have the window
 */
export async function storeWindow(
  db: Knex,
  actor: Actor,
  input: { project: Pick<Project, 'id' | 'organisationId'>; uuid: string | null; body: JsonObject; now: Micros },
): Promise<StoredWindow> {
  const { project, uuid, body, now } = input
  return await transaction(db, async (tx) => {
    const current = uuid === null ? null : await findWindow(tx, project.id, uuid)
    if (uuid !== null && !current) throw new NotFoundError('')
    const fields = readWindow(body, current, now)
    const known = await knownChecks(tx, project.id, fields.checks)
    const unknown = fields.checks.find((check) => !known.includes(check))
    if (unknown !== undefined) throw new ValidationError(`invalid check identifier: ${unknown}`)
    await lockProject(tx, project.id)
    if (!current && (await windowsOf(tx, [project.id])).length >= MAX_WINDOWS)
      throw new ForbiddenError(`The project has reached its limit of ${MAX_WINDOWS} maintenance windows.`)
    const window = await saveWindow(tx, project.id, current ? { id: current.id } : { uuid: null }, fields)
    if (!window) throw new NotFoundError('')
    await alertingChanged(tx, project.id)
    const action = current ? 'window.changed' : 'window.created'
    await insertActorAudit(tx, actor, { organisationId: project.organisationId, action, target: window.name })
    return window
  })
}

/** Evaluates suppressed incidents at once. No effect outside of an occurrence. @throws NotFoundError */
export async function endWindow(
  db: Knex,
  actor: Actor,
  { project, uuid, now }: { project: Pick<Project, 'id' | 'organisationId'>; uuid: string; now: Micros },
): Promise<StoredWindow> {
  return await transaction(db, async (tx) => {
    await lockProject(tx, project.id)
    const window = await findWindow(tx, project.id, uuid)
    if (!window) throw new NotFoundError('')
    const time = endedAt(window, now)
    if (!time) return window
    const ended = await saveWindow(tx, project.id, { id: window.id }, { ...window, time })
    if (!ended) throw new NotFoundError('')
    await alertingChanged(tx, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'window.changed', target: window.name })
    return ended
  })
}

/** Evaluates suppressed incidents at once. @throws NotFoundError if the project does not have it */
export async function deleteWindow(
  db: Knex,
  actor: Actor,
  { project, uuid }: { project: Pick<Project, 'id' | 'organisationId'>; uuid: string },
): Promise<StoredWindow> {
  return await transaction(db, async (tx) => {
    const window = await findWindow(tx, project.id, uuid)
    if (!window || !(await deleteRow(tx, window.id))) throw new NotFoundError('')
    await alertingChanged(tx, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'window.deleted', target: window.name })
    return window
  })
}

/**
 * Mutes checks from now on: a maintenance window of one occurrence that lists them.
 * @throws ForbiddenError beyond MAX_WINDOWS
 */
export async function muteChecks(
  db: Knex,
  actor: Actor,
  input: { project: Pick<Project, 'id' | 'organisationId'>; uuids: readonly string[]; seconds: number; now: Micros },
): Promise<void> {
  const { project, uuids, seconds, now } = input
  const body = Object.assign(Object.create(null), { name: MUTED, checks: [...uuids], for: seconds })
  await storeWindow(db, actor, { project, uuid: null, body, now })
}

/** Ends the mutes of checks; a mute of several checks continues for the others. @returns the checks that were muted */
export async function unmuteChecks(
  db: Knex,
  actor: Actor,
  { project, uuids, now }: { project: Pick<Project, 'id' | 'organisationId'>; uuids: readonly string[]; now: Micros },
): Promise<string[]> {
  const windows = (await windowsOf(db, [project.id])).filter(
    (window) =>
      isMute(window) &&
      window.checks.some((check) => uuids.includes(check)) &&
      timesOf(window, now, now + 1).length > 0,
  )
  for (const { uuid, checks, time } of windows) {
    const others = checks.filter((check) => !uuids.includes(check))
    // A window that ends in its first minute keeps this minute.
    const isNew = 'starts' in time && now < time.starts + MIN_LENGTH
    if (others.length === 0)
      await (isNew ? deleteWindow(db, actor, { project, uuid }) : endWindow(db, actor, { project, uuid, now }))
    else {
      const body = Object.assign(Object.create(null), { checks: others })
      await storeWindow(db, actor, { project, uuid, body, now })
    }
  }
  return uuids.filter((check) => windows.some((window) => window.checks.includes(check)))
}
