import { z } from 'zod'
import { decisionText, personText } from '#shared/monitoring/alerting/decision-text.ts'
import { CONTACT_KINDS } from '#shared/monitoring/contacts/contact-kinds.ts'
import { checkLabel } from '#shared/monitoring/notifications/message.ts'
import { simulateCheck } from '#shared/monitoring/operations/simulate-check.ts'
import { simulatedText } from '#shared/monitoring/simulation/simulated.ts'
import { toIsoSeconds } from '#shared/time.ts'
import type { Route } from '../route.ts'
import { policyRequestSchema } from './alerting-schemas.ts'
import { write } from './monitoring-route.ts'

const instant = z.iso.datetime({ offset: true }).describe('UTC, whole seconds, offset +00:00.')

const requestSchema = z
  .object({
    check: z.uuid().optional().describe('A check of the project.'),
    settings: z
      .object({})
      .loose()
      .optional()
      .describe('Instead of `check`: a draft, in the form of a request that creates a check.'),
    rules: z.object({}).loose().optional().describe('Drafts, instead of the rules of the check.'),
    policy: z
      .union([z.uuid(), policyRequestSchema])
      .nullish()
      .describe('A policy of the project or a draft; null: none; absent: the current one.'),
    windows: z.array(z.object({}).loose()).max(100).optional().describe('Drafts, instead of the current windows.'),
    schedules: z
      .array(z.object({ id: z.uuid() }).loose())
      .max(50)
      .optional()
      .describe(
        'Drafts: the id of an on-call schedule of the project and the members to change. Without a draft, times in the past use the recorded shifts.',
      ),
    events: z
      .array(
        z.object({
          at: instant,
          kind: z.enum(['success', 'start', 'fail', 'log']),
          rid: z.uuid().nullish(),
          source: z.string().max(64).nullish(),
          body: z.string().max(10_000).nullish().describe('A body, to which the keyword filters of the check apply.'),
        }),
      )
      .max(5_000)
      .optional()
      .describe('Events, instead of the recorded ones.'),
    recorded: z
      .enum(['pings', 'flips'])
      .optional()
      .describe(
        '`pings` (default without `events`): the log of the check; `flips`: its status changes, which are stored longer.',
      ),
    from: instant.optional().describe('A week before `until` by default.'),
    until: instant.optional().describe('Now by default; at most 93 days after `from`.'),
  })
  .meta({ id: 'SimulationRequest' })

const answerSchema = z
  .object({
    flips: z.array(z.object({ timestamp: instant, up: z.union([z.literal(0), z.literal(1)]) })),
    messages: z.array(
      z.object({
        at: instant,
        channel: z.uuid().nullable().describe('Null for a message to a person.'),
        person: z.string().nullable().describe('Address; null for a message to an integration.'),
        kind: z.enum(CONTACT_KINDS).nullable().describe('Kind of the contact method of the person.'),
        schedule: z.string().nullable().describe('Name of the schedule that selected the person.'),
        after: z.int().nullable().describe('Seconds of the notification rule of the person.'),
        what: z.string().describe('`last_resort`: a mail to an owner or manager, because no person was reached.'),
        text: z.string(),
      }),
    ),
    decisions: z.array(
      z.object({
        at: instant,
        outcome: z.string(),
        reason: z.string(),
        until: instant.nullable(),
        text: z.string(),
        people: z.array(
          z.object({
            person: z.string().nullable(),
            schedule: z.string().optional(),
            outcome: z.string(),
            reason: z.string(),
            text: z.string(),
          }),
        ),
        channels: z.array(z.object({ id: z.uuid(), outcome: z.string(), reason: z.string() })),
      }),
    ),
    assumed: z.array(z.string()).describe('The assumptions, as sentences.'),
    truncated: z.boolean(),
  })
  .meta({ id: 'Simulation' })

/** Simulated notifications; version 3 only. */
export const simulationRoutes: readonly Route[] = [
  write({
    tags: ['Alerting'],
    path: '/api/v3/simulations/',
    operationId: 'simulate',
    summary: 'Simulate the notifications of a check',
    description:
      'Replays the log of the check, or events of the request, in virtual time. It uses the current policy, rules, windows and on-call schedules, or drafts. Parents, other checks of the policy and outages of the service are as recorded. It stores and sends nothing; messages count as delivered at once. Limit: six per minute.',
    params: {},
    body: { required: true, content: { 'application/json': requestSchema } },
    errors: [400, 404, 413],
    responses: {
      200: { description: 'The result.', content: { 'application/json': answerSchema } },
    },
    async handle({ key, body, deps }) {
      const { check, flips, messages, decisions, assumed, truncated } = await simulateCheck(
        deps.db,
        { project: key.project, body, now: deps.now() },
        deps,
      )
      const label = checkLabel(check)
      return {
        flips: flips.map(({ at, up }) => ({ timestamp: toIsoSeconds(at), up: up ? 1 : 0 })),
        messages: messages.map((message) => ({
          at: toIsoSeconds(message.at),
          channel: message.integration,
          person: message.recipient?.person ?? null,
          kind: message.recipient?.kind ?? null,
          schedule: message.recipient?.schedule ?? null,
          after: message.recipient?.after ?? null,
          what: message.what,
          text: simulatedText(message, label),
        })),
        decisions: decisions.map(({ at, outcome, reason, detail, until, people = [], channels: integrations }) => ({
          at: toIsoSeconds(at),
          outcome,
          reason,
          until: until === null ? null : toIsoSeconds(until),
          text: decisionText({ outcome, reason, detail }),
          people: people.map((one) => ({ ...one, text: personText(one) })),
          channels: integrations,
        })),
        assumed,
        truncated,
      }
    },
  }),
]
