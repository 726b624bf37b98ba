import { z } from 'zod'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { BlindCheckBody, CheckBody } from '#shared/risk/first-financing/requests.ts'
import { CheckSchema } from '#shared/risk/first-financing/view.ts'
import { CHECKS, runFinancingCheck } from '#shared/risk/operations/financing-requests.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

const common = { tags: ['First financing'], access: withScope('first-financing:check') } as const

const checkRoute = write({
  ...common,
  path: CHECKS,
  operationId: 'checkReceivable',
  summary: 'Check if a receivable is registered or financed elsewhere',
  description:
    'Reports only that a registration exists: never by whom, how many, the amount or the day. Send the fields, or `fingerprints` that hide them. With fingerprints, the answer is UNRESOLVED if no live epoch covers the receivable. `window` also checks the neighbouring weeks and sizes; `statement` anchors the answer.',
  params: {},
  body: z.union([CheckBody, BlindCheckBody]),
  responses: waitingResponses({ 200: CheckSchema }),
  perform: (context) => runFinancingCheck(context, context.body),
})

const readCheck = read({
  ...common,
  path: `${CHECKS}/{checkId}`,
  operationId: 'getReceivableCheck',
  summary: 'Get a check',
  params: { checkId: idParam('checkId of the check') },
  responses: pollingResponses(CheckSchema),
  handle: ({ caller, params: { checkId }, deps }) =>
    readOutcome(deps, caller, { kind: 'financing.check', folder: CHECKS, id: checkId, what: 'check' }),
})

export const checkRoutes: readonly Route[] = [checkRoute, readCheck]
