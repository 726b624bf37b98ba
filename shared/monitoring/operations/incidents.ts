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
 * Acknowledges an incident: nobody is told of it any more until it is over. One that is acknowledged stays so.
 * @param input.by who, as the request says; empty for the actor
 * @throws ConflictError when it is resolved
 */
export async function acknowledgeIncident(
  db: Knex,
  actor: Actor,
  {
    by,
    note,
    via,
    ...own
  }: IncidentOfProject & { by: string; note: string; via: 'api' | 'page' | 'link' | 'agent' | 'command' },
  { now }: Pick<OperationDeps, 'now'>,
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, own, async (tx, incident) => {
    if (incident.state === 'resolved') throw new ConflictError('incident is resolved')
    if (incident.state === 'acknowledged') return null
    const at = now()
    const until = incident.ackTimeout === null ? null : at + microsOfSeconds(incident.ackTimeout)
    const who = nameOfActor(actor, by)
    await acknowledge(tx, own.id, { at, by: who, via, until })
    return { kind: 'ack', by: who, via, text: note }
  })
}

/** Takes an acknowledgement back: the plan goes on where it stood. @throws ConflictError when it has none, or is resolved */
export async function unacknowledgeIncident(
  db: Knex,
  actor: Actor,
  { via, ...own }: IncidentOfProject & { via: 'api' | 'page' },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, own, async (tx, incident) => {
    if (incident.state === 'resolved') throw new ConflictError('incident is resolved')
    if (incident.state !== 'acknowledged') throw new ConflictError('incident is not acknowledged')
    await unacknowledge(tx, own.id)
    return { kind: 'unack', by: nameOfActor(actor, ''), via, text: '' }
  })
}

/** Acts that are kept of an incident. */
const MAX_ACTIONS = 200

/** An incident of a project, which the door has found to be the actor's to change. */
export interface IncidentOfProject {
  project: Pick<Project, 'id' | 'organisationId'>
  /** uuid */
  id: string
}

/** Who did it: as the request says, else whoever the door let in. */
function nameOfActor(actor: Actor, by: string): string {
  return by === '' ? auditedActor(actor).actor : by
}

/**
 * Does something about an incident under its lock, and keeps that it was done.
 * @param act changes what it must and says what to keep; null when nothing changed
 * @returns the incident afterwards
 * @throws NotFoundError when the project has no such incident, ForbiddenError when too much was done about it
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

/** Says who looks after an incident. @param input.to address of a member; null: nobody. @throws ValidationError */
export async function assignIncident(
  db: Knex,
  actor: Actor,
  { to, via, ...own }: IncidentOfProject & Via & { to: string | null },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, own, async (tx) => {
    if (to !== null && !(await isMember(tx, own.project.organisationId, to))) {
      throw invalid('to', 'must be the address of a member')
    }
    await setAssignee(tx, own.id, to)
    return { kind: 'assign', by: nameOfActor(actor, ''), via, text: to ?? '' }
  })
}

/** Adds a note to the timeline of an incident. */
export async function noteIncident(
  db: Knex,
  actor: Actor,
  { text, via, ...own }: IncidentOfProject & Via & { text: string },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, own, async () => ({ kind: 'note', by: nameOfActor(actor, ''), via, text }))
}

/** Stores the report of an incident, also afterwards. */
export async function reportIncident(
  db: Knex,
  actor: Actor,
  { text, via, ...own }: IncidentOfProject & Via & { text: string },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, own, async (tx) => {
    await setReport(tx, own.id, text)
    return { kind: 'report', by: nameOfActor(actor, ''), via, text: '' }
  })
}
