import { z } from 'zod'
import { ENTRY_KINDS } from '#shared/monitoring/alerting/timeline.ts'
import { warningsSchema } from './on-call-schemas.ts'
import { pingAuthSchema, runRuleSchema, sourceRuleSchema } from './run-schemas.ts'

const seconds = (min: number, max: number) => z.int().min(min).max(max).describe('Seconds.')
const severity = z.enum(['info', 'warning', 'critical'])
const instant = z.iso.datetime({ offset: true }).describe('UTC, whole seconds, offset +00:00.')
const WEEK = 604_800

const recurring = z.object({
  every: z.string().max(100).describe('Cron or OnCalendar expression.'),
  for: seconds(60, 2_592_000),
  tz: z.string().optional().describe('IANA name; UTC by default.'),
})

const people = z
  .array(
    z.union([
      z.object({ schedule: z.uuid().describe('Notifies the person who is on call when the step is due.') }),
      z.object({ person: z.email() }),
    ]),
  )
  .max(10)

const step = z.object({
  wait: seconds(0, WEEK).optional().describe('Seconds after the step before.'),
  channels: z.string().nullish().describe('As in a check.'),
  people: people.nullish().describe('Persons, each notified by their own notification rules.'),
  own: z
    .boolean()
    .nullish()
    .describe("Adds the check's own integrations; true by default if `channels` and `people` are both absent."),
  severity: severity.nullish().describe('The step is skipped for checks of lower severity.'),
  repeat: z.object({ every: seconds(60, WEEK), times: z.int().min(1).max(1000).nullish() }).nullish(),
  hours: z.array(recurring).max(7).nullish().describe('When the step may notify; always by default.'),
  outside: z.enum(['wait', 'skip']).nullish().describe('What happens to a notification outside the hours.'),
})

const fields = {
  name: z.string().min(1).max(100),
  match: z
    .string()
    .max(500)
    .describe('Empty: nothing; `*`: the whole project; else tags, all of which a check must have.'),
  position: z.int().min(0).max(1000),
  when: z.object({
    failures: z.int().min(1).max(20).nullish(),
    of: z.int().max(20).nullish().describe('Number of runs that are considered; null: consecutive.'),
    down_for: seconds(0, WEEK).nullish(),
    successes: z.int().min(1).max(20).nullish(),
  }),
  steps: z.array(step).min(1).max(10),
  group: z.object({ checks: z.int().min(2).max(10_000).nullish(), within: seconds(0, 600).nullish() }),
  flapping: z.object({ changes: z.int().min(3).max(50), within: seconds(300, 86_400) }).nullable(),
  ack_timeout: seconds(300, WEEK).nullable(),
  fallback: z
    .object({
      wait: seconds(60, 86_400).describe('Seconds after the last notification.'),
      people: people.nullish(),
      channels: z.string().nullish(),
    })
    .nullable()
    .describe('Notified once per incident, after the last notification or if a last step reaches no person.'),
  notify_ack: z.boolean().describe('Sends acknowledgements to the notified integrations that people read.'),
}

export const policySchema = z
  .object({ id: z.uuid(), ...fields, warnings: warningsSchema.describe('About the persons that it names.') })
  .meta({ id: 'Policy' })

export const policyDocumentSchema = z.object({ id: z.uuid(), ...fields }).meta({ id: 'PolicyDocument' })

export const policyRequestSchema = z
  .object({
    ...fields,
    match: fields.match.nullish(),
    position: fields.position.nullish(),
    when: fields.when.nullish(),
    group: fields.group.nullish(),
    flapping: fields.flapping.optional(),
    ack_timeout: fields.ack_timeout.optional(),
    fallback: fields.fallback.optional(),
    notify_ack: fields.notify_ack.nullish(),
  })
  .meta({ id: 'PolicyRequest' })

