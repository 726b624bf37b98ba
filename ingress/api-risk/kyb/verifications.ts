import { hash } from 'node:crypto'
import { z } from 'zod'
import { kybRequested } from '#shared/contracts/worker-messages.ts'
import { readOutcome, runJob, runSharedJob } from '#shared/jobs/operations/jobs.ts'
import { LeiAnswerSchema } from '#shared/risk/businesses/lei-answer.ts'
import { LeiResolveBody, VerificationBody, VerificationSchema } from '#shared/risk/businesses/requests.ts'
import { validateLei } from '#shared/risk/identifiers/lei.ts'
import {
  BUSINESS_VERIFICATIONS,
  LEI_RESOLUTIONS,
  runEntityVerification,
  runLeiResolution,
} from '#shared/risk/operations/business-requests.ts'
import { indianDay } from '#shared/risk/packs/money.ts'
import { toMillis } from '#shared/time.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, readByJob, waitingResponses } from '../jobs.ts'
import { checkedParam, idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { veiParam } from './keys.ts'

const tags = ['Businesses'] as const

const verifyRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: BUSINESS_VERIFICATIONS,
  operationId: 'verifyBusiness',
  summary: 'Verify a business by its identifiers',
  description:
    'A value that a registry does not return is MISSING with a reason; the answer is still 201. Lapsed identifiers are reported without an assessment.',
  params: {},
  body: VerificationBody,
  responses: waitingResponses({ 201: VerificationSchema }),
  perform: (context) =>
    runJob(context, {
      kind: 'kyb.verification',
      message: kybRequested,
      folder: BUSINESS_VERIFICATIONS,
      request: context.body,
    }),
})

const readVerification = read({
  tags,
  access: withScope('kyb:read'),
  path: `${BUSINESS_VERIFICATIONS}/{verificationId}`,
  operationId: 'getBusinessVerification',
  summary: 'Get an anchored verification',
  params: { verificationId: idParam('verificationId of the verification') },
  responses: pollingResponses(VerificationSchema),
  handle: ({ caller, params: { verificationId: id }, deps }) =>
    readOutcome(deps, caller, { kind: 'kyb.verification', folder: BUSINESS_VERIFICATIONS, id, what: 'verification' }),
})

const verifyAgain = write({
  tags,
  access: withScope('kyb:read'),
  path: '/v1/kyb/entities/{vei}/verify',
  operationId: 'verifyEntity',
  summary: 'Verify an entity again, by its stored identifiers',
  params: { vei: veiParam },
  body: z.strictObject({}),
  isBodyOptional: true,
  responses: waitingResponses({ 201: VerificationSchema }),
  perform: (context) => runEntityVerification(context, context.params.vei),
})

const leiParam = checkedParam(
  (text) => {
    const result = validateLei(text)
    return result.valid ? null : result.reason
  },
  { description: 'legal entity identifier', example: '9999SGNLBXDEMO000118' },
)

const readLei = read({
  tags,
  access: withScope('kyb:read'),
  path: '/v1/kyb/lei/{lei}',
  operationId: 'getLei',
  summary: 'Get the record of a legal entity identifier',
  description: 'The check digits are verified before the registry is queried. The registry is queried once per day.',
  params: { lei: leiParam },
  responses: pollingResponses(LeiAnswerSchema),
  async handle({ caller, params, request, deps }) {
    const lei = validateLei(params.lei).value
    const day = indianDay(toMillis(deps.now()))
    return await readByJob({ caller, deps, request }, (job) =>
      runSharedJob(job, {
        kind: 'kyb.lei',
        message: kybRequested,
        self: `/v1/kyb/lei/${lei}`,
        request: { lei },
        jobKey: hash('sha256', `${lei}/${day}`, 'buffer'),
      }),
    )
  },
})

const resolveLei = write({
  tags,
  access: withScope('kyb:read'),
  path: '/v1/kyb/lei/resolve',
  operationId: 'resolveLei',
  summary: 'Find a legal entity identifier by company number or name',
  params: {},
  body: LeiResolveBody,
  responses: waitingResponses({ 200: LeiAnswerSchema }),
  perform: (context) => runLeiResolution(context, context.body),
})

const readResolution = read({
  tags,
  access: withScope('kyb:read'),
  path: `${LEI_RESOLUTIONS}/{resolutionId}`,
  operationId: 'getLeiResolution',
  summary: 'Get the result of a resolution',
  params: { resolutionId: idParam('id of the resolution') },
  responses: pollingResponses(LeiAnswerSchema),
  handle: ({ caller, params: { resolutionId: id }, deps }) =>
    readOutcome(deps, caller, { kind: 'kyb.lei', folder: LEI_RESOLUTIONS, id, what: 'resolution' }),
})

export const verificationRoutes: readonly Route[] = [
  verifyRoute,
  readVerification,
  verifyAgain,
  // Precedes the route whose parameter would match `resolve`.
  resolveLei,
  readLei,
  readResolution,
]
