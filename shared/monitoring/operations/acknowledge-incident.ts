import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { microsOfSeconds } from '../../time.ts'
import { acknowledge } from '../alerting/act-store.ts'
import type { ShownIncident } from '../alerting/incident-page-view.ts'
import { actOnIncident, type IncidentOfProject, nameOfActor } from './act-on-incident.ts'
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
