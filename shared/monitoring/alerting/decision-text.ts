import type { Decision } from './incident.ts'

type Detail = Decision['detail']

/** One sentence for a decision: why something was told, held back or left out. */
export function decisionText({ outcome, reason, detail }: { outcome: string; reason: string; detail: Detail }): string {
  const because = REASONS[reason]
  const text = because === undefined ? reason : typeof because === 'string' ? because : because(detail)
  return `${OPENINGS[outcome] ?? ''}${text}`
}

/** What was decided about one integration, and what became of the message where there is one. */
export interface IntegrationOutcome {
  outcome: string
  reason: string
  delivery?: { state: string; error: string; attempts: number } | null
}

/** What was to be told, and was taken back before anybody began to send it, was superseded; all else is as it was decided. */
export function outcomeOf({ outcome, reason, delivery }: IntegrationOutcome): { outcome: string; reason: string } {
  const isTaken = outcome === 'notified' && delivery?.state === 'suppressed' && delivery.error === 'Overtaken'
  return isTaken && delivery.attempts === 0 ? { outcome: 'skipped', reason: 'SUPERSEDED' } : { outcome, reason }
}

/**
 * One sentence for what became of one integration: `Chat: Notified: it is still down.` Of what could not be sent first that, then
 * why it should have been: `Phone: Not notified (failed: Time-out), although it is still down.`
 */
export function integrationText(channel: IntegrationOutcome, name: string): string {
  const { outcome, reason } = outcomeOf(channel)
  const { delivery } = channel
  const isLost = outcome === 'notified' && (delivery?.state === 'failed' || delivery?.state === 'suppressed')
  if (!isLost) return `${name}: ${decisionText({ outcome, reason, detail: {} })}`
  const why = decisionText({ outcome: '', reason, detail: {} })
  return `${name}: Not notified (${delivery.state}${delivery.error && `: ${delivery.error}`}), although ${why}`
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
  IN_DIGEST: 'it is one of the checks of a digest.',
  WINDOW_ENDED: ({ name }) =>
    `it is still down at the end of its maintenance${name === undefined ? '' : ` ("${name}")`}.`,
  PARENT_UP: ({ name }) =>
    name === undefined
      ? 'it is still down, and what it depends on is not down any more.'
      : `it is still down after "${name}" came back.`,
  PARENT_CYCLE: 'what it depends on depends on it.',
  ACK_EXPIRED: 'its acknowledgement has ended.',
  FIRST_STEP_FAILED: 'nobody was reached before.',
  GAP: 'it was expected while we could not take signals.',
  REFUSED_PING: 'a ping of it was refused, for a reason of ours.',
  UNKNOWN_NOTICE: 'we could not take signals when it was expected.',
  FAILURES: ({ have, need }) => (need === undefined ? 'too few failures.' : `${have} of ${need} failures so far.`),
  DOWN_FOR: ({ seconds }) => (seconds === undefined ? 'not down for long enough.' : `not down for ${seconds} s yet.`),
  GROUPING: 'it waits for other checks that go down at the same time.',
  OUTSIDE_HOURS: 'it is outside of the hours of the step.',
  ACKNOWLEDGED: 'the incident is acknowledged.',
  RECOVERING: 'it is up again, and more successes are needed.',
  SETTLING: 'it changes too often, and has to settle first.',
  COVERAGE_GAP: 'we cannot take signals at the moment.',
  MAINTENANCE: (detail) => `it is in maintenance (${named(detail, 'a window')}).`,
  PARENT_DOWN: (detail) => `it depends on ${named(detail, 'another check')}, which is down.`,
  PARENT_LATE: (detail) => `it depends on ${named(detail, 'another check')}, which is late.`,
  BELOW_SEVERITY: 'the check is less severe than the step.',
  INTEGRATION_GONE: 'the integration was deleted.',
  INTEGRATION_DISABLED: 'the integration is disabled.',
  INTEGRATION_IGNORES: 'the integration ignores this change.',
  MONTHLY_RESERVE: 'the rest of the monthly limit is kept for first messages.',
  SUPERSEDED: 'a newer message took its place, or nobody needed it any more.',
  NOT_NOTIFIED_BEFORE: 'no down notification was attempted before.',
  FIRST_SUCCESS: 'its first success is no news.',
  WAS_PAUSED: 'it was paused before.',
  PAUSED: 'it was paused.',
  RESUMED: 'it was resumed.',
  RECOVERED_FIRST: 'it came up before anybody was to be told.',
  JOINED: 'it belongs to the open incident, and no step is due.',
  MOVED: 'the check was moved to another project, which ended the incident.',
  NO_INTEGRATIONS: 'it has no integration that has anything to do for this change.',
}
