import { hash } from 'node:crypto'
import { z } from 'zod'
import { financingRequested } from '#shared/contracts/worker-messages.ts'
import { NotFoundError } from '#shared/errors.ts'
import { readOutcome, runJob, runSharedJob } from '#shared/jobs/operations/jobs.ts'
import { anchored, sha256Hex } from '#shared/risk/evidence/values.ts'
import { listLiveEpochs } from '#shared/risk/first-financing/epoch-store.ts'
import {
  AbsenceBody,
  type AbsenceRequest,
  BlindAbsenceBody,
  EvaluationBody,
  receivableOf,
} from '#shared/risk/first-financing/requests.ts'
import { findLatestSnapshot, findSnapshot } from '#shared/risk/first-financing/snapshot-store.ts'
import { countEvaluation, countInput } from '#shared/risk/operations/financing-requests.ts'
import { Answer, jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, readByJob, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

const KEY = '/v1/first-financing/oprf/key'
const EVALUATIONS = '/v1/first-financing/oprf/evaluations'
const ABSENCE = '/v1/first-financing/absence-proofs'
const SNAPSHOTS = '/v1/first-financing/snapshots'
const common = { tags: ['First financing'], access: withScope('first-financing:check') } as const

const hex32 = z.string().regex(/^[0-9a-f]{64}$/)

const KeySchema = z
  .object({
    suite: z.literal('ristretto255-SHA512'),
    mode: z.literal('VOPRF'),
    epochs: z.array(
      z.object({
        epoch: z.int(),
        state: z.enum(['CURRENT', 'PREVIOUS']),
        publicKey: hex32,
        record: anchored({ epochRecordId: z.uuid(), epoch: z.int(), suite: z.string(), publicKey: hex32 }),
      }),
    ),
  })
  .meta({ id: 'FinancingOprfKey' })

const keyRoute = read({
  ...common,
  path: KEY,
  operationId: 'getOprfKey',
  summary: 'Get the public keys for blind fingerprints, by epoch',
  description:
    'Each key is anchored at the start of its epoch. Before you trust a proof, compare `publicKey` with the key in the anchored `record`. While two epochs are live, requests must contain fingerprints of both.',
  params: {},
  responses: pollingResponses(KeySchema),
  async handle({ caller, deps, request }) {
    const shown = async () => {
      const epochs = await listLiveEpochs(deps.db, caller.env)
      const parsed = epochs.map(({ record, ...epoch }) => ({ ...epoch, record: JSON.parse(record) }))
      return epochs.length === 0 ? undefined : { suite: 'ristretto255-SHA512', mode: 'VOPRF', epochs: parsed }
    }
    const known = await shown()
    if (known) return known
    // A worker creates the keys at the first use of this environment's registry.
    const made = await readByJob({ caller, deps, request }, (context) =>
      runSharedJob(context, {
        kind: 'financing.key',
        message: financingRequested,
        request: {},
        jobKey: hash('sha256', 'financing-oprf', 'buffer'),
        self: KEY,
      }),
    )
    return made.status === 200 ? new Answer(200, JSON.stringify(await shown()), made.headers) : made
  },
})

const EvaluationSchema = z
  .object({
    evaluationId: z.uuid(),
    epoch: z.int(),
    evaluated: z.array(hex32),
    proof: z.string().regex(/^[0-9a-f]{128}$/),
  })
  .meta({ id: 'FinancingEvaluation' })

const evaluateRoute = write({
  ...common,
  path: '/v1/first-financing/oprf/evaluate',
  operationId: 'evaluateBlinded',
  summary: 'Evaluate blinded inputs without learning them',
  description:
    'RFC 9497, VOPRF, ristretto255-SHA512: up to 64 blinded elements, one proof for all of them. The first 32 bytes of a finalised output are a fingerprint. Each element counts towards the daily limit.',
  params: {},
  body: EvaluationBody,
  responses: waitingResponses({ 200: EvaluationSchema }),
  async perform(context) {
    const { caller, deps, body } = context
    return await runJob(context, {
      kind: 'financing.evaluation',
      message: financingRequested,
      folder: EVALUATIONS,
      request: body,
      before: (tx) => countEvaluation(tx, caller, { elements: body.blinded.length, isCheck: false }, deps),
    })
  },
})

const readEvaluation = read({
  ...common,
  path: `${EVALUATIONS}/{evaluationId}`,
  operationId: 'getEvaluation',
  summary: 'Get an evaluation',
  params: { evaluationId: idParam('evaluationId of the evaluation') },
  responses: pollingResponses(EvaluationSchema),
  handle: ({ caller, params: { evaluationId: id }, deps }) =>
    readOutcome(deps, caller, { kind: 'financing.evaluation', folder: EVALUATIONS, id, what: 'evaluation' }),
})

const NeighbourSchema = z.object({ index: z.int(), key: sha256Hex, path: z.array(sha256Hex) }).nullable()
const SnapshotSchema = anchored({ snapshotId: z.uuid(), epoch: z.int(), size: z.int(), root: sha256Hex }).meta({
  id: 'FinancingSnapshot',
})

const AbsenceSchema = z
  .object({
    absenceProofId: z.uuid(),
    epoch: z.int(),
    fingerprint: sha256Hex,
    left: NeighbourSchema,
    right: NeighbourSchema,
    snapshot: SnapshotSchema,
  })
  .meta({ id: 'AbsenceProof' })

const absenceRoute = write({
  ...common,
  path: ABSENCE,
  operationId: 'proveAbsence',
  summary: 'Prove that a receivable was not registered when a snapshot was taken',
  description:
    'The proof contains the neighbours of the fingerprint in the sorted tree of the snapshot. It can be verified offline, and the neighbours reveal nothing about other receivables. A registered receivable is 409 PRESENT and is not metered. Default of `snapshotId`: the newest snapshot, at most about an hour old.',
  params: {},
  body: z.union([AbsenceBody, BlindAbsenceBody]),
  responses: waitingResponses({ 200: AbsenceSchema }),
  async perform(context) {
    const { caller, deps, body } = context
    const request: AbsenceRequest = { receivable: receivableOf(body), snapshotId: body.snapshotId ?? null }
    return await runJob(context, {
      kind: 'financing.absence',
      message: financingRequested,
      folder: ABSENCE,
      request,
      before: (tx) => countInput(tx, caller, request.receivable, { isCheck: true }, deps),
    })
  },
})

const readAbsence = read({
  ...common,
  path: `${ABSENCE}/{absenceProofId}`,
  operationId: 'getAbsenceProof',
  summary: 'Get a proof of absence',
  params: { absenceProofId: idParam('absenceProofId of the proof') },
  responses: pollingResponses(AbsenceSchema),
  handle: ({ caller, params: { absenceProofId: id }, deps }) =>
    readOutcome(deps, caller, { kind: 'financing.absence', folder: ABSENCE, id, what: 'proof' }),
})

const latestSnapshot = read({
  ...common,
  path: `${SNAPSHOTS}/latest`,
  operationId: 'getLatestSnapshot',
  summary: 'Get the newest snapshot of the registry',
  params: {},
  returns: SnapshotSchema,
  async handle({ caller, deps: { db } }) {
    const snapshot = await findLatestSnapshot(db, caller.env)
    if (!snapshot) throw new NotFoundError('there is no snapshot yet')
    return jsonAnswer(200, JSON.parse(snapshot.record))
  },
})

const readSnapshot = read({
  ...common,
  path: `${SNAPSHOTS}/{snapshotId}`,
  operationId: 'getSnapshot',
  summary: 'Get a snapshot of the registry',
  params: { snapshotId: idParam('snapshotId of the snapshot') },
  returns: SnapshotSchema,
  async handle({ caller, params: { snapshotId }, deps: { db } }) {
    const snapshot = isUuid(snapshotId) ? await findSnapshot(db, caller.env, snapshotId) : undefined
    if (!snapshot) throw new NotFoundError('snapshot not found')
    return jsonAnswer(200, JSON.parse(snapshot.record))
  },
})

/** Operations that reveal neither the receivable nor the registry. */
export const blindRoutes: readonly Route[] = [
  keyRoute,
  evaluateRoute,
  readEvaluation,
  absenceRoute,
  readAbsence,
  latestSnapshot,
  readSnapshot,
]