export const rulesSchema = z
  .object({
    policy: z.uuid().nullable().describe('The policy that applies; null: the policy that matches.'),
    severity: severity.nullable().describe('`critical` by default.'),
    parents: z
      .array(z.union([z.object({ check: z.uuid() }), z.object({ tag: z.string() })]))
      .max(20)
      .nullable()
      .describe('Parents of the check. While they are down, its notifications are suppressed.'),
    parents_mode: z
      .enum(['any', 'all'])
      .nullable()
      .describe('`any`: one parent that is down suppresses; `all`: all must be down.'),
    run: runRuleSchema.nullable().describe('How runs are watched; null: one job, of which the newest start counts.'),
    sources: sourceRuleSchema.nullable().describe('The machines that report for the check; null: one.'),
    ping_auth: pingAuthSchema.nullable().describe('How pings prove a secret; null: no secret is needed.'),
    previews: z
      .enum(['ignore'])
      .nullable()
      .describe('`ignore`: a GET or HEAD of a program that previews links changes nothing.'),
    filter_json: z
      .string()
      .max(200)
      .nullable()
      .describe(
        'JSON Pointer (RFC 6901), for example `/status`: with `filter_http_body` keywords are searched only in this member.',
      ),
    filter_else: z
      .enum(['url'])
      .nullable()
      .describe(
        '`url`: without a keyword the URL decides; a mail counts as success. null: `filter_default_fail` decides.',
      ),
    early: seconds(0, 86_400)
      .nullable()
      .describe('A ping this long before an occurrence of a cron or OnCalendar schedule counts for it. 0 by default.'),
  })
  .meta({ id: 'Rules' })

export const incidentSchema = z
  .object({
    id: z.uuid(),
    check: z.uuid().optional().describe('Left out for read-only keys, which get `unique_key`.'),
    unique_key: z.string().optional(),
    name: z.string(),
    state: z.enum(['waiting', 'alerting', 'acknowledged', 'resolved']),
    severity,
    down_at: instant,
    alert_at: instant.nullable(),
    resolved_at: instant.nullable(),
    resolution: z.enum(['recovered', 'paused', 'ended']).nullable(),
    duration: z.int().describe('Seconds from `down_at` to the end, or until now.'),
    flips: z.int(),
    failures: z.int(),
    flapping: z.boolean(),
    suppression: z.string().nullable().describe('Reason that delays all notifications; null if none.'),
    exhausted: z
      .boolean()
      .describe('The policy has nothing left to send until the check is up again. Always false without a policy.'),
    policy: z.uuid().nullish(),
    assignee: z.string().nullish(),
    ack: z.object({ at: instant, by: z.string(), via: z.string(), until: instant.nullable() }).nullish(),
    ack_seconds: z.int().nullish().describe('Seconds from `down_at` to the first acknowledgement.'),
    next: instant.nullish().describe('The time of the next evaluation.'),
    report: z.string().optional(),
    previous: z.uuid().nullable(),
    lead: z.uuid().nullish().describe('Incident that it is merged into.'),
    members: z.int().optional().describe('Number of incidents that are merged into it.'),
  })
  .meta({ id: 'Incident' })

export const incidentDetailsSchema = incidentSchema
  .extend({
    timeline: z
      .array(
        z.object({
          at: instant,
          kind: z.enum(ENTRY_KINDS),
          text: z.string().describe('The entry as a sentence.'),
          by: z.string().nullable().describe('The person or key that acted.'),
          via: z.string().nullable(),
          target: z.string().nullable().describe('Name of the notified integration.'),
          person: z.string().nullable().describe('Address of the assignee.'),
          result: z.enum(['pending', 'delivered', 'failed', 'suppressed']).nullable(),
          attempts: z.int().nullable(),
          detail: z.record(z.string(), z.unknown()),
        }),
      )
      .optional()
      .describe('Oldest first, at most 500; left out for read-only keys.'),
    timeline_next: z.string().nullish().describe('`after` of the next entries; null if there are none.'),
  })
  .meta({ id: 'IncidentDetails' })

export const decisionSchema = z
  .object({
    at: instant,
    flip: z.object({ timestamp: instant, up: z.union([z.literal(0), z.literal(1)]) }).nullable(),
    incident: z.uuid().nullable(),
    outcome: z.enum(['notified', 'suppressed', 'skipped', 'none', 'deadline_extended']),
    reason: z.string(),
    detail: z.record(z.string(), z.unknown()),
    until: instant.nullable(),
    text: z.string().describe('The reason as a sentence.'),
    people: z
      .array(
        z.object({
          person: z.string().nullable().describe('Address; null if no person is on call.'),
          schedule: z.string().optional().describe('Name of the schedule that selected the person.'),
          outcome: z.string(),
          reason: z.string(),
          text: z.string(),
        }),
      )
      .describe('Persons of the step.'),
    channels: z.array(
      z.object({
        id: z.uuid(),
        outcome: z.string(),
        reason: z.string(),
        delivery: z.object({ state: z.string(), error: z.string(), attempts: z.int() }).nullable(),
        text: z.string(),
      }),
    ),
  })
  .meta({ id: 'Decision' })
