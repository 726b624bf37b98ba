import { type Micros, toSeconds } from '../../time.ts'
import { defaultRecoveries } from '../contacts/contact-kinds.ts'
import { endOfQuiet, listFor } from '../contacts/contact-rules.ts'
import type {
  FactPerson,
  Facts,
  Incident,
  NewNotification,
  PersonalNotification,
  PersonDecision,
  SequenceState,
} from './incident.ts'
import { endOfRecurring } from './plan.ts'
import { isAtLeast } from './policy.ts'
import { refusalOf } from './recovery.ts'
import { peopleOf, unsentOf } from './sequences.ts'

interface Personal {
  personal: PersonalNotification[]
  withdrawn: string[]
  people: PersonDecision[]
}

/**
 * Each attempted method with `recoveries` gets one recovery. If a person has none, their first usable method other than
 * phones gets it.
 */
export function recoverPeople(draft: Incident, facts: Facts): Personal {
  const { people, notifications: rows } = peopleOf(facts)
  const result: Personal = { personal: [], withdrawn: unsentOf(rows), people: [] }
  for (const { userId, address: person, methods } of people) {
    const own = rows.filter((row) => row.userId === userId && row.status === 'down')
    const attempted = new Set(own.filter(({ attempts }) => attempts > 0).map(({ methodId }) => methodId))
    if (own.length === 0) continue
    const usable = methods.filter(({ isUsable }) => isUsable)
    const wanted = usable.filter(({ id, recoveries }) => recoveries && attempted.has(id))
    const others = usable.filter(({ kind }) => defaultRecoveries(kind)).slice(0, 1)
    const chosen = attempted.size === 0 ? [] : wanted.length > 0 ? wanted : others
    for (const { id: methodId } of chosen) {
      const what = { what: 'recovery', status: 'up', flipId: null, detail: null } as const
      result.personal.push({ userId, methodId, ...what, entry: draft.flips })
    }
    const isNotified = chosen.length > 0
    const reason = isNotified ? 'RECOVERY' : attempted.size > 0 ? 'UNREACHABLE' : 'NOT_NOTIFIED_BEFORE'
    result.people.push({ person, outcome: isNotified ? 'notified' : 'skipped', reason })
  }
  return result
}

/** Ends all sequences: the incident is acknowledged, merged or reassigned. */
export function endSequences({ sequences }: Incident): SequenceState | null {
  const list = sequences?.list.map((one) => ({ ...one, entries: [], isEnded: true })) ?? []
  return sequences && { ...sequences, list, reassigned: null }
}

/**
 * Notifies the other persons with a running sequence of an acknowledgement and, with `notify_ack`, the notified
 * integrations that people read.
 */
export function notifyAck(
  draft: Incident,
  facts: Facts,
): { personal: PersonalNotification[]; notifications: NewNotification[]; withdrawn: string[] } {
  const { ack } = draft
  const { people, notifications: rows } = peopleOf(facts)
  const withdrawn = unsentOf(rows.filter(({ what }) => what !== 'ack'))
  if (!ack) return { personal: [], notifications: [], withdrawn }
  const entry = Math.max(0, Math.floor(toSeconds(ack.at - draft.downAt)))
  const isSent = (row: { what: string; entry: number }) => row.what === 'ack' && row.entry === entry
  const step = draft.firstStep ?? 0
  const detail = { step, repeat: 0, reason: 'ACKNOWLEDGED', dueAt: ack.at, by: ack.by, via: ack.via } as const
  const common = { what: 'ack', status: 'down', flipId: null, entry, detail } as const
  const by = ack.by.toLowerCase()
  const personal = (draft.sequences?.list ?? []).flatMap(({ userId, isEnded }): PersonalNotification[] => {
    const person = people.find((one) => one.userId === userId)
    if (isEnded || !person || [person.address, person.name.toLowerCase()].includes(by)) return []
    const own = rows.filter((row) => row.userId === userId)
    const isUsable = (id: string | null) => person.methods.some((method) => method.id === id && method.isUsable)
    const methodId = own.find((row) => row.attempts > 0 && isUsable(row.methodId))?.methodId ?? null
    return methodId === null || own.some(isSent) ? [] : [{ userId, methodId, ...common }]
  })
  const attempted = facts.notifications.filter(({ status, attempts }) => status === 'down' && attempts > 0)
  const notifications = (facts.policy?.plan.notify_ack ? facts.integrations : []).flatMap((integration) => {
    const { id: integrationId, isReader } = integration
    const own = attempted.filter((row) => row.integrationId === integrationId)
    const isWanted = isReader && own.length > 0 && refusalOf(integration, 'down') === null
    const isDone = facts.notifications.some((row) => row.integrationId === integrationId && isSent(row))
    return isWanted && !isDone ? [{ integrationId, ...common }] : []
  })
  return { personal, notifications, withdrawn }
}

/** Notifies the persons of running sequences and of the first step that the check changes too often. */
export function notifyFlappingPeople(draft: Incident, facts: Facts, now: Micros): PersonalNotification[] {
  const { people, schedules, notifications: rows } = peopleOf(facts)
  const running = (draft.sequences?.list ?? []).filter(({ isEnded }) => !isEnded).map(({ userId }) => userId)
  const step = facts.policy?.plan.steps[0]
  const isOpen = !step?.hours.length || endOfRecurring(step.hours, now) !== null
  const targets = step && isOpen && isAtLeast(facts.severity, step.severity) ? step.people : []
  const addresses = targets.map((target) =>
    'person' in target ? target.person : schedules.find(({ id }) => id === target.schedule)?.person,
  )
  const list = listFor(facts.severity)
  const isWanted = ({ userId, address, quiet }: FactPerson) =>
    (running.includes(userId) || addresses.includes(address)) && (list === 'critical' || endOfQuiet(quiet, now) === now)
  return people.filter(isWanted).flatMap((person): PersonalNotification[] => {
    const { userId, methods } = person
    const isUsable = (id: string | null) => methods.some((method) => method.id === id && method.isUsable)
    const attempted = rows.find((row) => row.userId === userId && row.attempts > 0 && isUsable(row.methodId))
    const methodId = attempted?.methodId ?? person[list][0]?.method ?? null
    const common = { what: 'flapping', status: 'down', flipId: null, entry: draft.flips, detail: null } as const
    return methodId === null ? [] : [{ userId, methodId, ...common }]
  })
}
