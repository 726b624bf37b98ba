import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import type { Actor } from '../../tenancy/actor.ts'
import {
  type LinkAction,
  type LinkedIncident,
  type LinkedNotification,
  type LinkHolder,
  linkedBy,
  mayAct,
  SNOOZE_SECONDS,
} from '../notifications/link-rules.ts'
import type { OperationDeps } from './deps.ts'
import { acknowledgeIncident, escalateIncident, unacknowledgeIncident } from './incidents.ts'

interface LinkRequest {
  link: LinkedNotification
  incidents: readonly LinkedIncident[]
  action: LinkAction
  /** of the client */
  address: string
}

/** Acts for the holder of an acknowledge link. Skips incidents that the action does not change; returns the others. */
export async function actByLink(
  db: Knex,
  { link, incidents, action, address }: LinkRequest,
  deps: Pick<OperationDeps, 'now'>,
): Promise<LinkedIncident[]> {
  const acted: LinkedIncident[] = []
  const { holder } = link
  const actor = actorOf(holder, address)
  const { by, via } = linkedBy(holder)
  for (const incident of incidents.filter((one) => mayAct(action, one, holder, deps.now()))) {
    const { id, projectId, organisationId } = incident
    const target = { project: { id: projectId, organisationId }, id, via }
    try {
      if (action === 'unack') await unacknowledgeIncident(db, actor, target)
      else if (action === 'escalate') await escalateIncident(db, actor, target)
      else {
        const isSnooze = action === 'snooze'
        const input = { ...target, by, note: isSnooze ? 'Muted for 1 hour' : '' }
        await acknowledgeIncident(db, actor, { ...input, ...(isSnooze && { for: SNOOZE_SECONDS }) }, deps)
      }
      acted.push(incident)
    } catch (error) {
      // Another request changed the incident meanwhile, or its plan has no further step.
      if (!(error instanceof ConflictError)) throw error
    }
  }
  return acted
}

/** A person acts with their account, although not signed in. */
function actorOf(holder: LinkHolder, address: string): Actor {
  if (holder.userId === null) return { kind: 'link', through: holder.integrationName, address }
  return { kind: 'person', userId: holder.userId, email: holder.email, address }
}
