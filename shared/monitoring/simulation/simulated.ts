import type { Micros } from '../../time.ts'
import type { Decision, NewNotification } from '../alerting/incident.ts'
import { type Plan, targetsOf } from '../alerting/policy.ts'
import type { ContactKind } from '../contacts/contact-kinds.ts'

export interface SimulatedRecipient {
  /** address */
  person: string
  kind: ContactKind
  /** name of the schedule that selected the person */
  schedule: string | null
  /** seconds after the begin of the sequence; null for recoveries and flapping */
  after: number | null
}

export interface SimulatedMessage extends Pick<NewNotification, 'status' | 'detail'> {
  at: Micros
  /** null for a message to a person */
  integration: string | null
  /** null for a message to an integration */
  recipient: SimulatedRecipient | null
  what: NewNotification['what'] | 'digest' | 'unknown' | 'last_resort'
  size: number
}

export interface SimulatedDecision extends Pick<Decision, 'detail' | 'until' | 'channels' | 'people'> {
  at: Micros
  outcome: Decision['outcome'] | 'deadline_extended'
  reason: string
}

export interface Simulated {
  flips: { at: Micros; up: boolean }[]
  messages: SimulatedMessage[]
  decisions: SimulatedDecision[]
  /** true if the simulation reached its maximum number of steps */
  truncated: boolean
}

/** The mail to an owner or manager. */
export function lastResortMail(person: string, at: Micros): SimulatedMessage {
  const recipient = { person, kind: 'email', schedule: null, after: null } as const
  return { at, integration: null, recipient, what: 'last_resort', status: 'down', detail: null, size: 1 }
}

/** `DOWN`, `STILL DOWN (2)`, `FLAPPING`, `UP`, `12 checks are DOWN` */
export function simulatedLabel({ what, status, detail, size }: SimulatedMessage): string {
  if (what === 'digest') return `${size} ${size === 1 ? 'check is' : 'checks are'} ${status.toUpperCase()}`
  if (what === 'unknown') return 'UNKNOWN'
  if (what === 'flapping') return 'FLAPPING'
  if (what === 'last_resort') return 'NO PERSON NOTIFIED'
  if (what === 'repeat') return `STILL DOWN (${(detail?.repeat ?? 0) + 1})`
  return status.toUpperCase()
}

export function simulatedText(message: SimulatedMessage, label: string): string {
  const status = simulatedLabel(message)
  if (message.what === 'digest') return status
  return `${status} | ${message.what === 'unknown' ? '1 check' : label}`
}

export function assumptionsOf({ messages }: Pick<Simulated, 'messages'>, plan: Plan | null): string[] {
  const people = plan && targetsOf(plan).length > 0 ? ['Contact methods and rules are as they are now.'] : []
  if (messages.length === 0) return people
  const isPersonal = messages.some(({ recipient, what }) => recipient !== null && what !== 'last_resort')
  const assumptions = [
    ...people,
    ...(isPersonal ? ['Messages to the same contact method are not bundled.'] : []),
    'Every message counts as delivered at once: retries, limits and failing integrations are not simulated.',
    'No incident is acknowledged or assigned.',
  ]
  const step = messages.find(({ what, detail }) => what === 'first' && detail !== null)?.detail?.step ?? null
  const isEscalating = step !== null && (plan?.steps[step + 1]?.wait ?? 0) > 0
  if (isEscalating) {
    assumptions.push(
      `If no message of step ${step + 1} could be delivered, step ${step + 2} would be sent without its wait.`,
    )
  }
  return assumptions
}
