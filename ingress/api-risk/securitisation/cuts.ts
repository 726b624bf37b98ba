import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { anchored } from '#shared/risk/evidence/values.ts'
import { CUTS, requirePool, runCut } from '#shared/risk/operations/pool-requests.ts'
import { memberPath } from '#shared/risk/pools/cut-tree.ts'
import { CutBody } from '#shared/risk/pools/requests.ts'
import { findCut, findMember, listCuts, memberHashes } from '#shared/risk/pools/store.ts'
import { ReceivableSchema } from '#shared/risk/receivables/evidence-object.ts'
import { jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { HASH_BYTES, toHex } from '#shared/transparency/anchoring/text.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Route } from '../../route.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { consumerKeyAccess } from './consumer-key.ts'
import { poolParam } from './pools.ts'

const tags = ['Securitisation evidence'] as const

const MAX_LIST_LENGTH = 200

const CutSchema = anchored({
  cutRecordId: z.uuid(),
  poolId: z.uuid(),
  cutOffDate: z.string(),
  size: z.int(),
  root: z.string(),
  sumPaise: z.string(),
}).meta({ id: 'PoolCut' })

const makeCut = write({
  tags,
  access: consumerKeyAccess,
  path: '/v1/securitisation/pools/{poolId}/cuts',
  operationId: 'cutPool',
  summary: 'Freeze the members and evidence of a pool',
  params: poolParam,
  body: CutBody,
  responses: waitingResponses({ 201: CutSchema }),
  perform: (context) => runCut(context, context.params.poolId, context.body),
})

const readCuts = read({
  tags,
  access: consumerKeyAccess,
  path: '/v1/securitisation/pools/{poolId}/cuts',
  operationId: 'listPoolCuts',
  summary: 'List the newest 200 cuts of a pool',
  params: poolParam,
  returns: z.object({ cuts: z.array(CutSchema) }),
  async handle({ caller, params: { poolId }, deps }) {
    const pool = await requirePool(deps.db, caller, poolId)
    return { cuts: (await listCuts(deps.db, pool.id, MAX_LIST_LENGTH)).map((body) => JSON.parse(body)) }
  },
})

const cutParam = { cutId: idParam('cutRecordId of the cut') }

const readCut = read({
  tags,
  access: consumerKeyAccess,
  path: `${CUTS}/{cutId}`,
  operationId: 'getPoolCut',
  summary: 'Get an anchored cut',
  params: cutParam,
  responses: pollingResponses(CutSchema),
  handle: ({ caller, params: { cutId: id }, deps }) =>
    readOutcome(deps, caller, { kind: 'pool.cut', folder: CUTS, id, what: 'cut' }),
})

const readProof = read({
  tags,
  access: consumerKeyAccess,
  path: `${CUTS}/{cutId}/proof`,
  operationId: 'proveMembership',
  summary: 'Get a receivable with its path to the root of a cut',
  description: 'With the proof of the anchor of the cut, it can be verified offline without the rest of the pool.',
  params: cutParam,
  query: z.object({ receivableId: z.string().meta({ description: 'receivableId of the evidence object' }) }),
  returns: z
    .object({
      receivable: ReceivableSchema,
      index: z.int(),
      path: z.array(z.string()),
      cut: CutSchema,
    })
    .meta({ id: 'PoolMembership' }),
  async handle({ caller, params: { cutId }, query: { receivableId }, deps }) {
    const { db } = deps
    const cut = isUuid(cutId) ? await findCut(db, caller, cutId) : undefined
    if (!cut) throw new NotFoundError('cut not found')
    const member = isUuid(receivableId) ? await findMember(db, cut.poolId, receivableId) : undefined
    if (!member || member.place >= cut.size) throw new NotFoundError('the cut has no such receivable')
    const { place: index, body } = member
    const chunks = Array.from({ length: cut.chunks.length / HASH_BYTES }, (_, at) =>
      cut.chunks.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
    )
    const hashes = await memberPath(index, cut.size, chunks, (from, to) => memberHashes(db, cut.poolId, from, to))
    return jsonAnswer(200, {
      receivable: JSON.parse(body),
      index,
      path: hashes.map(toHex),
      cut: JSON.parse(cut.body),
    })
  },
})

export const cutRoutes: readonly Route[] = [makeCut, readCuts, readCut, readProof]

export const cutQuery = z
  .string()
  .max(100)
  .optional()
  .meta({ description: 'cutRecordId of a cut of the pool; else its newest' })
