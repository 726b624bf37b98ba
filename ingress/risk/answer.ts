import type { Response } from 'express'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'

/** An answer whose body is JSON text already: what is stored and replayed is what was sent. */
export type Answer = StoredAnswer

export function jsonAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers, body: JSON.stringify(body) }
}

export function sendAnswer(response: Response, answer: Answer): void {
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store')
  if (answer.status === 204) response.status(204).end()
  else response.status(answer.status).type('application/json').end(answer.body)
}
