import { TimelineSchema } from '#shared/risk/acceptance/timeline.ts'
import { readTimeline } from '#shared/risk/operations/acceptance-requests.ts'
import { withScope } from '../access.ts'
import { read } from '../risk-route.ts'

export const timelineRoute = read({
  tags: ['Acceptance'],
  access: withScope('acceptance:read'),
  path: '/v1/acceptance/{receivableRef}',
  operationId: 'getAcceptanceTimeline',
  summary: 'Get the records of a receivable and their summary',
  params: {
    receivableRef: { pattern: '[^/]{1,300}', description: 'the organisation’s own reference', example: 'RCV-7' },
  },
  returns: TimelineSchema,
  handle: ({ caller, params: { receivableRef }, deps }) => readTimeline(deps, caller, receivableRef),
})
