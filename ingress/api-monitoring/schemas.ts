import { z } from 'zod'
import {
  ACCEPTANCE_FIELDS,
  type CheckField,
  type FieldGroup,
  IDENTITY_FIELDS,
  KEYWORD_FIELDS,
  SCHEDULE_FIELDS,
} from '#shared/monitoring/checks/fields.ts'
import { MAX_INTEGRATIONS_LENGTH } from '#shared/monitoring/checks/integrations-field.ts'
import { UNIQUE_FIELDS } from '#shared/monitoring/checks/spec.ts'
import { UUID_PATTERN } from '#shared/uuid.ts'
import type { PathParam } from '../route.ts'
import { rulesSchema } from './alerting-schemas.ts'

export const uuidParam: PathParam = {
  pattern: UUID_PATTERN,
  description: 'Dashed and in lower case.',
  example: '803f680d-e89b-492b-82ef-2be7b774a92d',
}

export const uniqueKeyParam: PathParam = {
  pattern: '[0-9A-Za-z]{40}',
  description: "A check's unique_key, 40 characters.",
  example: '124f983e0e3dcaeba921cfcef46efd084576e783',
}

const instant = z.iso.datetime({ offset: true }).describe('UTC, whole seconds, offset +00:00.')

const errorSchema = z.object({ error: z.string() }).meta({ id: 'MonitoringError' })

function schemaOf(field: CheckField): z.ZodType {
  const schema = typeSchemaOf(field)
  return field.note === undefined ? schema : schema.describe(field.note)
}

function typeSchemaOf(field: CheckField): z.ZodType {
  switch (field.type) {
    case 'text':
      return field.maxLength === null ? z.string() : z.string().max(field.maxLength)
    case 'flag':
      return z.boolean()
    case 'seconds':
      return z.int().min(field.min).max(field.max)
    case 'choice':
      return z.enum(field.choices)
  }
}

function schemasOf(fields: FieldGroup): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.values(fields).flatMap((field) => (field.api === null ? [] : [[field.api, schemaOf(field)]])),
  )
}

const grace = schemaOf(SCHEDULE_FIELDS.graceSeconds)
const timeout = schemaOf(SCHEDULE_FIELDS.timeoutSeconds).optional()
const expression = schemaOf(SCHEDULE_FIELDS.schedule).optional()
const tz = schemaOf(SCHEDULE_FIELDS.tz).optional()
const keywords = schemaOf(KEYWORD_FIELDS.successKw)

const settings = {
  ...schemasOf(IDENTITY_FIELDS),
  grace,
  ...schemasOf(ACCEPTANCE_FIELDS),
  subject: keywords.meta({ description: 'Use `success_kw`.', deprecated: true }),
  subject_fail: keywords.meta({ description: 'Use `failure_kw`.', deprecated: true }),
  ...schemasOf(KEYWORD_FIELDS),
}

const state = {
  n_pings: z.int(),
  status: z.enum(['new', 'up', 'grace', 'down', 'paused', 'started']).describe('`started` in version 1 only.'),
  started: z.boolean(),
  last_ping: instant.nullable(),
  next_ping: instant.nullable(),
  badge_url: z.url(),
  last_duration: z.int().optional().describe('Seconds of the last measured run.'),
}

const schedule = {
  timeout: timeout.describe('Simple checks only.'),
  schedule: expression.describe('Cron and OnCalendar checks only.'),
  tz: tz.describe('IANA name; cron and OnCalendar checks only.'),
}

export const checkSchema = z
  .object({
    ...settings,
    ...state,
    uuid: z.uuid(),
    ping_url: z.url(),
    update_url: z.url(),
    pause_url: z.url(),
    resume_url: z.url(),
    channels: z.string().describe('Ids of the assigned integrations, separated by commas.'),
    ...schedule,
    rules: rulesSchema
      .optional()
      .describe('Version 3 only, for a read-write key: with `?rules=1`, or if the request names rules.'),
  })
  .meta({ id: 'Check' })

export const readOnlyCheckSchema = z.object({ ...settings, ...state, unique_key: z.string(), ...schedule }).meta({
  id: 'ReadOnlyCheck',
  description: 'The form for read-only keys: it contains nothing that can ping or change the check.',
})

export const checkRequestSchema = z
  .object({
    ...Object.fromEntries(Object.entries(settings).map(([name, schema]) => [name, schema.optional()])),
    timeout,
    schedule: expression.describe('Cron or systemd OnCalendar expression; wins over timeout.'),
    tz: tz.describe('IANA time zone name.'),
    channels: z
      .string()
      .max(MAX_INTEGRATIONS_LENGTH)
      .optional()
      .describe('`*` for all integrations, or at most 1,000 ids and names separated by commas.'),
    unique: z
      .array(z.enum(UNIQUE_FIELDS))
      .optional()
      .describe('Create only: update the check that equals the request in these fields, if there is one.'),
    rules: rulesSchema
      .partial()
      .optional()
      .describe('Version 3 only. Omitted members do not change; null resets to the default.'),
    api_key: z.string().optional().describe('Instead of the header.'),
  })
  .meta({ id: 'CheckRequest', description: 'Every member is optional; unknown members are ignored.' })

export const pingSchema = z
  .object({
    type: z.enum(['success', 'start', 'fail', 'log', 'ign']),
    date: z.iso.datetime({ offset: true }).describe('Arrival; six digits of a second.'),
    n: z.int(),
    scheme: z.string(),
    remote_addr: z.string().nullable(),
    method: z.string(),
    ua: z.string(),
    rid: z.uuid().nullable(),
    body_url: z.url().nullable(),
    duration: z.number().optional().describe('Seconds, two decimals; left out when unknown.'),
  })
  .meta({ id: 'Ping' })

export const flipSchema = z
  .object({ timestamp: instant, up: z.union([z.literal(0), z.literal(1)]) })
  .meta({ id: 'Flip' })

export const integrationSchema = z
  .object({ id: z.uuid(), name: z.string(), kind: z.string() })
  .meta({ id: 'Integration' })

const badgeUrlsSchema = z
  .object({ svg: z.url(), svg3: z.url(), json: z.url(), json3: z.url(), shields: z.url(), shields3: z.url() })
  .meta({ id: 'BadgeUrls' })

export const badgesSchema = z.object({ badges: z.record(z.string(), badgeUrlsSchema) })

const json = (schema: z.ZodType) => ({ 'application/json': schema })

export const answers = {
  check: { description: 'The check.', content: json(checkSchema) },
  created: { description: 'The check, created by this request.', content: json(checkSchema) },
  invalid: { description: 'The first error of the request.', content: json(errorSchema) },
  unauthorized: { description: '`missing api key` or `wrong api key`.', content: json(errorSchema) },
  forbidden: { description: 'The check belongs to another project. No body.' },
  notFound: { description: 'Not found. No body.' },
  tooMany: {
    description: 'More requests than the limit allows.',
    content: json(errorSchema),
    headers: { 'Retry-After': 'Seconds to wait.' },
  },
  unavailable: {
    description: 'The service cannot answer now.',
    content: json(errorSchema),
    headers: { 'Retry-After': 'Seconds to wait.' },
  },
  tooLarge: { description: 'The body is longer than 2,621,440 bytes.', content: json(errorSchema) },
} as const

export const errorDocuments = {
  400: answers.invalid,
  401: answers.unauthorized,
  403: answers.forbidden,
  404: answers.notFound,
  413: answers.tooLarge,
  429: answers.tooMany,
  503: answers.unavailable,
} as const
