import type { Knex } from 'knex'
import { ConflictError, ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { microsOfSeconds } from '../../time.ts'
import {
  type Act,
  acknowledge,
  countActs,
  insertAct,
  isMember,
  setAssignee,
  setReport,
  unacknowledge,
} from '../alerting/act-store.ts'
import { invalid } from '../alerting/fields.ts'
import type { ShownIncident } from '../alerting/incident-page-view.ts'
import { findIncident } from '../alerting/incident-read-store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

/**
 * Stops notifications until the incident resolves or the acknowledgement expires. Idempotent. `by` is a name from the
 * request; empty for the actor. @throws ConflictError if the incident is resolved
 */
export async function acknowledgeIncident(
  db: Knex,
  actor: Actor,
  {
    by,
    note,
    via,
    for: seconds,
    ...target
  }: IncidentOfProject & {
    by: string
    note: string
    via: 'api' | 'page' | 'link' | 'agent' | 'command'
    /** seconds; default: the timeout of the policy */
    for?: number
  },
  { now }: Pick<OperationDeps, 'now'>,
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, target, async (tx, incident) => {
    if (incident.state === 'resolved') throw new ConflictError('incident is resolved')
    if (incident.state === 'acknowledged') return null
    const at = now()
    const timeout = seconds ?? incident.ackTimeout
    const until = timeout === null ? null : at + microsOfSeconds(timeout)
    const name = nameOfActor(actor, by)
    await acknowledge(tx, target.id, { at, by: name, via, until })
    return { kind: 'ack', by: name, via, text: note }
  })
}

export interface BulkResult {
  id: string
  /** null: acknowledged */
  error: string | null
}

/** Acknowledges each incident in a transaction of its own. Unknown ids are an error of that id. */
export async function acknowledgeIncidents(
  db: Knex,
  actor: Actor,
  { ids, ...input }: Omit<Parameters<typeof acknowledgeIncident>[2], 'id'> & { ids: readonly string[] },
  deps: Pick<OperationDeps, 'now'>,
): Promise<BulkResult[]> {
  const results: BulkResult[] = []
  for (const id of ids) {
    try {
      await acknowledgeIncident(db, actor, { ...input, id }, deps)
      results.push({ id, error: null })
    } catch (error) {
      results.push({ id, error: refusalOf(error) })
    }
  }
  return results
}

/** @throws other errors */
function refusalOf(error: unknown): string {
  if (error instanceof ConflictError) return error.message
  if (error instanceof NotFoundError) return 'incident is not known'
  if (error instanceof ForbiddenError) return `incident has ${MAX_ACTIONS} actions, the maximum`
  throw error
}

/** The plan continues. @throws ConflictError if there is none or the incident is resolved */
export async function unacknowledgeIncident(
  db: Knex,
  actor: Actor,
  { via, ...target }: IncidentOfProject & { via: 'api' | 'page' | 'link' },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, target, async (tx, incident) => {
    if (incident.state === 'resolved') throw new ConflictError('incident is resolved')
    if (incident.state !== 'acknowledged') throw new ConflictError('incident is not acknowledged')
    await unacknowledge(tx, target.id)
    return { kind: 'unack', by: nameOfActor(actor, ''), via, text: '' }
  })
}

const MAX_ACTIONS = 200

export interface IncidentOfProject {
  project: Pick<Project, 'id' | 'organisationId'>
  id: string
}

function nameOfActor(actor: Actor, by: string): string {
  return by === '' ? auditedActor(actor).actor : by
}

/**
 * Locks the incident. `act` returns the entry for timeline and audit log, or null if nothing changed. @throws
 * NotFoundError if the project does not have the incident, ForbiddenError beyond MAX_ACTIONS
 */
async function actOnIncident(
  db: Knex,
  actor: Actor,
  { project, id }: IncidentOfProject,
  act: (tx: Knex, incident: ShownIncident) => Promise<Act | null>,
): Promise<ShownIncident> {
  return await transaction(db, async (tx) => {
    const incident = await findIncident(tx, project.id, id, { lock: true })
    if (!incident) throw new NotFoundError('')
    const done = await act(tx, incident)
    if (done) {
      if ((await countActs(tx, id)) >= MAX_ACTIONS) throw new ForbiddenError('')
      await insertAct(tx, id, done)
      const { organisationId } = project
      const target = incident.name || incident.checkUuid
      await insertActorAudit(tx, actor, { organisationId, action: `incident.${done.kind}`, target })
    }
    return (await findIncident(tx, project.id, id)) ?? incident
  })
}

type Via = { via: 'api' | 'page' }

/** `to` is the address of a member, or null. @throws ValidationError if it is not a member */
export async function assignIncident(
  db: Knex,
  actor: Actor,
  { to, via, ...target }: IncidentOfProject & Via & { to: string | null },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, target, async (tx) => {
    if (to !== null && !(await isMember(tx, target.project.organisationId, to))) {
      throw invalid('to', 'must be the address of a member')
    }
    await setAssignee(tx, target.id, to)
    return { kind: 'assign', by: nameOfActor(actor, ''), via, text: to ?? '' }
  })
}

export async function noteIncident(
  db: Knex,
  actor: Actor,
  { text, via, ...target }: IncidentOfProject & Via & { text: string },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, target, async () => ({ kind: 'note', by: nameOfActor(actor, ''), via, text }))
}

/** Accepts reports also after the incident is resolved. */
export async function reportIncident(
  db: Knex,
  actor: Actor,
  { text, via, ...target }: IncidentOfProject & Via & { text: string },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, target, async (tx) => {
    await setReport(tx, target.id, text)
    return { kind: 'report', by: nameOfActor(actor, ''), via, text: '' }
  })
}
