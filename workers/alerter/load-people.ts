import type { Knex } from 'knex'
import type { AlertRow } from '#shared/monitoring/alerting/fact-store.ts'
import type { Incident, PeopleFacts, PersonalRow } from '#shared/monitoring/alerting/incident.ts'
import { type Plan, targetsOf } from '#shared/monitoring/alerting/policy.ts'
import { organisationsOf } from '#shared/monitoring/alerting/policy-store.ts'
import { nextChange, onCallAt } from '#shared/monitoring/on-call/on-call.ts'
import { listAllSchedules, listResponders } from '#shared/monitoring/on-call/schedule-store.ts'
import { loadFactPeople } from '#shared/monitoring/operations/fact-people.ts'
import { loadOnCallFacts } from '#shared/monitoring/operations/record-shifts.ts'
import type { Micros } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'

export type PeopleDeps = Pick<WorkerDeps, 'secrets' | 'config'>

interface Requested {
  projectId: number
  plan: Plan | null
  incident: Incident | null
}

/** Returns the facts of one incident; null if it involves no people. */
type PeopleOf = (one: Requested, rows: readonly AlertRow[]) => PeopleFacts | null

/** Loads who is on call and how each person is notified. Queries nothing if no policy and no incident involves people. */
export async function loadPeople(
  tx: Knex,
  deps: PeopleDeps,
  requested: readonly Requested[],
  now: Micros,
): Promise<PeopleOf> {
  const involved = requested.filter(isInvolved)
  if (involved.length === 0) return () => null
  const projects = await organisationsOf(tx, [...new Set(involved.map(({ projectId }) => projectId))])
  const organisationIds = [...new Set(projects.values())]
  const named = new Set(involved.flatMap(schedulesIn))
  const stored = named.size === 0 ? [] : await listAllSchedules(tx, organisationIds)
  const onCallFacts = await loadOnCallFacts(
    tx,
    stored.filter(({ uuid }) => named.has(uuid)),
    now,
  )
  const schedules = onCallFacts.map((facts) => {
    const { uuid: id, name, organisationId, projectId, shared, nextChangeAt } = facts.schedule
    // Shifts are recorded at each change, so the next one is usually known.
    const until = nextChangeAt !== null && nextChangeAt > now ? nextChangeAt : nextChange(facts, now)
    const fact = { id, name, person: onCallAt(facts, now).person, until }
    return { organisationId, projectId, shared, fact }
  })
  const wanted = new Set([...schedules.flatMap(({ fact }) => fact.person ?? []), ...involved.flatMap(addressesIn)])
  const userIds = new Set(
    involved.flatMap(({ incident }) => incident?.sequences?.list.map(({ userId }) => userId) ?? []),
  )
  const responders = (await listResponders(tx, organisationIds)).filter(
    ({ email, userId }) => wanted.has(email) || userIds.has(userId),
  )
  const people = await loadFactPeople(tx, deps, responders)

  return (one, rows) => {
    if (!isInvolved(one)) return null
    const organisationId = projects.get(one.projectId)
    const isReadable = (schedule: (typeof schedules)[number]) =>
      schedule.organisationId === organisationId && (schedule.shared || schedule.projectId === one.projectId)
    return {
      schedules: schedules.filter(isReadable).map(({ fact }) => fact),
      people: people.filter((person) => person.organisationId === organisationId),
      notifications: rows.flatMap(personalRow),
    }
  }
}

function isInvolved({ plan, incident }: Requested): boolean {
  return (plan !== null && targetsOf(plan).length > 0) || incident?.sequences != null
}

function schedulesIn({ plan, incident }: Requested): string[] {
  const targets = plan ? targetsOf(plan) : []
  const named = targets.flatMap((target) => ('schedule' in target ? [target.schedule] : []))
  return [...named, ...(incident?.sequences?.shifts.map(({ schedule }) => schedule) ?? [])]
}

function addressesIn({ plan, incident }: Requested): string[] {
  const targets = plan ? targetsOf(plan) : []
  const named = targets.flatMap((target) => ('person' in target ? [target.person] : []))
  return [
    ...named,
    ...(incident?.ack ? [incident.ack.by] : []),
    ...(incident?.sequences?.reassigned ? [incident.sequences.reassigned] : []),
  ]
}

function personalRow({ integrationId: _, userId, ...row }: AlertRow): PersonalRow[] {
  return userId === null ? [] : [{ ...row, userId }]
}
