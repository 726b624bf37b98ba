import { LRUCache } from 'lru-cache'
import { attemptHttp, GONE } from '#shared/delivery/http-attempt.ts'
import { delivered, type Outcome, temporary } from '#shared/delivery/outcome.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { type Micros, toMillis, toSeconds } from '#shared/time.ts'
import type { ClaimedDelivery, LockedEndpoint } from '#shared/webhooks/claim-store.ts'
import { type SigningKeys, secretKeyOf, signatureHeaders } from '#shared/webhooks/signature.ts'

const EXCERPT_BYTES = 4096

export interface SentAttempt {
  startedAt: Micros
  durationMs: number
  outcome: Outcome
  statusCode: number | null
  response: Buffer | null
}

/** Only 2xx is a success (docs/spec/transparency.md#webhook-delivery). */
export async function sendSigned(
  http: HttpClient,
  now: () => Micros,
  delivery: ClaimedDelivery,
  target: { url: string; keys: SigningKeys },
): Promise<SentAttempt> {
  const startedAt = now()
  const began = performance.now()
  const message = { id: delivery.eventId, timestamp: Math.floor(toSeconds(startedAt)), body: delivery.body }
  const headers = { 'content-type': 'application/json', ...signatureHeaders(target.keys, message) }
  const { answer, failed, retryAfterSeconds } = await attemptHttp(http, () => toMillis(now()), {
    method: 'POST',
    url: target.url,
    headers,
    body: delivery.body,
  })
  const outcome = answer ? outcomeOf(answer.status, retryAfterSeconds) : failed
  return {
    startedAt,
    durationMs: Math.round(performance.now() - began),
    outcome,
    statusCode: answer?.status ?? null,
    response: answer && answer.body.length > 0 ? answer.body.subarray(0, EXCERPT_BYTES) : null,
  }
}

function outcomeOf(status: number, retryAfterSeconds: number | null): Outcome {
  if (status >= 200 && status < 300) return delivered
  if (status === 410) return GONE
  return temporary(`Received status code ${status}`, { failure: 'status', retryAfterSeconds })
}

export function createSigningKeys(
  secrets: Secrets,
): (endpoint: Pick<LockedEndpoint, 'sealedSecret' | 'sealedPreviousSecret'>) => SigningKeys {
  const keys = new LRUCache<string, Buffer>({ max: 10_000 })
  const keyOf = (sealed: string): Buffer => {
    const known = keys.get(sealed)
    if (known) return known
    const key = secretKeyOf(secrets.open('webhook-secret', sealed))
    keys.set(sealed, key)
    return key
  }
  return ({ sealedSecret, sealedPreviousSecret }) => ({
    current: keyOf(sealedSecret),
    previous: sealedPreviousSecret === null ? null : keyOf(sealedPreviousSecret),
  })
}
