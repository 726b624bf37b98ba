import { z } from 'zod'
import { poolChanged } from '#shared/contracts/worker-messages.ts'
import { ConflictError, NotFoundError } from '#shared/errors.ts'
import { readOutcome, runJob, runSharedJob } from '#shared/jobs/operations/jobs.ts'
import { type CutPart, chosenCut, jobKeyOf, requirePool, runCutJob } from '#shared/risk/operations/pool-requests.ts'
import { findRun, readResults } from '#shared/risk/pools/cut-files-store.ts'
import { combineResults, EligibilityRules, RULE_RESULTS } from '#shared/risk/pools/eligibility.ts'
import { EligibilityBody } from '#shared/risk/pools/requests.ts'
import { listMembers, newestCut } from '#shared/risk/pools/store.ts'
import { Answer } from '#shared/tenancy/idempotency/answer.ts'
import { isUuid } from '#shared/uuid.ts'
import { paged } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { pollingResponses, readByJob, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { consumerKeyAccess } from './consumer-key.ts'
import { cutQuery } from './cuts.ts'
import { PositionQuery, poolParam } from './pools.ts'

const tags = ['Securitisation evidence'] as const
const RUNS = '/v1/securitisation/eligibility'
const PAGE = 500

const RootSchema = z
  .object({ poolId: z.uuid(), size: z.int(), root: z.string(), cutId: z.uuid().nullable() })
  .meta({ id: 'PoolEvidenceRoot' })

const rootRoute = read({
  tags,
  access: consumerKeyAccess,
  path: '/v1/securitisation/pools/{poolId}/evidence-root',
  operationId: 'getPoolEvidenceRoot',
  summary: 'Get the current root over the evidence objects of a pool',
  description:
    'Merkle root of RFC 6962. The data of each leaf is the 32 bytes of payloadSha256; leaves are in pool order. The answer is 202 while objects are being created. `cutId` is the newest cut of this size, which anchors the root.',
  params: poolParam,
  responses: pollingResponses(RootSchema),
  async handle({ caller, params: { poolId }, deps, request }) {
    const { id, size } = await requirePool(deps.db, caller, poolId)
    if (size === 0) {
      const message = 'the pool has no receivables'
      throw new ConflictError(message, [{ path: 'poolId', code: 'EMPTY', message }])
    }
    const answer = await readByJob({ caller, deps, request }, (job) =>
      runSharedJob(job, {
        kind: 'pool.root',
        message: poolChanged,
        self: `/v1/securitisation/pools/${id}/evidence-root`,
        request: { poolId: id, size },
        jobKey: jobKeyOf('root', id, size),
      }),
    )
    if (answer.status !== 200) return answer
    const cut = await newestCut(deps.db, id, size)
    return new Answer(200, JSON.stringify({ ...JSON.parse(answer.body), cutId: cut?.id ?? null }), answer.headers)
  },
})

const StratumSchema = z.object({ band: z.string(), count: z.int(), sumPaise: z.string() }).meta({
  id: 'PoolStratum',
  description: 'Upper bounds of bands are inclusive. Unknown values are in the band MISSING.',
})

const StrataSchema = z
  .object({
    cutId: z.uuid(),
    size: z.int(),
    sumPaise: z.string(),
    weightedDays: z.int().nullable(),
    amount: z.array(StratumSchema),
    daysToDue: z.array(StratumSchema),
    acceptance: z.array(StratumSchema),
    tier: z.array(StratumSchema),
    topBuyers: z.array(z.object({ buyerVei: z.string(), sumPaise: z.string(), bps: z.int() })),
  })
  .meta({ id: 'PoolStratification' })

const ReplinesSchema = z
  .object({
    cutId: z.uuid(),
    replines: z.array(
      z.object({
        daysBand: z.string(),
        acceptance: z.string(),
        count: z.int(),
        sumPaise: z.string(),
        weightedDays: z.int().nullable(),
      }),
    ),
  })
  .meta({ id: 'PoolReplines' })

/** Creates a route for a result that a worker computes once per cut, because a cut never changes. */
function computedRoute(
  part: CutPart,
  described: { operationId: string; summary: string; description: string; schema: z.ZodType },
): Route {
  const { schema, ...texts } = described
  return read({
    tags,
    access: consumerKeyAccess,
    path: `/v1/securitisation/pools/{poolId}/${part}`,
    ...texts,
    params: poolParam,
    query: z.strictObject({ cut: cutQuery }),
    responses: pollingResponses(schema),
    async handle({ caller, params: { poolId }, query, deps, request }) {
      const cut = await chosenCut(deps.db, caller, poolId, query.cut)
      return await readByJob({ caller, deps, request }, (job) => runCutJob(job, part, cut))
    },
  })
}

const strataRoute = computedRoute('stratification', {
  operationId: 'getPoolStratification',
  summary: 'Get counts and sums of a cut by amount, days to due, acceptance and tier',
  description: 'Sums are whole paise; ratios and weighted days are rounded half to even from exact integers.',
  schema: StrataSchema,
})

const replinesRoute = computedRoute('replines', {
  operationId: 'getPoolReplines',
  summary: 'Get the replines of a cut, by days to due and acceptance',
  description: 'Groups with one receivable are merged into the line OTHER.',
  schema: ReplinesSchema,
})

const CountsSchema = z.object({ MET: z.int(), NOT_MET: z.int(), MISSING: z.int() })

const RunSchema = z
  .object({
    runId: z.uuid(),
    poolId: z.uuid(),
    cutId: z.uuid(),
    size: z.int(),
    rules: EligibilityRules,
    counts: CountsSchema,
    byRule: z.array(z.object({ id: z.string(), counts: CountsSchema })),
    timestamp: z.string(),
  })
  .meta({ id: 'EligibilityRun' })

const evaluateRoute = write({
  tags,
  access: consumerKeyAccess,
  path: '/v1/securitisation/pools/{poolId}/eligibility',
  operationId: 'evaluatePool',
  summary: 'Evaluate eligibility rules of the consumer against a cut',
  description:
    'Each rule is MET, NOT_MET or MISSING for each receivable. A missing value never counts as not met. The service adds no rules.',
  params: poolParam,
  body: EligibilityBody,
  responses: waitingResponses({ 201: RunSchema }),
  async perform(context) {
    const { caller, deps, params, body } = context
    const cut = await chosenCut(deps.db, caller, params.poolId, body.cut)
    return await runJob(context, {
      kind: 'pool.eligibility',
      message: poolChanged,
      folder: RUNS,
      request: { cutId: cut.id, rules: body.rules },
    })
  },
})

const runParam = { runId: idParam('runId of the evaluation') }

const readRun = read({
  tags,
  access: consumerKeyAccess,
  path: `${RUNS}/{runId}`,
  operationId: 'getEligibilityRun',
  summary: 'Get the result of an evaluation',
  params: runParam,
  responses: pollingResponses(RunSchema),
  handle: ({ caller, params: { runId: id }, deps }) =>
    readOutcome(deps, caller, { kind: 'pool.eligibility', folder: RUNS, id, what: 'evaluation' }),
})

const ResultSchema = z
  .object({
    receivableId: z.uuid(),
    reference: z.string(),
    result: z.enum(RULE_RESULTS),
    rules: z.array(z.object({ id: z.string(), result: z.enum(RULE_RESULTS) })),
  })
  .meta({ id: 'EligibilityResult' })

const readResultsRoute = read({
  tags,
  access: consumerKeyAccess,
  path: `${RUNS}/{runId}/receivables`,
  operationId: 'listEligibilityResults',
  summary: 'List the results of an evaluation, in pool order',
  description: '`result` is NOT_MET if any rule is NOT_MET, otherwise MISSING if any is MISSING, otherwise MET.',
  params: runParam,
  query: PositionQuery,
  returns: z.object({ receivables: z.array(ResultSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, params: { runId }, query: { cursor = '0' }, deps: { db } }) {
    const run = isUuid(runId) ? await findRun(db, caller, runId) : undefined
    if (!run) throw new NotFoundError('evaluation not found')
    const from = Math.min(Number(cursor), run.size)
    const members = await listMembers(db, run.poolId, from, Math.min(PAGE + 1, run.size - from))
    const results = await readResults(db, run, from, members.length)
    const { page, nextCursor } = paged(members, PAGE, ({ place }) => String(place + 1))
    const receivables = page.map(({ receivableId, reference }, index) => {
      const codes = results.subarray(index * run.rules.length, (index + 1) * run.rules.length)
      const rules = run.rules.map((id, ruleIndex) => ({ id, result: RULE_RESULTS[codes[ruleIndex] ?? 0] }))
      return { receivableId, reference, result: combineResults(codes), rules }
    })
    return { receivables, nextCursor }
  },
})

export const cutEvidenceRoutes: readonly Route[] = [
  rootRoute,
  strataRoute,
  replinesRoute,
  evaluateRoute,
  readRun,
  readResultsRoute,
]
