import { type Micros, microsOfSeconds, toIsoSeconds, toMillis, toSeconds } from '../../time.ts'
import type { AlertLinks, Notification } from './notification.ts'
import { type Fact, formatPeriod, shortName } from './text-parts.ts'

/** A message is late by more than this when it says so. */
const LATE: Micros = microsOfSeconds(60)
/** After so long a time of day alone says too little. */
const A_DAY: Micros = microsOfSeconds(86_400)

/** `DOWN`, `UP`, `STILL DOWN (3)`, `FLAPPING`: what a subject begins with. */
export function stateLabel({ status, alert }: Pick<Notification, 'status' | 'alert'>): string {
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

/**
 * Why somebody is told only now, as a sentence without its stop: `It went down at 02:10, during "Patch night"` or `Still down
 * after "router" came back`; empty when nothing held the message. Times are in the reader's zone.
 */
export function suppressedText({ alert, timeZone }: Pick<Notification, 'alert' | 'timeZone'>): string {
  const by = shortName(alert?.heldBy ?? '')
  if (!alert || by === '') return ''
  if (alert.lateReason === 'PARENT_UP') return `Still down after "${by}" came back`
  if (alert.lateReason !== 'WINDOW_ENDED') return ''
  const isToday = alert.lateBy < A_DAY
  const at = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    ...(!isToday && { day: 'numeric', month: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
  }).format(toMillis(alert.downAt))
  return `It went down at ${at}, during "${by}"`
}

function lateness({ lateBy, lateReason }: AlertLinks): string {
  if (lateBy <= LATE) return ''
  // Whole minutes: nobody counts its seconds.
  const minutes = Math.floor(toSeconds(lateBy) / 60)
  return `This message is ${formatPeriod(minutes * 60)} late: ${LATE_REASONS[lateReason] ?? 'it could not be sent before'}`
}

const LATE_REASONS: Readonly<Record<string, string>> = {
  WINDOW_ENDED: 'a maintenance window held it',
  PARENT_UP: 'what the check depends on was down',
  ACK_EXPIRED: 'the incident was acknowledged',
}
