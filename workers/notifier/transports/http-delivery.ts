import { attemptHttp, GONE } from '#shared/delivery/http-attempt.ts'
import { delivered, type Outcome, outcomeOfStatus, permanent } from '#shared/delivery/outcome.ts'
import type { HttpAnswer, HttpClient, OutgoingRequest } from '#shared/platform/http/http-client.ts'

/** Null means the default outcome. */
export type Decide = (answer: HttpAnswer) => Outcome | null

/**
 * Follows at most 3 redirects. 200, 201, 202 and 204 mean delivered, 410 is a permanent failure, all other statuses
 * are temporary (docs/spec/monitoring.md#delivery-attempts).
 */
export async function deliver(
  http: Pick<HttpClient, 'request'>,
  now: () => number,
  request: OutgoingRequest,
  decide?: Decide,
): Promise<Outcome> {
  const { answer, retryAfterSeconds, failed } = await attemptHttp(http, now, { followRedirects: 3, ...request })
  if (!answer) return failed
  const usual = answer.status === 410 ? GONE : outcomeOfStatus(answer.status, retryAfterSeconds)
  return usual.result === 'delivered' ? delivered : (decide?.(answer) ?? usual)
}

export function json(
  method: 'POST' | 'PUT',
  url: string,
  content: unknown,
  headers: Record<string, string> = {},
): OutgoingRequest {
  return { method, url, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(content) }
}

export function form(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): OutgoingRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  }
}

export function basicAuth(user: string, password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}

/** Returns an empty object for anything but a JSON object. */
export function answeredObject(answer: HttpAnswer): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(answer.body.toString('utf8'))
    // an object that is not null has string keys; its values stay unknown
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Some services use these statuses if an address no longer exists. */
export function permanentOn(...statuses: number[]): Decide {
  return ({ status }) =>
    statuses.includes(status) ? permanent(`Received status code ${status}`, { failure: 'status' }) : null
}
