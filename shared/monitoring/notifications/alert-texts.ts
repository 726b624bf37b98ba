import { type Micros, toIsoSeconds } from '../../time.ts'
import { formatDuration } from './durations.ts'
import type { Fact } from './fact.ts'
import type { AlertPlace, Notification } from './notification.ts'

/** A message is late by more than this when it says so. */
const LATE: Micros = 60_000_000

/** `DOWN`, `UP`, `STILL DOWN (3)`, `FLAPPING`: what a subject begins with. */
export function stateWord({ status, alert }: Pick<Notification, 'status' | 'alert'>): string {
  if (alert?.what === 'flapping') return 'FLAPPING'
  if (alert?.what === 'repeat') return `STILL DOWN (${alert.repeat + 1})`
  return status.toUpperCase()
}

/** What a message under a policy says beyond one without: since when, which step, how bad, how to acknowledge, how late. */
export function alertFacts({ status, alert }: Pick<Notification, 'status' | 'alert'>): Fact[] {
  if (!alert) return []
  const isDown = status === 'down'
  return [
    { label: 'Down since', value: isDown ? toIsoSeconds(alert.downAt) : '' },
    { label: 'Step', value: isDown && alert.step !== null ? String(alert.step) : '' },
    { label: 'Severity', value: alert.severity },
    { label: 'Acknowledge', value: isDown ? alert.ackUrl : '' },
    { label: 'Late', value: lateness(alert) },
  ]
}

function lateness({ lateBy, lateReason }: AlertPlace): string {
  if (lateBy <= LATE) return ''
  return `This message is ${formatDuration(lateBy)} late: ${LATE_REASONS[lateReason] ?? 'it could not be sent before'}`
}

const LATE_REASONS: Readonly<Record<string, string>> = {
  WINDOW_ENDED: 'a maintenance window held it',
  PARENT_UP: 'what the check depends on was down',
  ACK_EXPIRED: 'the incident was acknowledged',
}
