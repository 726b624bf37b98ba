import type { Micros } from '../../time.ts'
import type { Decision, NewNotification } from '../alerting/incident.ts'
import type { Plan } from '../alerting/policy.ts'

/** A message that would be sent. */
export interface SimulatedMessage extends Pick<NewNotification, 'status' | 'detail'> {
  at: Micros
  /** uuid */
  channel: string
  what: NewNotification['what'] | 'digest' | 'unknown'
  /** of how many checks it tells */
  size: number
}

export interface SimulatedDecision extends Pick<Decision, 'detail' | 'until' | 'channels'> {
  at: Micros
  outcome: Decision['outcome'] | 'deadline_extended'
  reason: string
}

/** What would have come of it. */
export interface Simulated {
  flips: { at: Micros; up: boolean }[]
  messages: SimulatedMessage[]
  decisions: SimulatedDecision[]
  /** it took more steps than a simulation may */
  truncated: boolean
}

/** The beginning of a message's subject: `DOWN`, `STILL DOWN (2)`, `FLAPPING`, `UP`, `12 checks are DOWN`. */
export function simulatedLabel({ what, status, detail, size }: SimulatedMessage): string {
  if (what === 'digest') return `${size} ${size === 1 ? 'check is' : 'checks are'} ${status.toUpperCase()}`
  if (what === 'unknown') return 'UNKNOWN'
  if (what === 'flapping') return 'FLAPPING'
  if (what === 'repeat') return `STILL DOWN (${(detail?.repeat ?? 0) + 1})`
  return status.toUpperCase()
}

/** The subject of a message. @param label the check's */
export function simulatedText(message: SimulatedMessage, label: string): string {
  const word = simulatedLabel(message)
  if (message.what === 'digest') return word
  return `${word} | ${message.what === 'unknown' ? '1 check' : label}`
}

/**
 * What is taken for granted of a result that has messages, in sentences: what no simulation can know of them.
 * @param plan of the policy that is played; null: none
 */
export function assumptionsOf({ messages }: Pick<Simulated, 'messages'>, plan: Plan | null): string[] {
  if (messages.length === 0) return []
  const said = [
    'Every message counts as delivered at once: retries, limits and integrations that fail are not played.',
    'Nobody acknowledges an incident.',
  ]
  const step = messages.find(({ what, detail }) => what === 'first' && detail !== null)?.detail?.step ?? null
  const isEscalating = step !== null && (plan?.steps[step + 1]?.wait ?? 0) > 0
  if (isEscalating) said.push(`Had step ${step + 1} reached nobody, step ${step + 2} would have spoken at once.`)
  return said
}
