import type { Knex } from 'knex'
import type { Actor } from '../../tenancy/actor.ts'
import { isMember, setAssignee, setReport } from '../alerting/act-store.ts'
import { invalid } from '../alerting/fields.ts'
import type { ShownIncident } from '../alerting/incident-page-view.ts'
import { actOnIncident, type IncidentOfProject, nameOfActor } from './act-on-incident.ts'

type Via = { via: 'api' | 'page' }

/** Says who looks after an incident. @param input.to address of a member; null: nobody. @throws ValidationError */
export async function assignIncident(
  db: Knex,
  actor: Actor,
  { to, via, ...own }: IncidentOfProject & Via & { to: string | null },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, own, async (tx) => {
    if (to !== null && !(await isMember(tx, own.project.organisationId, to))) {
      throw invalid('to', 'has unexpected value')
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
