import type { Decision, PersonDecision } from './incident.ts'

type Detail = Decision['detail']

export function decisionText({ outcome, reason, detail }: { outcome: string; reason: string; detail: Detail }): string {
  const because = REASONS[reason]
  const text = because === undefined ? reason : typeof because === 'string' ? because : because(detail)
  return `${OPENINGS[outcome] ?? ''}${text}`
}

export interface IntegrationOutcome {
  outcome: string
  reason: string
  delivery?: { state: string; error: string; attempts: number } | null
}

/** Shows a notification that another one replaced before its first attempt as superseded. */
export function outcomeOf({ outcome, reason, delivery }: IntegrationOutcome): { outcome: string; reason: string } {
  const isSuperseded = outcome === 'notified' && delivery?.state === 'suppressed' && delivery.error === 'Superseded'
  return isSuperseded && delivery.attempts === 0 ? { outcome: 'skipped', reason: 'SUPERSEDED' } : { outcome, reason }
}

/** `Chat: Notified: it is still down.` or `Phone: Not notified (failed: Time-out), although it is still down.` */
export function integrationText(
  integration: IntegrationOutcome,
  name: string,
  decision: { reason: string; detail: Detail },
): string {
  const { outcome, reason } = outcomeOf(integration)
  const detail = reason === decision.reason ? decision.detail : {}
  const { delivery } = integration
  const isLost = outcome === 'notified' && (delivery?.state === 'failed' || delivery?.state === 'suppressed')
  if (!isLost) return `${name}: ${decisionText({ outcome, reason, detail })}`
  const why = decisionText({ outcome: '', reason, detail })
  return `${name}: Not notified (${delivery.state}${delivery.error && `: ${delivery.error}`}), although ${why}`
}

/** `anna@example.org: Notified: the conditions of the policy were met.` */
export function personText({ person, schedule, outcome, reason }: PersonDecision): string {
  return `${person ?? schedule ?? 'A deleted schedule'}: ${decisionText({ outcome, reason, detail: {} })}`
}

const OPENINGS: Readonly<Record<string, string>> = {
  notified: 'Notified: ',
  suppressed: 'Not notified: ',
  skipped: 'Not notified: ',
  none: 'Not notified: ',
  deadline_extended: 'Not down: ',
}

const named = (detail: Detail, fallback: string) => (detail.name === undefined ? fallback : `"${detail.name}"`)

const REASONS: Readonly<Record<string, string | ((detail: Detail) => string)>> = {
  DIRECT: 'the check changed, and no policy applies.',
  FIRST: 'the conditions of the policy were met.',
  STEP: ({ step }) => `${step === undefined ? 'a later step' : `step ${Number(step) + 1}`} of the policy was due.`,
  REPEAT: 'it is still down.',
  RECOVERY: 'it is up again.',
  FLAPPING: ({ changes }) => `it changed ${changes === undefined ? 'too often' : `${changes} times`} in a short time.`,
  IN_DIGEST: 'it is part of a digest.',
  WINDOW_ENDED: ({ name }) =>
    `it is still down at the end of its maintenance${name === undefined ? '' : ` ("${name}")`}.`,
  PARENT_UP: ({ name }) =>
    name === undefined
      ? 'it is still down, and the checks that it depends on are no longer down.'
      : `it is still down after "${name}" came back.`,
  PARENT_CYCLE: 'its dependencies form a cycle.',
  ACK_EXPIRED: 'its acknowledgement has ended.',
  SNOOZE_ENDED: 'its snooze has ended.',
  ESCALATED: ({ step }) => `${step === undefined ? 'the next step' : `step ${Number(step) + 1}`} was requested.`,
  FIRST_STEP_FAILED: 'no notification of the first step was delivered.',
  SHIFT_CHANGED: 'another person came on call.',
  REASSIGNED: 'the incident was assigned to the person.',
  FALLBACK: 'the fallback of the policy was due.',
  LAST_RESORT: 'no step reached a person, so owners and managers got a mail.',
  QUIET_HOURS: 'the person has quiet hours.',
  UNREACHABLE: 'the person has no contact method that works, or left.',
  ALREADY_NOTIFIED: 'another step is notifying the person.',
  SHIFT_ENDED: 'the shift of the person has ended.',
  METHOD_GONE: 'the contact method was deleted.',
  METHOD_DISABLED: 'the contact method is not usable.',
  GAP: 'its ping was due while we could not receive pings.',
  REFUSED_PING: 'one of its pings was refused because of an error on our side.',
  UNKNOWN_NOTICE: 'its status is unknown, because its ping was due while we could not receive pings.',
  FAILURES: ({ have, need }) => (need === undefined ? 'too few failures.' : `${have} of ${need} failures so far.`),
  DOWN_FOR: ({ seconds }) => (seconds === undefined ? 'not down for long enough.' : `not down for ${seconds} s yet.`),
  GROUPING: 'it waits for other checks that go down at the same time.',
  OUTSIDE_HOURS: 'the time is outside the hours of the step.',
  ACKNOWLEDGED: 'the incident is acknowledged.',
  MERGED: (detail) => `it is merged into ${named(detail, 'another incident')}.`,
  RECOVERING: 'it is up again, and more successes are needed.',
  SETTLING: 'it changes too often and must be stable first.',
  COVERAGE_GAP: 'we cannot receive pings at the moment.',
  MAINTENANCE: (detail) => `it is in maintenance (${named(detail, 'a window')}).`,
  PARENT_DOWN: (detail) => `it depends on ${named(detail, 'another check')}, which is down.`,
  PARENT_LATE: (detail) => `it depends on ${named(detail, 'another check')}, which is late.`,
  BELOW_SEVERITY: 'the severity of the check is below that of the step.',
  INTEGRATION_GONE: 'the integration was deleted.',
  INTEGRATION_DISABLED: 'the integration is disabled.',
  INTEGRATION_IGNORES: 'the integration ignores this change.',
  MONTHLY_RESERVE: 'the rest of the monthly limit is reserved for first messages.',
  SUPERSEDED: 'a newer message replaced it, or it was no longer needed.',
  NOT_NOTIFIED_BEFORE: 'no down notification was attempted before.',
  FIRST_SUCCESS: 'the first successful ping does not trigger a notification.',
  WAS_PAUSED: 'it was paused before.',
  PAUSED: 'it was paused.',
  RESUMED: 'it was resumed.',
  RECOVERED_FIRST: 'it came up before a notification was due.',
  JOINED: 'it belongs to the open incident, and no step is due.',
  MOVED: 'the check was moved to another project, which ended the incident.',
  ...Object.fromEntries([
    ['NOBODY_REACHED', 'the step before reached no person.'],
    ['NOBODY_ON_CALL', 'no person was on call.'],
  ]),
  NO_INTEGRATIONS: 'it has no integration for this change.',
}
