import { z } from 'zod'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { IdentityVerificationBody } from '#shared/risk/identity/identity-requests.ts'
import { IDENTITY_VERIFICATIONS, runSubjectVerification } from '#shared/risk/operations/identity-verifications.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { subjectParams } from './operation-context.ts'

const tags = ['Identity'] as const

const VerificationSchema = z
  .looseObject({
    verificationId: z.uuid(),
    subjectId: z.uuid(),
    key: z.string(),
    tier: z.string(),
    missingReason: z.string().nullable(),
    observedAt: z.string(),
    expiresAt: z.string(),
    assurance: z.looseObject({ level: z.string() }),
  })
  .meta({ id: 'IdentityVerification' })

const verifyRoute = write({
  tags,
  access: withScope('identity:write'),
  path: '/v1/identity/subjects/{subjectId}/verifications',
  operationId: 'verifySubject',
  summary: 'Verify a subject by a presentation, a signed document or a registry',
  description:
    'A value that cannot be verified is MISSING with a reason; the answer is still 201. A registry is queried about a person only with a live consent that has this `purpose` and the field `pan` or `ckyc`.',
  params: subjectParams,
  body: IdentityVerificationBody,
  responses: waitingResponses({ 201: VerificationSchema }),
  perform: (context) => runSubjectVerification(context, context.params.subjectId, context.body),
})

const readRoute = read({
  tags,
  access: withScope('identity:read'),
  path: `${IDENTITY_VERIFICATIONS}/{identityVerificationId}`,
  operationId: 'getIdentityVerification',
  summary: 'Get the result of a verification',
  params: { identityVerificationId: idParam('verificationId of the verification') },
  responses: pollingResponses(VerificationSchema),
  handle: ({ caller, params: { identityVerificationId: id }, deps }) =>
    readOutcome(deps, caller, {
      kind: 'identity.verification',
      folder: IDENTITY_VERIFICATIONS,
      id,
      what: 'verification',
    }),
})

export const verificationRoutes: readonly Route[] = [verifyRoute, readRoute]
