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
  summary: 'Ask whether a receivable is registered or financed elsewhere',
  description:
    'Says that something exists: never who, how much, on which day, or how many. By fields, or by `fingerprints` that hide them: then a receivable that no live epoch names leaves the answer UNRESOLVED. `window` also asks the weeks and sizes around it; `statement` has the answer anchored.',
  params: {},
  body: z.union([CheckBody, BlindCheckBody]),
  responses: waitingResponses({ 200: CheckSchema }),
  perform: (context) => runFinancingCheck(context, context.body),
})

const readCheck = read({
  ...common,
  path: `${CHECKS}/{checkId}`,
  operationId: 'getReceivableCheck',
  summary: 'A check, as it was answered',
  params: { checkId: idParam('checkId of the check') },
  responses: pollingResponses(CheckSchema),
  handle: ({ caller, params: { checkId }, deps }) =>
    readOutcome(deps, caller, { kind: 'financing.check', folder: CHECKS, id: checkId, what: 'check' }),
})

export const checkRoutes: readonly Route[] = [checkRoute, readCheck]
