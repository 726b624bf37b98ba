import type { Knex } from 'knex'
import { z } from 'zod'
import { financingRequested } from '#shared/contracts/worker-messages.ts'
import { type JobContext, readOutcome, runJob } from '#shared/jobs/operations/jobs.ts'
import { anchored } from '#shared/risk/evidence/values.ts'
import { BlindCheckBody, CheckBody, type CheckRequest } from '#shared/risk/first-financing/requests.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { countInput } from './limits.ts'

export const CHECKS = '/v1/first-financing/checks'
const FOLDER = CHECKS

export const CheckSchema = z
  .object({
    checkId: z.uuid(),
    status: z.enum(['DUPLICATE_FINANCED', 'DUPLICATE_REGISTERED', 'POSSIBLE_MATCH', 'UNRESOLVED', 'CLEAN']),
    mode: z.enum(['FIELDS', 'BLIND']),
    asOf: z.string(),
    matches: z.array(
      z.object({
        class: z.enum(['EXACT', 'NEAR', 'ECONOMIC']),
        state: z.enum(['REGISTERED', 'FINANCED']),
        requireRegistration: z.boolean(),
        firstSeenMonth: z.string(),
        contested: z.boolean(),
      }),
    ),
    record: anchored({
      statementId: z.uuid(),
      result: z.string(),
      rf1Commitment: z.string(),
      snapshotId: z.uuid().nullable(),
    }).nullable(),
    opening: z
      .object({ rf1: z.string(), salt: z.string() })
      .optional()
      .meta({ description: 'opens `rf1Commitment`, the commitment of the value `rf1` under the name `rf1`' }),
  })
  .meta({ id: 'FinancingCheck' })

const common = { tags: ['First financing'], access: withScope('first-financing:check') } as const

const checkRoute = write({
  ...common,
  path: FOLDER,
  operationId: 'checkReceivable',
  summary: 'Ask whether a receivable is registered or financed elsewhere',
  description:
    'Says that something exists: never who, how much, on which day, or how many. By fields, or by `fingerprints` that hide them: then a receivable that no live epoch names leaves the answer UNRESOLVED. `window` also asks the weeks and sizes around it; `statement` has the answer anchored.',
  params: {},
  body: z.union([CheckBody, BlindCheckBody]),
  responses: waitingResponses({ 200: CheckSchema }),
  perform: (context) => runFinancingCheck(context, context.body),
})

/** Has a check made. @param admit what else must hold, in its transaction @throws RateLimitedError */
export async function runFinancingCheck(
  context: JobContext,
  body: z.output<typeof CheckBody> | z.output<typeof BlindCheckBody>,
  admit?: (tx: Knex.Transaction) => Promise<void>,
): Promise<StoredAnswer> {
  const { caller, deps } = context
  const request = requestOf(body)
  return await runJob(context, {
    kind: 'financing.check',
    message: financingRequested,
    folder: FOLDER,
    request,
    async before(tx) {
      await countInput(tx, caller, request.receivable, { isCheck: true, window: request.window }, deps)
      await admit?.(tx)
    },
  })
}

function requestOf(body: z.output<typeof CheckBody> | z.output<typeof BlindCheckBody>): CheckRequest {
  if ('fingerprints' in body) {
    const { statement, ...receivable } = body
    return { receivable, window: false, statement }
  }
  const { window, statement, ...receivable } = body
  return { receivable, window, statement }
}

const readCheck = read({
  ...common,
  path: `${FOLDER}/{checkId}`,
  operationId: 'getReceivableCheck',
  summary: 'A check, as it was answered',
  params: { checkId: idParam('checkId of the check') },
  responses: pollingResponses(CheckSchema),
  handle: ({ caller, params: { checkId }, deps }) =>
    readOutcome(deps, caller, { kind: 'financing.check', folder: FOLDER, id: checkId, what: 'check' }),
})

export const checkRoutes: readonly Route[] = [checkRoute, readCheck]
