import type { Micros } from '../../time.ts'
import type { Decision, NewNotification } from '../alerting/incident.ts'
import type { Plan } from '../alerting/policy.ts'

export interface SimulatedMessage extends Pick<NewNotification, 'status' | 'detail'> {
  at: Micros
  integration: string
  what: NewNotification['what'] | 'digest' | 'unknown'
  size: number
}

export interface SimulatedDecision extends Pick<Decision, 'detail' | 'until' | 'channels'> {
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

/** `DOWN`, `STILL DOWN (2)`, `FLAPPING`, `UP`, `12 checks are DOWN` */
export function simulatedLabel({ what, status, detail, size }: SimulatedMessage): string {
  if (what === 'digest') return `${size} ${size === 1 ? 'check is' : 'checks are'} ${status.toUpperCase()}`
  if (what === 'unknown') return 'UNKNOWN'
  if (what === 'flapping') return 'FLAPPING'
  if (what === 'repeat') return `STILL DOWN (${(detail?.repeat ?? 0) + 1})`
  return status.toUpperCase()
}

export function simulatedText(message: SimulatedMessage, label: string): string {
  const status = simulatedLabel(message)
  if (message.what === 'digest') return status
  return `${status} | ${message.what === 'unknown' ? '1 check' : label}`
}

export function assumptionsOf({ messages }: Pick<Simulated, 'messages'>, plan: Plan | null): string[] {
  if (messages.length === 0) return []
  const assumptions = [
    'Every message counts as delivered at once: retries, limits and failing integrations are not simulated.',
    'No incident is acknowledged.',
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
