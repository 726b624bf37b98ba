import type { Knex } from 'knex'
import { ConflictError, ForbiddenError, NotFoundError } from '../../errors.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Act, saveActed } from '../alerting/act-store.ts'
import { decideMerge, MAX_MEMBERS } from '../alerting/decide-act.ts'
import { invalid } from '../alerting/fields.ts'
import type { ShownIncident } from '../alerting/incident-page-view.ts'
import { findIncident } from '../alerting/incident-read-store.ts'
import { countOpenMembers, lockForMerge, mergeInto, saveActedMembers, separate } from '../alerting/merge-store.ts'
import { actedOf, actOnIncident, type IncidentOfProject, nameOfActor, type Via } from './incidents.ts'

/**
 * Makes an open incident, with its members, a member of another open incident of the project. An acknowledgement of the
 * lead applies to it.
 * @throws ConflictError if one is resolved or `into` is a member, ForbiddenError beyond MAX_MEMBERS
 */
export async function mergeIncident(
  db: Knex,
  actor: Actor,
  { into, via, ...target }: IncidentOfProject & Via & { into: string },
): Promise<ShownIncident> {
  if (into === target.id) throw invalid('into', 'must be another incident')
  const lock = (tx: Knex) => lockForMerge(tx, target.project.id, [target.id, into])
  const merge = async (tx: Knex, incident: ShownIncident): Promise<Act | null> => {
    const lead = await findIncident(tx, target.project.id, into, { lock: true })
    if (!lead) throw invalid('into', 'must be an incident of the project')
    const openLeadId = lead.leadId === null ? null : await openLead(tx, target.project.id, lead.leadId)
    const members = 1 + (await countOpenMembers(tx, [target.id, into]))
    const conflict = decideMerge(incident, { ...lead, openLeadId }, members)
    if (conflict !== null && members > MAX_MEMBERS) throw new ForbiddenError(conflict)
    if (conflict !== null) throw new ConflictError(conflict)
    if (incident.leadId === into) return null
    await mergeInto(tx, target.id, into)
    const { ack } = actedOf(lead)
    if (ack !== null) {
      await saveActed(tx, target.id, { ...actedOf(incident), state: 'acknowledged', ack })
      await saveActedMembers(tx, into, actedOf(lead))
    }
    return { kind: 'merge', by: nameOfActor(actor, ''), via, text: lead.name || lead.checkUuid }
  }
  return await actOnIncident(db, actor, target, merge, lock)
}

/** @throws ConflictError if the incident is not a member of an open one */
export async function unmergeIncident(
  db: Knex,
  actor: Actor,
  { via, ...target }: IncidentOfProject & Via,
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, target, async (tx, { state, leadId }) => {
    if (state === 'resolved') throw new ConflictError('incident is resolved')
    const lead = leadId === null ? null : await findIncident(tx, target.project.id, leadId)
    if (!lead) throw new ConflictError('incident is not merged')
    await separate(tx, target.id)
    return { kind: 'unmerge', by: nameOfActor(actor, ''), via, text: lead.name || lead.checkUuid }
  })
}

export interface MergeResult {
  merged: number
}

/** Merges several incidents into one, each in a separate transaction. Skips those that changed meanwhile. */
export async function mergeIncidents(
  db: Knex,
  actor: Actor,
  { ids, into, ...input }: Pick<IncidentOfProject, 'project'> & Via & { ids: readonly string[]; into: string },
): Promise<MergeResult> {
  let merged = 0
  for (const id of ids) {
    try {
      await mergeIncident(db, actor, { ...input, id, into })
      merged += 1
    } catch (error) {
      const isSkipped = [ConflictError, ForbiddenError, NotFoundError].some((kind) => error instanceof kind)
      if (!isSkipped) throw error
    }
  }
  return { merged }
}

async function openLead(tx: Knex, projectId: number, id: string): Promise<string | null> {
  const lead = await findIncident(tx, projectId, id)
  return lead && lead.state !== 'resolved' ? lead.id : null
}
