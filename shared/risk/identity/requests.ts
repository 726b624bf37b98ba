import { z } from 'zod'
import { rule } from '../../validation.ts'
import { PresentationQuery, QUERY_TEMPLATES } from '../credentials/query.ts'
import { line } from '../evidence/values.ts'
import { RESPONSE_MODES } from './presentation.ts'
import type { IdentityState } from './subject.ts'

const httpsUrl = line(2_000).refine(
  (text) => URL.parse(text)?.protocol === 'https:',
  rule('FORMAT', 'must be a URL with https'),
)

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
    const broken =
      query === undefined
        ? rule('REQUIRED', 'or template is required')
        : rule('NOT_TOGETHER', 'must not be given together with template')
    ctx.addIssue({ code: 'custom', path: ['query'], ...broken })
  })
  .transform(({ query, template, ...rest }) => ({
    ...rest,
    query: PresentationQuery.parse(query ?? QUERY_TEMPLATES[template ?? 'company-basic']),
  }))

export type PresentationRequest = z.output<typeof PresentationBody>

export type Mover = 'CALLER' | 'VERIFICATION' | 'SWEEPER' | 'STATUS_LIST' | 'ERASURE'

type Row = readonly [from: IdentityState, to: IdentityState, by: readonly Mover[]]

/** Transitions besides those to REVOKED (docs/spec/evidence-families.md#subject-states). */
const TRANSITIONS: readonly Row[] = [
  ['UNVERIFIED', 'PENDING', ['CALLER', 'VERIFICATION']],
  ['PENDING', 'VERIFIED', ['VERIFICATION']],
  ['PENDING', 'UNVERIFIED', ['CALLER', 'VERIFICATION']],
  ['VERIFIED', 'EXPIRED', ['SWEEPER']],
  ['VERIFIED', 'SUSPENDED', ['CALLER', 'STATUS_LIST']],
  ['SUSPENDED', 'VERIFIED', ['CALLER']],
  ['EXPIRED', 'PENDING', ['CALLER']],
]

const TO_REVOKED: readonly Mover[] = ['CALLER', 'ERASURE']

/** `forbidden` for VERIFIED by a caller, `impossible` for a transition that no rule allows. */
export function checkTransition(
  from: IdentityState,
  to: IdentityState,
  by: Mover,
): 'allowed' | 'forbidden' | 'impossible' {
  const movers =
    to === 'REVOKED'
      ? from === 'REVOKED'
        ? undefined
        : TO_REVOKED
      : TRANSITIONS.find(([one, other]) => one === from && other === to)?.[2]
  if (!movers) return 'impossible'
  if (movers.includes(by)) return 'allowed'
  return to === 'VERIFIED' ? 'forbidden' : 'impossible'
}
