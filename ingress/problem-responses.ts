import { z } from 'zod'
import type { ResponseDocument } from './route.ts'

/** RFC 9457 with additional members. */
const ProblemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string(),
    message: z.string(),
    requestId: z.string(),
    errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
  })
  .meta({ id: 'Problem' })

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR or IDEMPOTENCY_KEY_REQUIRED',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'IDEMPOTENCY_IN_PROGRESS or CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'IDEMPOTENCY_KEY_REUSED',
  429: 'RATE_LIMITED',
  500: 'INTERNAL',
  503: 'UPSTREAM_UNAVAILABLE or SERVICE_UNAVAILABLE',
}

const content = { 'application/problem+json': ProblemSchema }

/** Error responses by status, with their possible codes. */
export const problemDocuments: Readonly<Record<number, ResponseDocument>> = Object.fromEntries(
  Object.entries(DESCRIPTIONS).map(([status, description]) => [status, { description, content }]),
)

export function problemResponses(...statuses: number[]): Record<number, ResponseDocument> {
  return Object.fromEntries(
    statuses.map((status) => [status, problemDocuments[status] ?? { description: 'Error', content }]),
  )
}
