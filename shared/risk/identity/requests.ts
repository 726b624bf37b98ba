import { z } from 'zod'
import { PresentationQuery, QUERY_TEMPLATES } from '../credentials/query.ts'
import { line } from '../evidence/values.ts'
import { RESPONSE_MODES } from './presentation.ts'

const httpsUrl = line(2_000).refine((text) => URL.parse(text)?.protocol === 'https:', {
  params: { reason: 'FORMAT' },
  message: 'must be a URL with https',
})

export const PresentationBody = z
  .strictObject({
    purpose: line(),
    query: PresentationQuery.optional(),
    template: z.enum(['company-basic']).optional(),
    dealId: line(100).optional(),
    subjectId: z.uuid().optional(),
    responseMode: z.enum(RESPONSE_MODES).default('direct_post'),
    redirectUri: httpsUrl.optional(),
    retainHours: z.int().min(0).max(720).default(24),
  })
  .superRefine(({ query, template }, ctx) => {
    if ((query === undefined) !== (template === undefined)) return
    const [message, reason] =
      query === undefined
        ? ['one of query and template is required', 'REQUIRED']
        : ['must not be given together with template', 'NOT_TOGETHER']
    ctx.addIssue({ code: 'custom', path: ['query'], message, params: { reason } })
  })
  .transform(({ query, template, ...rest }) => ({
    ...rest,
    query: PresentationQuery.parse(query ?? QUERY_TEMPLATES[template ?? 'company-basic']),
  }))

/** What is asked of a wallet, as its caller describes it. */
export type PresentationRequest = z.output<typeof PresentationBody>
