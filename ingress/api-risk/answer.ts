import type { Response } from 'express'
import { z } from 'zod'
import { DomainError } from '#shared/errors.ts'
import { AnchoredObject } from '#shared/risk/evidence/values.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'

/** An answer that is more than a view: another status, further headers, or bytes that were made before. */
export class Answer<Body extends string | Buffer = string> {
  readonly status: number
  readonly headers: Record<string, string>
  /** JSON, unless the headers name another type: what is stored and replayed is what was sent */
  readonly body: Body
  constructor(status: number, body: Body, headers: Record<string, string> = {}) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

export function jsonAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return new Answer(status, JSON.stringify(body), headers)
}

export function sendAnswer(response: Response, answer: StoredAnswer | Answer<string | Buffer>): void {
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store')
  response.status(answer.status)
  if (answer.status === 204) response.end()
  else if (response.hasHeader('Content-Type')) response.end(answer.body)
  else response.type('application/json').end(answer.body)
}

/** A passport, of a person or of a business: the record, the same as credential, and what revoked it. */
export const passportObject = z.object({
  passportId: z.uuid(),
  record: AnchoredObject,
  credential: z.string(),
  revocation: AnchoredObject.nullable(),
})

/** A consumer key or webhook secret is not configured on our side: the contract's narrow meaning of 503. */
export class NotConfiguredError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
}
