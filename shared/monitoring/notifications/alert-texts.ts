import { type Micros, microsOfSeconds, toMillis, toSeconds } from '../../time.ts'
import type { AlertLinks, Notification } from './notification.ts'
import { type Fact, formatInstant, formatPeriod, shortName } from './text-parts.ts'

const LATE: Micros = microsOfSeconds(60)
const A_DAY: Micros = microsOfSeconds(86_400)

/** `DOWN`, `UP`, `STILL DOWN (3)` or `FLAPPING` */
export function stateLabel({ status, alert }: Pick<Notification, 'status' | 'alert'>): string {
  if (alert?.what === 'flapping') return 'FLAPPING'
  if (alert?.what === 'repeat') return `STILL DOWN (${alert.repeat + 1})`
  return status.toUpperCase()
}

export function alertFacts({ status, alert, timeZone }: Pick<Notification, 'status' | 'alert' | 'timeZone'>): Fact[] {
  if (!alert) return []
  const isDown = status === 'down'
  return [
    { label: 'Down since', value: isDown ? formatInstant(alert.downAt, timeZone) : '' },
    { label: 'Step', value: isDown && alert.step !== null ? String(alert.step) : '' },
    { label: 'Severity', value: alert.severity },
    { label: 'Late', value: lateness(alert) },
  ]
}

/** Returns the link that acknowledges the open incidents of a message; null if it has none. */
export function ackUrlOf({
  status,
  alert,
  summary,
}: Pick<Notification, 'status' | 'alert' | 'summary'>): string | null {
  if (status !== 'down') return null
  return (summary ? summary.ackUrl : alert?.ackUrl) ?? null
}

/** For messages without buttons. */
export function ackFacts(notification: Pick<Notification, 'status' | 'alert' | 'summary'>): Fact[] {
  const url = ackUrlOf(notification)
  return url === null ? [] : [{ label: 'Acknowledge', value: url }]
}

/** `It went down at 02:10, during "Patch night"`; empty if not suppressed. Times are in the reader's zone. */
export function suppressedText({ alert, timeZone }: Pick<Notification, 'alert' | 'timeZone'>): string {
  const by = shortName(alert?.suppressedBy ?? '')
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
  const minutes = Math.floor(toSeconds(lateBy) / 60)
  return `This message is ${formatPeriod(minutes * 60)} late: ${LATE_REASONS[lateReason] ?? 'it could not be sent earlier'}`
}

const LATE_REASONS: Readonly<Record<string, string>> = {
  WINDOW_ENDED: 'the check was in maintenance',
  PARENT_UP: 'a check that it depends on was down',
  ACK_EXPIRED: 'the incident was acknowledged',
}
