import { z } from 'zod'
import { decisionText } from '#shared/monitoring/alerting/decision-text.ts'
import type { ExplainedDecision } from '#shared/monitoring/alerting/incident-page-view.ts'
import { decisionsSince } from '#shared/monitoring/alerting/incident-read-store.ts'
import {
  type ExplainedFlip,
  flipToExplain,
  integrationsNotifiedOf,
  type NotifiedIntegration,
} from '#shared/monitoring/notifications/explain-store.ts'
import { parseWith } from '#shared/parse-with.ts'
import { microsOfMillis, toIsoSeconds } from '#shared/time.ts'
import { InstantQuery } from '../../paging.ts'
import { defineTool, READ_ONLY, UntrustedSchema, untrusted } from '../tool.ts'
import { checkOf } from './check-view.ts'

/** A long incident may have more, because each repetition is a decision. */
const MAX_DECISIONS = 50

const At = z.object({ at: InstantQuery.optional() })

export const alertExplain = defineTool({
  name: 'alert_explain',
  title: 'Explain an alert',
  description:
    'Explains the newest change of status of a check, or the newest until `at`. For each integration it returns ' +
    'whether a message was sent, when, after how many attempts, and why not. It also returns each decision about the ' +
    'change and its incident, oldest first.',
  scope: 'monitoring:read',
  annotations: READ_ONLY,
  input: z.strictObject({
    checkId: z.string().describe('uuid of a check'),
    at: z.string().optional().describe('an instant, ISO 8601 with an offset'),
  }),
  output: z.object({
    flip: z.object({ timestamp: z.string(), from: z.string(), to: z.string(), reason: z.string() }).nullable(),
    integrations: z.array(
      z.object({
        id: z.string(),
        kind: z.string(),
        name: UntrustedSchema,
        outcome: z.enum(['delivered', 'failed', 'suppressed', 'pending', 'none']),
        attempts: z.int(),
        finishedAt: z.string().nullable(),
        nextAttemptAt: z.string().nullable(),
        error: UntrustedSchema.nullable(),
        why: z.string(),
      }),
    ),
    decisions: z.array(
      z.object({
        timestamp: z.string(),
        outcome: z.string(),
        reason: z.string(),
        why: z.string(),
        about: UntrustedSchema.nullable(),
        until: z.string().nullable(),
        incidentId: z.string().nullable(),
        integrations: z.array(z.object({ id: z.string(), outcome: z.string(), reason: z.string(), why: z.string() })),
      }),
    ),
  }),
  async run({ checkId, at }, call) {
    const { id } = await checkOf(checkId, call)
    const { at: until } = parseWith(At, { at }, 'the arguments')
    await call.deps.barrier.pass([id])
    const { db } = call.deps
    const instant = until === undefined ? null : microsOfMillis(Date.parse(until))
    const flip = await flipToExplain(db, id, instant)
    const decisions = await decisionsSince(db, id, flip, instant, MAX_DECISIONS)
    const named = decisions.flatMap(({ channels: integrations }) => integrations.map((integration) => integration.id))
    const integrations = flip ? await integrationsNotifiedOf(db, id, flip, named) : []
    return {
      flip: flip && { timestamp: toIsoSeconds(flip.at), from: flip.from, to: flip.to, reason: flip.reason ?? '' },
      integrations: integrations.map((integration) => ({
        id: integration.uuid,
        kind: integration.kind,
        name: untrusted('owner of the integration', integration.name),
        outcome: integration.state ?? ('none' as const),
        attempts: integration.attempts ?? 0,
        finishedAt: integration.finishedAt?.toISOString() ?? null,
        nextAttemptAt: integration.state === 'pending' ? (integration.nextAttemptAt?.toISOString() ?? null) : null,
        error: integration.error ? untrusted('receiver of the message', integration.error) : null,
        why: flip ? reasonFor(flip, integration, decisions) : '',
      })),
      decisions: decisions.map(explained),
    }
  },
})

/** Names in a decision are untrusted, so the sentence omits them and returns them separately. */
function explained(decision: ExplainedDecision) {
  const { at, outcome, reason, detail: facts, until, incidentId, channels: integrations } = decision
  const { name, ...detail } = facts
  return {
    timestamp: toIsoSeconds(at),
    outcome,
    reason,
    why: decisionText({ outcome, reason, detail }),
    about: typeof name === 'string' ? untrusted('owner of the check', name) : null,
    until: until === null ? null : toIsoSeconds(until),
    incidentId,
    integrations: integrations.map((integration) => ({
      ...integration,
      why: decisionText({ ...integration, detail: {} }),
    })),
  }
}

/** Contains no recipients and no untrusted text. */
function reasonFor(
  flip: ExplainedFlip,
  { uuid, state, isDisabled, isAssigned }: NotifiedIntegration,
  decisions: readonly ExplainedDecision[],
): string {
  switch (state) {
    case 'delivered':
      return 'Notified: the receiver took the message.'
    case 'failed':
      return 'Not notified: every attempt failed.'
    case 'suppressed':
      return 'Not notified: the message was suppressed.'
    case 'pending':
      return 'Pending: an attempt is in progress or scheduled.'
    case null:
      break
  }
  const own = decisions.flatMap(({ channels: integrations }) => integrations).findLast(({ id }) => id === uuid)
  if (own) return decisionText({ ...own, detail: {} })
  const decided = decisions.find(({ flipId }) => flipId !== null)
  // The decision covers all integrations at once.
  if (decided && decided.outcome !== 'notified') return explained(decided).why
  if (!flip.isProcessed) return 'Not decided yet.'
  if (flip.from === 'new' && flip.to === 'up') return 'Not notified: a first success is no alert.'
  if (flip.from === 'paused' || flip.to === 'paused') return 'Not notified: pausing and resuming are no alerts.'
  if (isDisabled) return 'Not notified: the integration is disabled.'
  return isAssigned
    ? 'Not notified: the integration ignores changes of this direction, or was assigned later.'
    : 'Not notified: the integration is not assigned to the check.'
}
