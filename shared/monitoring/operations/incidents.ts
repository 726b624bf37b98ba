import type { Knex } from 'knex'
import { ConflictError, ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import type { Micros } from '../../time.ts'
import { type Act, countActs, insertAct, isMember, saveActed, setReport } from '../alerting/act-store.ts'
import { type ActedIncident, decideAct, type IncidentAct } from '../alerting/decide-act.ts'
import { invalid } from '../alerting/fields.ts'
import type { ShownIncident } from '../alerting/incident-page-view.ts'
import { findIncident } from '../alerting/incident-read-store.ts'
import { assignMembers, insertMemberActs, saveActedMembers } from '../alerting/merge-store.ts'
import { furtherStep } from '../alerting/plan.ts'
import { IMPLICIT_PLAN } from '../alerting/policy.ts'
import { findPolicy } from '../alerting/policy-store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

/**
 * Stops notifications until the incident resolves or the acknowledgement expires. Idempotent, except for a snooze, which
 * replaces an acknowledgement. `by` is a name from the request; empty for the actor. @throws ConflictError if the incident is resolved
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
    /** seconds of a snooze; absent: until the end, or the timeout of the policy */
    for?: number
  },
  { now }: Pick<OperationDeps, 'now'>,
): Promise<ShownIncident> {
  const name = nameOfActor(actor, by)
  const act = { kind: 'ack', by: name, via, seconds: seconds ?? null } as const
  return await decideOnIncident(db, actor, { ...target, act }, now(), (until) =>
    seconds === undefined
      ? { kind: 'ack', by: name, via, text: note }
      : { kind: 'snooze', by: name, via, text: note, until },
  )
}

export interface BulkResult {
  id: string
  /** null: acknowledged */
  error: string | null
}

/** Acknowledges each incident in a separate transaction. An unknown id results in an error for that id only. */
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
  const done = { kind: 'unack', by: nameOfActor(actor, ''), via, text: '' } as const
  return await decideOnIncident(db, actor, { ...target, act: { kind: 'unack' } }, NO_TIME, () => done)
}

/** Acknowledges and assigns. @throws ValidationError if the person is not a member, ConflictError as for ack */
export async function takeIncident(
  db: Knex,
  actor: Actor,
  { person, via, ...target }: IncidentOfProject & Via & { person: string },
  { now }: Pick<OperationDeps, 'now'>,
): Promise<ShownIncident> {
  if (!(await isMember(db, target.project.organisationId, person))) throw notMember('person')
  const done = { kind: 'take', by: nameOfActor(actor, ''), via, text: person } as const
  return await decideOnIncident(db, actor, { ...target, act: { kind: 'take', person, via } }, now(), () => done)
}

/**
 * Sends the next step at once; an acknowledgement ends. A suppression and the hours of the step still delay it.
 * @throws ConflictError if the plan has no further step or the incident is resolved
 */
export async function escalateIncident(
  db: Knex,
  actor: Actor,
  { via, ...target }: IncidentOfProject & { via: 'api' | 'page' | 'link' },
): Promise<ShownIncident> {
  const done = { kind: 'escalate', by: nameOfActor(actor, ''), via, text: '' } as const
  return await decideOnIncident(db, actor, { ...target, act: { kind: 'escalate' } }, NO_TIME, () => done)
}

/** Of acts that store no time. */
const NO_TIME: Micros = 0

const MAX_ACTIONS = 200

export interface IncidentOfProject {
  project: Pick<Project, 'id' | 'organisationId'>
  id: string
}

export function nameOfActor(actor: Actor, by: string): string {
  return by === '' ? auditedActor(actor).actor : by
}

/**
 * Locks the incident. `act` returns the entry for timeline and audit log, or null if nothing changed. @throws
 * NotFoundError if the project does not have the incident, ForbiddenError beyond MAX_ACTIONS
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

export type Via = { via: 'api' | 'page' }

const notMember = (member: string) => invalid(member, 'must be the address of a member')

/** Stores what `decideAct` returns. `done` gets the end of the acknowledgement. */
async function decideOnIncident(
  db: Knex,
  actor: Actor,
  { act, ...target }: IncidentOfProject & { act: IncidentAct },
  now: Micros,
  done: (until: Micros | null) => Act,
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, target, async (tx, incident) => {
    const hasFurtherStep = act.kind === 'escalate' && (await hasStepLeft(tx, target.project.id, incident))
    const acted = decideAct(actedOf(incident), act, { now, ackTimeout: incident.ackTimeout, hasFurtherStep })
    if ('conflict' in acted) throw new ConflictError(acted.conflict)
    if (!acted.changed) return null
    await saveActed(tx, target.id, acted.changed)
    const stored = done(acted.changed.ack?.until ?? null)
    if (incident.members > 0 && act.kind !== 'escalate')
      await actOnMembers(tx, target.id, act.kind, acted.changed, stored)
    return stored
  })
}

/** Applies an action on the lead to all its members. */
async function actOnMembers(
  tx: Knex,
  id: string,
  kind: IncidentAct['kind'],
  acted: ActedIncident,
  stored: Act,
): Promise<void> {
  if (kind !== 'assign') await saveActedMembers(tx, id, acted)
  if (kind === 'assign' || kind === 'take') await assignMembers(tx, id, acted.assignee)
  await insertMemberActs(tx, id, stored)
}

export function actedOf(incident: ShownIncident): ActedIncident {
  const { state, alertAt, isEscalating, assignee, ackAt, ackBy, ackVia, ackUntil, isSnoozed } = incident
  const ack = { by: ackBy ?? '', via: ackVia ?? '', until: ackUntil, isSnooze: isSnoozed }
  return { state, alertAt, isEscalating, assignee, ack: ackAt === null ? null : { at: ackAt, ...ack } }
}

/** True if the policy of the last evaluation has a step that was not sent. */
export async function hasStepLeft(db: Knex, projectId: number, incident: ShownIncident): Promise<boolean> {
  if (incident.isDirect) return false
  const { policyUuid } = incident
  const policy = policyUuid === null ? null : await findPolicy(db, projectId, policyUuid)
  return furtherStep(policy?.plan ?? IMPLICIT_PLAN, incident) !== null
}

/** `to` is the address of a member, or null. @throws ValidationError if it is not a member */
export async function assignIncident(
  db: Knex,
  actor: Actor,
  { to, via, ...target }: IncidentOfProject & Via & { to: string | null },
): Promise<ShownIncident> {
  if (to !== null && !(await isMember(db, target.project.organisationId, to))) throw notMember('to')
  const done = { kind: 'assign', by: nameOfActor(actor, ''), via, text: to ?? '' } as const
  return await decideOnIncident(db, actor, { ...target, act: { kind: 'assign', to } }, NO_TIME, () => done)
}

export async function noteIncident(
  db: Knex,
  actor: Actor,
  { text, via, ...target }: IncidentOfProject & Via & { text: string },
): Promise<ShownIncident> {
  return await actOnIncident(db, actor, target, async (tx, { members }) => {
    const note = { kind: 'note', by: nameOfActor(actor, ''), via, text } as const
    if (members > 0) await insertMemberActs(tx, target.id, note)
    return note
  })
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
