import type { Micros } from '../../time.ts'
import type { FactPerson, PeopleFacts, PersonalNotification, PersonalRow } from '../alerting/incident.ts'
import type { WindowTime } from '../maintenance/window.ts'
import type { SimulatedRecipient } from './simulated.ts'

/** `shifts` are in order and without overlap. */
export interface SimulatedSchedule {
  id: string
  name: string
  shifts: readonly (WindowTime & { person: string })[]
}

export interface SimulatedPeople {
  people: readonly FactPerson[]
  schedules: readonly SimulatedSchedule[]
}

export function peopleAt(
  simulated: SimulatedPeople | null,
  notifications: readonly PersonalRow[],
  now: Micros,
): PeopleFacts | null {
  if (!simulated) return null
  const schedules = simulated.schedules.map((schedule) => scheduleAt(schedule, now))
  return { people: simulated.people, schedules, notifications }
}

function scheduleAt({ id, name, shifts }: SimulatedSchedule, now: Micros): PeopleFacts['schedules'][number] {
  const shift = shifts.find(({ until }) => until > now)
  if (!shift) return { id, name, person: null, until: null }
  const { person, from, until } = shift
  return from > now ? { id, name, person: null, until: from } : { id, name, person, until }
}

export function recipientOf(
  simulated: SimulatedPeople | null,
  { userId, methodId, detail, after }: PersonalNotification,
): SimulatedRecipient | null {
  const person = simulated?.people.find((one) => one.userId === userId)
  const method = person?.methods.find(({ id }) => id === methodId)
  if (!person || !method) return null
  return { person: person.address, kind: method.kind, schedule: detail?.schedule ?? null, after: after ?? null }
}
