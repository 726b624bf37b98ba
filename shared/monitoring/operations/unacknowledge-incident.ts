import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { unacknowledge } from '../alerting/act-store.ts'
import type { ShownIncident } from '../alerting/incident-page-view.ts'
import { actOnIncident, type IncidentOfProject, nameOfActor } from './act-on-incident.ts'

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
