import type { Response } from 'express'
import { z } from 'zod'
import { AnchoredObject } from '#shared/risk/evidence/values.ts'
import type { Answer } from '#shared/tenancy/idempotency/answer.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { jsonWithBase } from '../base-path.ts'
import type { IngressDeps } from '../deps.ts'

export function sendAnswer(
  response: Response,
  answer: StoredAnswer | Answer<string | Buffer>,
  { config: { basePath } }: Pick<IngressDeps, 'config'>,
): void {
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store')
  response.status(answer.status)
  if (answer.status === 204) response.end()
  else if (response.hasHeader('Content-Type')) response.end(answer.body)
  else
    response
      .type('application/json')
      .end(typeof answer.body === 'string' ? jsonWithBase(basePath, answer.body) : answer.body)
}

/** The credential is another form of the same record. */
export const passportObject = z.object({
  passportId: z.uuid(),
  record: AnchoredObject,
  credential: z.string(),
  revocation: AnchoredObject.nullable(),
})
