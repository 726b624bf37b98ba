import { z } from 'zod'
import { listUsage } from '#shared/risk/metering/store.ts'
import { DayQuery, DEFAULT_PAGE, decodeCursor, encodeCursor, PageQuery, paged } from '../paging.ts'
import { withScope } from './access.ts'
import { read } from './risk-route.ts'

const UsageSchema = z
  .object({
    usage: z.array(
      z.object({ family: z.string(), date: z.iso.date(), env: z.enum(['SANDBOX', 'PRODUCTION']), units: z.int() }),
    ),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'Usage' })

const UsageQuery = PageQuery.extend({
  family: z.string().max(50).optional(),
  from: DayQuery.optional(),
  to: DayQuery.optional(),
})

const Cursor = z.tuple([DayQuery, z.string().max(50), z.string().max(20)])

export const usageRoute = read({
  path: '/v1/usage',
  operationId: 'getUsage',
  summary: 'List metered units per family, day and environment',
  description:
    'One unit per successful call that produced evidence; repeated requests, errors and polling are free. `from` and `to` are UTC days, both included; an instant selects its day.',
  tags: ['Usage'],
  access: withScope('usage:read'),
  params: {},
  query: UsageQuery,
  returns: UsageSchema,
  async handle({ caller, query, deps: { db } }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const after = decodeCursor(query.cursor, Cursor)
    const rows = await listUsage(db, {
      organisationId: caller.organisationId,
      env: caller.env,
      family: query.family ?? null,
      from: query.from ?? null,
      to: query.to ?? null,
      after: after && { date: after[0], family: after[1], env: after[2] },
      limit: limit + 1,
    })
    const { page, nextCursor } = paged(rows, limit, ({ date, family, env }) => encodeCursor([date, family, env]))
    return { usage: page, nextCursor }
  },
})
