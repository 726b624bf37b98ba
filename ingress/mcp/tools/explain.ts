import { z } from 'zod'
import {
  channelsToldOf,
  type ExplainedFlip,
  flipToExplain,
  type ToldChannel,
} from '#shared/monitoring/notifications/explain-store.ts'
import { microsOfMillis, toIsoSeconds } from '#shared/time.ts'
import { parseWith } from '../../risk/json-body.ts'
import { InstantQuery } from '../../risk/paging.ts'
import { defineTool, READ_ONLY } from '../tool.ts'
import { UntrustedSchema, untrusted } from '../untrusted.ts'
import { checkOf } from './checks.ts'

const At = z.object({ at: InstantQuery.optional() })

export const alertExplain = defineTool({
  name: 'alert_explain',
  title: 'Explain an alert',
  description:
    'What was decided for each integration when a check changed its status: whether a message was sent, when, how ' +
    'often it was tried, and why not. The newest change, or the newest until `at`.',
  scope: 'monitoring:read',
  annotations: READ_ONLY,
  input: z.object({
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
  }),
  async run({ checkId, at }, call) {
    const { id } = await checkOf(checkId, call)
    const { at: until } = parseWith(At, { at }, 'the arguments')
    await call.deps.barrier.pass([id])
    const flip = await flipToExplain(call.deps.db, id, until === undefined ? null : microsOfMillis(Date.parse(until)))
    if (!flip) return { flip: null, integrations: [] }
    const channels: ToldChannel[] = await channelsToldOf(call.deps.db, id, flip.id)
    const { from, to, reason } = flip
    return {
      flip: { timestamp: toIsoSeconds(flip.at), from, to, reason: reason ?? '' },
      integrations: channels.map((channel) => ({
        id: channel.uuid,
        kind: channel.kind,
        name: untrusted('owner of the integration', channel.name),
        outcome: channel.state ?? ('none' as const),
        attempts: channel.attempts ?? 0,
        finishedAt: channel.finishedAt?.toISOString() ?? null,
        nextAttemptAt: channel.state === 'pending' ? (channel.nextAttemptAt?.toISOString() ?? null) : null,
        error: channel.error ? untrusted('receiver of the message', channel.error) : null,
        why: reasonFor(flip, channel),
      })),
    }
  },
})

/** One sentence in words of ours: who receives messages and how is not in it. */
function reasonFor(flip: ExplainedFlip, { state, isDisabled, isAssigned }: ToldChannel): string {
  switch (state) {
    case 'delivered':
      return 'Notified: the receiver took the message.'
    case 'failed':
      return 'Not notified: every attempt failed.'
    case 'suppressed':
      return 'Not notified: the message was held back.'
    case 'pending':
      return 'To be notified: an attempt is under way or waits for its time.'
    case null:
      break
  }
  if (!flip.isProcessed) return 'Not decided yet.'
  if (flip.from === 'new' && flip.to === 'up') return 'Not notified: a first success is no alert.'
  if (flip.from === 'paused' || flip.to === 'paused') return 'Not notified: pausing and resuming are no alerts.'
  if (isDisabled) return 'Not notified: the integration is disabled.'
  return isAssigned
    ? 'Not notified: the integration ignores changes of this direction, or was assigned later.'
    : 'Not notified: the integration is not assigned to the check.'
}
