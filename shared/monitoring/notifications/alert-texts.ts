import { type Micros, microsOfSeconds, toMillis, toSeconds } from '../../time.ts'
import type { NotificationDetail } from '../alerting/incident.ts'
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
    { label: 'Step', value: isDown ? stepText(alert) : '' },
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

/** `1 of 2, next in 15 minutes` */
function stepText({ step, steps, nextIn }: AlertLinks): string {
  if (step === null) return ''
  const position = steps === null ? String(step) : step > steps ? 'fallback' : `${step} of ${steps}`
  if (nextIn === null) return position
  const seconds = Math.round(toSeconds(nextIn))
  return `${position}, next in ${formatPeriod(seconds < 60 ? seconds : Math.round(seconds / 60) * 60)}`
}

/**
 * `It went down at 02:10. Delayed until now by maintenance "Patch night"`; empty if not suppressed. Times are in the
 * reader's zone.
 */
export function suppressedText({ alert, timeZone }: Pick<Notification, 'alert' | 'timeZone'>): string {
  const by = shortName(alert?.suppressedBy ?? '')
  if (alert?.lateReason === 'PARENT_UP') return by === '' ? '' : `Still down after "${by}" came back`
  if (alert?.lateReason !== 'WINDOW_ENDED') return ''
  const isToday = alert.downAgo < A_DAY
  const at = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    ...(!isToday && { day: 'numeric', month: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
  }).format(toMillis(alert.downAt))
  return `It went down at ${at}. Delayed until now by maintenance${by && ` "${by}"`}`
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

/** Returns why a person gets a message, as a sentence. */
export function recipientText(
  { reason, schedule }: Pick<NotificationDetail, 'reason' | 'schedule'>,
  policy: string | null,
): string {
  const named = policy === null ? '' : `policy "${shortName(policy)}"`
  if (schedule !== undefined) return `You are on call (${shortName(schedule)})${named && `, ${named}`}.`
  if (reason === 'REASSIGNED') return 'The incident is assigned to you.'
  if (reason === 'SNOOZE_ENDED') return 'The snooze of the incident ended.'
  return named && `You are a recipient of ${named}.`
}
