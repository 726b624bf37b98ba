import type { Knex } from 'knex'
import { ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { type Act, countActs, insertAct } from '../alerting/act-store.ts'
import type { ShownIncident } from '../alerting/incident-page-view.ts'
import { findIncident } from '../alerting/incident-read-store.ts'
import type { Project } from '../projects/store.ts'

/** Acts that are kept of an incident. */
const MAX_ACTIONS = 200

/** An incident of a project, which the door has found to be the actor's to change. */
export interface IncidentOfProject {
  project: Pick<Project, 'id' | 'organisationId'>
  /** uuid */
  id: string
}

/** Who did it: as the request says, else whoever the door let in. */
export function nameOfActor(actor: Actor, by: string): string {
  return by === '' ? auditedActor(actor).actor : by
}

/**
 * Does something about an incident under its lock, and keeps that it was done.
 * @param act changes what it must and says what to keep; null when nothing changed
 * @returns the incident afterwards
 * @throws NotFoundError when the project has no such incident, ForbiddenError when too much was done about it
 */
export async function actOnIncident(
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
