import { z } from 'zod'
import { DAYS, UNITS } from '#shared/monitoring/on-call/schedule.ts'
import { UUID_PATTERN } from '#shared/uuid.ts'

export const json = (schema: z.ZodType) => ({ 'application/json': schema })
export const instant = z.iso.datetime({ offset: true }).describe('UTC, whole seconds, offset +00:00.')
const wallTime = z.string().describe('Local time in the zone of the schedule, for example 2026-01-05T09:00.')
const address = z.email().max(254)
const day = z.enum(DAYS)

const hours = z.object({
  days: z.array(day).min(1).max(8).describe('A date in `holidays` has only the day `hol`.'),
  from: z.string().describe('HH:MM'),
  to: z.string().describe('HH:MM; on the next day unless it is later than `from`.'),
})

const layer = z.object({
  name: z.string().max(100).nullish(),
  people: z.array(address).max(50).describe('In the order of the rotation; repeats are allowed.'),
  start: wallTime,
  end: wallTime.nullish(),
  rotation: z.object({
    unit: z.enum(UNITS),
    every: z.int().min(1).max(365).nullish().describe('Units per shift; 1 by default.'),
    on: z.array(day).min(1).max(8).nullish().describe('Only with the unit `day`: the days that count.'),
  }),
  hours: z.array(hours).max(21).nullish().describe('When the layer applies; always by default.'),
})

const fields = {
  name: z.string().min(1).max(100),
  tz: z.string().describe('IANA name.'),
  shared: z.boolean().describe('Other projects of the organisation may read it and use it in steps.'),
  show_names: z.boolean().describe('Read-only keys see names; otherwise only if a person is on call.'),
  holidays: z.array(z.iso.date()).max(100),
  layers: z.array(layer).max(10).describe('The first layer that yields a person applies.'),
  coverage: z
    .union([z.enum(['always', 'none']), z.array(hours).max(21)])
    .describe('When a missing person is a coverage gap.'),
  fallback: address.nullable().describe('On call when no other person is.'),
  notices: z.object({
    channels: z.string().nullish().describe('Integrations that get a message about each change.'),
    gaps: z.boolean().nullish().describe('Mail owners and managers about coverage gaps.'),
  }),
}

const warning = z.object({
  code: z.enum(['COVERAGE_GAP', 'UNREACHABLE', 'NOT_MEMBER', 'EMPTY_LAYER', 'HIDDEN_LAYER', 'SLOW_RULES', 'UNUSED']),
  from: instant.optional(),
  until: instant.optional(),
  person: z.string().optional(),
  layer: z.int().optional().describe('Counts from 1.'),
  step: z.int().optional().describe('The step of `policy` that names the schedule; counts from 1.'),
  policy: z.string().optional().describe('Name of a policy of the organisation.'),
})
export const warningsSchema = z.array(warning).max(50)

export const scheduleSchema = z
  .object({
    id: z.uuid(),
    project: z.uuid().describe('Only this project changes the schedule.'),
    ...fields,
    version: z.int(),
    warnings: warningsSchema,
  })
  .meta({ id: 'OnCallSchedule' })

export const scheduleDocumentSchema = z.object({
  id: z.uuid(),
  ...fields,
  overrides: z.array(
    z.object({
      id: z.uuid(),
      person: address.nullable(),
      replaces: address.nullable(),
      start: instant,
      end: instant,
      note: z.string(),
    }),
  ),
})

export const scheduleRequestSchema = z
  .object({
    ...fields,
    tz: fields.tz.nullish(),
    shared: fields.shared.nullish(),
    show_names: fields.show_names.nullish(),
    holidays: fields.holidays.nullish(),
    coverage: fields.coverage.nullish(),
    fallback: fields.fallback.optional(),
    notices: fields.notices.nullish(),
  })
  .meta({ id: 'OnCallScheduleRequest' })

export const personSchema = z.object({ name: z.string(), address: z.string() }).meta({ id: 'OnCallPerson' })

export const shiftSchema = z
  .object({ person: personSchema, from: instant, until: instant, source: z.string() })
  .meta({ id: 'Shift' })

const span = z.object({ from: instant, until: instant })
export const previewSchema = z
  .object({
    shifts: z.array(shiftSchema),
    warnings: z.array(warning),
    changes: z.array(z.object({ person: personSchema, added: z.array(span), removed: z.array(span) })),
  })
  .meta({ id: 'OnCallPreview' })

export const overrideSchema = z
  .object({
    id: z.uuid(),
    schedule: z.uuid(),
    number: z.int().describe('Position in the order of creation, as in `source`.'),
    person: address.nullable().describe('Null: no person is on call.'),
    replaces: address.nullable().describe('Applies only to the time of this person.'),
    start: instant,
    end: instant,
    note: z.string(),
    by: z.string(),
  })
  .meta({ id: 'OnCallOverride' })

export const overrideRequestSchema = z
  .object({
    person: address.nullable(),
    replaces: address.nullish(),
    start: instant.nullish().describe('Default, and for a time in the past: now.'),
    end: instant,
    note: z.string().max(500).nullish(),
  })
  .meta({ id: 'OnCallOverrideRequest' })

export const takeRequestSchema = z
  .object({ person: address, until: instant.nullish().describe('Default: the end of the current shift.') })
  .meta({ id: 'OnCallTakeRequest' })

const uuidParam = { pattern: UUID_PATTERN, description: 'Dashed and in lower case.' }
export const scheduleParam = { ...uuidParam, example: '0b9f4a2e-6f0e-4f0f-8c62-0f8c1a3f6d11' }
export const overrideParam = { ...uuidParam, example: '3c1d2b7a-57c1-4f0a-9a54-2d0a6a1f9e02' }
export const swapParam = { ...uuidParam, example: '9d5e1f3c-2b7a-4c57-8f0a-7a2d0a6a1f9e' }
export const feedParam = { ...uuidParam, example: '57c14f0a-3c1d-4b7a-9a54-6a1f9e022d0a' }
