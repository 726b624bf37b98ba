import { z } from 'zod'

const instant = z.iso.datetime({ offset: true }).describe('UTC, whole seconds, offset +00:00.')
const span = (min: number, max: number) => z.int().min(min).max(max).nullish().describe('Seconds.')
const YEAR = 31_536_000
const DAY = 86_400

const flag = z.enum(['TOO_SHORT', 'TOO_OFTEN', 'OUTSIDE_SCHEDULE', 'OVERLAP', 'SLOW', 'OVERRUN', 'UNKNOWN'])

/** `rules.run` of a check. */
export const runRuleSchema = z
  .object({
    watch: z
      .enum(['last', 'each'])
      .nullish()
      .describe('`last` (default): only the newest run counts; `each`: every run has its deadline.'),
    max: span(60, YEAR).describe('How long a run may take, seconds; the grace time by default.'),
    start_grace: span(60, YEAR).describe('How long after an occurrence a run may begin, seconds; with `each`.'),
    alive: span(60, DAY).describe('A log or start with the run id must come this often, seconds; with `each`.'),
    min: span(1, YEAR),
    spacing: span(1, YEAR),
    early: span(0, DAY).describe('How long before an occurrence a run may begin in its place, seconds.'),
    overlap: z.enum(['allow', 'flag']).nullish(),
    slow: z.int().min(2).max(20).nullish().describe('Factor of the 95th percentile of run times.'),
    open: z.int().min(1).max(100).nullish().describe('Maximum number of open runs; 20 by default.'),
    fail_on: z.array(flag).nullish().describe('Flags that make a ping count as a failure.'),
  })
  .meta({ id: 'RunRule' })

/** `rules.sources` of a check. */
export const sourceRuleSchema = z
  .object({
    by: z
      .enum(['query', 'header', 'address'])
      .describe('Where a ping names its source: `?source=`, the header `X-Ping-Source`, or its client address.'),
    expect: z.union([z.array(z.string()).min(1).max(100), z.int().min(1).max(100)]).describe('Names, or how many.'),
    need: z
      .union([z.int().min(1).max(100), z.literal('all')])
      .optional()
      .describe('The number that must report; `all` by default.'),
  })
  .meta({ id: 'SourceRule' })

export const runSchema = z
  .object({
    rid: z.uuid().nullable(),
    source: z.string(),
    started: instant.nullable(),
    finished: instant.nullable(),
    duration: z.number().nullable().describe('Seconds.'),
    outcome: z.enum(['open', 'success', 'fail', 'overrun', 'unknown', 'abandoned']),
    deadline: instant.nullable(),
    flags: z.array(flag),
  })
  .meta({ id: 'Run' })

export const runStatsSchema = z
  .object({
    count: z.int().describe('Measured successes that the lengths are of, at most 200.'),
    p50: z.number().nullable().describe('Seconds.'),
    p95: z.number().nullable().describe('Seconds.'),
    p99: z.number().nullable().describe('Seconds.'),
    missed: z.int().describe('Occurrences without a finish.'),
    streak: z.int().describe('Successes since the last failure.'),
    open: z.int(),
  })
  .meta({ id: 'RunStats' })

/** `rules.ping_auth` of a check. */
export const pingAuthSchema = z
  .object({
    mode: z.enum(['bearer', 'hmac']),
    overlap: z
      .int()
      .min(0)
      .max(604_800)
      .optional()
      .describe('In a request: seconds for which the old secret remains valid.'),
    secret: z
      .string()
      .optional()
      .describe('In the answer to a request that names `ping_auth`: the new secret, shown only once.'),
  })
  .meta({ id: 'PingAuth' })

export const sourceSchema = z
  .object({
    name: z.string(),
    last_ping: instant.nullable(),
    kind: z.enum(['success', 'fail', '']),
    fresh: z.boolean(),
    stale: instant.nullable().describe('When it is stale; null for one that has failed.'),
  })
  .meta({ id: 'Source' })
