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
import { REASSIGN_WAIT } from '../alerting/reassign.ts'
import type { ContactKind } from '../contacts/contact-kinds.ts'
import { listFor } from '../contacts/contact-rules.ts'
import { listResponders } from '../on-call/schedule-store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { loadFactPeople } from './fact-people.ts'
import type { ReachDeps } from './reachable.ts'

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
    via: 'api' | 'page' | 'agent' | 'command' | LinkVia
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
  if (error instanceof ForbiddenError) return TOO_MANY_ACTIONS
  throw error
}

/** The plan continues. @throws ConflictError if there is none or the incident is resolved */
export async function unacknowledgeIncident(
  db: Knex,
  actor: Actor,
  { via, ...target }: IncidentOfProject & { via: 'api' | 'page' | LinkVia },
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
  { via, ...target }: IncidentOfProject & { via: 'api' | 'page' | LinkVia },
): Promise<ShownIncident> {
  const done = { kind: 'escalate', by: nameOfActor(actor, ''), via, text: '' } as const
  return await decideOnIncident(db, actor, { ...target, act: { kind: 'escalate' } }, NO_TIME, () => done)
}

/** Of acts that store no time. */
const NO_TIME: Micros = 0

const MAX_ACTIONS = 200
const TOO_MANY_ACTIONS = `incident has ${MAX_ACTIONS} actions, the maximum`

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
  lockFirst: (tx: Knex) => Promise<void> = async () => {},
): Promise<ShownIncident> {
  return await transaction(db, async (tx) => {
    await lockFirst(tx)
    const incident = await findIncident(tx, project.id, id, { lock: true })
    if (!incident) throw new NotFoundError('')
    const done = await act(tx, incident)
    if (done) {
      if ((await countActs(tx, id)) >= MAX_ACTIONS) throw new ForbiddenError(TOO_MANY_ACTIONS)
      await insertAct(tx, id, done)
      const { organisationId } = project
      const target = incident.name || incident.checkUuid
      await insertActorAudit(tx, actor, { organisationId, action: `incident.${done.kind}`, target })
    }
    return (await findIncident(tx, project.id, id)) ?? incident
  })
}

export type Via = { via: 'api' | 'page' }
/** The link of an integration, or the kind of the contact method whose link a person used. */
type LinkVia = 'link' | ContactKind

const notMember = (member: string) => invalid(member, 'must be the address of a member')

/** Stores what `decideAct` returns. `done` gets the end of the acknowledgement. */
async function decideOnIncident(
  db: Knex,
  actor: Actor,
  { act, ...target }: IncidentOfProject & { act: IncidentAct },
  now: Micros,
  done: (until: Micros | null) => Act,
): Promise<ShownIncident> {
  const { project } = target
  return await actOnIncident(db, actor, target, (tx, incident) =>
    saveDecided(tx, { project, incident, act, now }, done),
  )
}

interface DecidedAct {
  project: Pick<Project, 'id'>
  /** locked */
  incident: ShownIncident
  act: IncidentAct
  now: Micros
}

async function saveDecided(
  tx: Knex,
  { project, incident, act, now }: DecidedAct,
  done: (until: Micros | null) => Act,
): Promise<Act | null> {
  const { id, ackTimeout, members } = incident
  const hasFurtherStep = act.kind === 'escalate' && (await hasStepLeft(tx, project.id, incident))
  const acted = decideAct(actedOf(incident), act, { now, ackTimeout, hasFurtherStep })
  if ('conflict' in acted) throw new ConflictError(acted.conflict)
  if (!acted.changed) return null
  await saveActed(tx, id, acted.changed)
  const stored = done(acted.changed.ack?.until ?? null)
  if (members > 0 && act.kind !== 'escalate') await actOnMembers(tx, id, act, acted.changed, stored)
  return stored
}

/** Applies an action on the lead to all its members. */
async function actOnMembers(tx: Knex, id: string, act: IncidentAct, acted: ActedIncident, stored: Act): Promise<void> {
  if (act.kind !== 'assign' || act.notify) await saveActedMembers(tx, id, acted)
  if (act.kind === 'assign' || act.kind === 'take') await assignMembers(tx, id, acted.assignee)
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

/**
 * `to` is the address of a member, or null. With `notify` the person is notified, an acknowledgement ends, and the
 * policy waits REASSIGN_WAIT for the next one. A resolved incident notifies no person.
 * @throws ValidationError if it is not a member, ConflictError if the person cannot be notified
 */
export async function assignIncident(
  db: Knex,
  actor: Actor,
  { to, notify, note, via, ...target }: IncidentOfProject & Via & { to: string | null; notify: boolean; note: string },
  deps: Pick<OperationDeps, 'now'> & ReachDeps,
): Promise<ShownIncident> {
  const { organisationId } = target.project
  if (to !== null && !(await isMember(db, organisationId, to))) throw notMember('to')
  const by = nameOfActor(actor, '')
  return await actOnIncident(db, actor, target, async (tx, incident) => {
    const isNotified = to !== null && notify && incident.state !== 'resolved'
    const person = isNotified ? await requireNotifiable(tx, incident, { organisationId, address: to }, deps) : to
    const until = isNotified ? deps.now() + REASSIGN_WAIT : null
    const stored = { kind: 'assign', by, via, text: person ?? '', until } as const
    const act = { kind: 'assign', to: person, notify: isNotified } as const
    await saveDecided(tx, { project: target.project, incident, act, now: NO_TIME }, () => stored)
    if (note !== '') {
      const noted = { kind: 'note', by, via, text: note } as const
      await insertAct(tx, target.id, noted)
      if (incident.members > 0) await insertMemberActs(tx, target.id, noted)
    }
    return stored
  })
}

/** Returns the address of the account. @throws ConflictError if no notification would be sent to the person */
async function requireNotifiable(
  tx: Knex,
  { severity, leadId, projectId }: ShownIncident,
  { organisationId, address }: { organisationId: number; address: string },
  deps: ReachDeps,
): Promise<string> {
  const lead = leadId === null ? null : await findIncident(tx, projectId, leadId)
  if (lead && lead.state !== 'resolved') throw new ConflictError('is a member of another incident')
  const responders = await listResponders(tx, [organisationId])
  const named = responders.filter(({ email }) => email.toLowerCase() === address.toLowerCase())
  const [person] = await loadFactPeople(tx, deps, named)
  if (!person?.[listFor(severity)].length) throw new ConflictError(`${address} cannot be reached`)
  return person.address
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
