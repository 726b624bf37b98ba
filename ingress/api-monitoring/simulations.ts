import { z } from 'zod'
import { decisionText } from '#shared/monitoring/alerting/decision-text.ts'
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
      .describe('In place of `check`: a check that is only described, as a request that creates one.'),
    rules: z.object({}).loose().optional().describe('Drafts, in place of what the check has of these rules.'),
    policy: z
      .union([z.uuid(), policyRequestSchema])
      .nullish()
      .describe('A policy of the project or a draft; null: none; left out: the one in force.'),
    windows: z.array(z.object({}).loose()).max(100).optional().describe('Drafts, in place of the windows in force.'),
    events: z
      .array(
        z.object({
          at: instant,
          kind: z.enum(['success', 'start', 'fail', 'log']),
          rid: z.uuid().nullish(),
          source: z.string().max(64).nullish(),
        }),
      )
      .max(5_000)
      .optional()
      .describe('What is thought up, in place of what was recorded.'),
    recorded: z
      .enum(['pings', 'flips'])
      .optional()
      .describe("The check's log, and so it is without `events`; or its changes of status, which are kept for longer."),
    from: instant.optional().describe('A week before `until` by default.'),
    until: instant.optional().describe('Now by default; at most 93 days after `from`.'),
  })
  .meta({ id: 'SimulationRequest' })

const answerSchema = z
  .object({
    flips: z.array(z.object({ timestamp: instant, up: z.union([z.literal(0), z.literal(1)]) })),
    messages: z.array(z.object({ at: instant, channel: z.uuid(), what: z.string(), text: z.string() })),
    decisions: z.array(
      z.object({
        at: instant,
        outcome: z.string(),
        reason: z.string(),
        until: instant.nullable(),
        text: z.string(),
        channels: z.array(z.object({ id: z.uuid(), outcome: z.string(), reason: z.string() })),
      }),
    ),
    assumed: z.array(z.string()).describe('What is taken for granted, in sentences; empty without messages.'),
    truncated: z.boolean(),
  })
  .meta({ id: 'Simulation' })

/** What would have been told; version 3 only. */
export const simulationRoutes: readonly Route[] = [
  write({
    tags: ['Alerting'],
    path: '/api/v3/simulations/',
    operationId: 'simulate',
    summary: 'Simulate who would have been told of a check',
    description:
      "Plays the check's log, or events that are thought up, in virtual time against the policy, rules and windows in " +
      'force or against drafts. What it depends on, other checks of the policy and gaps of ours are as they were ' +
      'recorded. Nothing is stored or sent; messages count as delivered at once. Six a minute.',
    params: {},
    body: { required: true, content: { 'application/json': requestSchema } },
    errors: [400, 404, 413],
    responses: {
      200: { description: 'What came of it.', content: { 'application/json': answerSchema } },
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
          channel: message.channel,
          what: message.what,
          text: simulatedText(message, label),
        })),
        decisions: decisions.map(({ at, outcome, reason, detail, until, channels }) => ({
          at: toIsoSeconds(at),
          outcome,
          reason,
          until: until === null ? null : toIsoSeconds(until),
          text: decisionText({ outcome, reason, detail }),
          channels,
        })),
        assumed,
        truncated,
      }
    },
  }),
]
