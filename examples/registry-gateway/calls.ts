import { type HttpRequest, type IncomingResponse, NoAnswerError } from '#shared/risk/registries/connector.ts'
import { limited, notEntitled, Refusal, retryAfterSeconds, sha256, timedOut, upstreamFailed } from './rules.ts'

/** A provider's response from which the gateway's response was made. */
export interface Upstream {
  host: string
  status: number
  sha256: string
  at: string
}

/** Log line of a provider call. */
export interface CallLine {
  adapter: string
  operation: string
  host: string
  status: number | null
  ms: number
  code: string
  requestId: string
  /** the provider's transaction or trace id */
  trace: string | null
}

/** Log line of a request that was not answered from the cache. */
export interface AnswerLine {
  /** null for an operation that no adapter has */
  adapter: string | null
  operation: string
  status: number
  ms: number
  code: string
  requestId: string
  /** path of the member of the provider's response that the mapping cannot read; the value is not logged */
  member: string | null
}

export interface CallDeps {
  http: HttpRequest
  /** milliseconds since the epoch */
  now: () => number
  sleep: (ms: number) => Promise<void>
  /** receives one line per provider call, without personal data */
  report: (line: CallLine) => void
  /** receives the bytes of each answer; only `try --raw` shows them */
  raw?: (request: { method: string; url: string }, answer: IncomingResponse) => void
}

/** One request in progress. */
export interface Work {
  deps: CallDeps
  operation: string
  requestId: string
  /** milliseconds since the epoch */
  deadline: number
  /** provider responses from which the answer is made */
  upstream: Upstream[]
  /** the provider is a test environment */
  isTest?: boolean
  /** true after a provider call or a refusal by its limit; then the outcome counts for the provider's health */
  isCalled?: boolean
}

export interface Limits {
  /** Waits until a call is allowed. @throws Refusal 429 if that takes longer than two seconds */
  acquire(work: Work): Promise<void>
  /** Refuses every call until `untilMs`, because the provider has responded 429. */
  close(untilMs: number): void
  placesLeft(nowMs: number): number
}

const MINUTE_MS = 60_000
const MAX_WAIT_MS = 2000
const CONNECT_TIMEOUT_MS = 3000

/** Allows at most `perMinute` calls in any 60 seconds. */
export function createLimits(perMinute: number): Limits {
  const times: number[] = []
  let closedUntil = 0
  return {
    async acquire({ deps, deadline }) {
      const now = deps.now()
      const free = times.length < perMinute ? 0 : (times[times.length - perMinute] ?? 0) + MINUTE_MS
      const at = Math.max(now, closedUntil, free)
      if (at - now > MAX_WAIT_MS || at >= deadline) throw limited((at - now) / 1000)
      times.push(at)
      if (times.length > perMinute) times.shift()
      if (at > now) await deps.sleep(at - now)
    },
    close(untilMs) {
      closedUntil = Math.max(closedUntil, untilMs)
    },
    placesLeft(nowMs) {
      if (closedUntil > nowMs) return 0
      return perMinute - times.filter((at) => at > nowMs - MINUTE_MS).length
    },
  }
}

/** A provider: its name in logs, its limit, and the wait after a 429 without Retry-After. */
export interface Provider {
  adapter: string
  limits: Limits
  retryAfterSeconds: number
}

export interface ProviderRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
  /** default: the remaining time of the request, which is also the maximum */
  timeoutMs?: number
  /** false for requests of access tokens, whose responses are not evidence; default true */
  isEvidence?: boolean
}

/**
 * Makes one provider call without retries.
 * @throws Refusal for a 429, a 5xx, a timeout or a failed connection; any other status is returned
 */
export async function callProvider(
  provider: Provider,
  work: Work,
  request: ProviderRequest,
): Promise<IncomingResponse> {
  const { deps } = work
  work.isCalled = true
  await provider.limits.acquire(work)
  const startedAt = deps.now()
  const timeoutMs = Math.min(request.timeoutMs ?? Infinity, work.deadline - startedAt)
  if (timeoutMs <= 0) throw timedOut()
  const host = new URL(request.url).host
  const report = (code: string, answer?: IncomingResponse) =>
    deps.report({
      adapter: provider.adapter,
      operation: work.operation,
      host,
      status: answer?.status ?? null,
      ms: deps.now() - startedAt,
      code,
      requestId: work.requestId,
      trace: answer ? traceOf(answer) : null,
    })
  const { method, url, headers, body } = request
  const target = { method, url, headers, ...(body === undefined ? {} : { body }) }
  let answer: IncomingResponse
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    answer = await deps.http({ ...target, timeoutMs, connectTimeoutMs: CONNECT_TIMEOUT_MS, signal })
  } catch (error) {
    const refusal = refusalOf(error)
    report(refusal.code)
    throw refusal
  }
  deps.raw?.(request, answer)
  report(outcomeOf(answer.status), answer)
  if (answer.status === 429) {
    const seconds = retryAfterSeconds(answer.headers['retry-after'], deps.now(), provider.retryAfterSeconds)
    provider.limits.close(deps.now() + seconds * 1000)
    throw limited(seconds)
  }
  if (answer.status >= 500) throw upstreamFailed()
  if (request.isEvidence !== false && answer.status !== 401 && answer.status !== 403) {
    const at = new Date(deps.now()).toISOString()
    work.upstream.push({ host, status: answer.status, sha256: sha256(answer.body), at })
  }
  return answer
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  return error instanceof NoAnswerError && error.kind === 'timeout' ? timedOut() : upstreamFailed()
}

function outcomeOf(status: number): string {
  return status < 300 ? 'OK' : `HTTP_${status}`
}

/** Identifiers that providers give for support; other text of a provider never gets into a log. */
function traceOf({ body }: IncomingResponse): string | null {
  const head = body.subarray(-400).toString('latin1')
  return /"(?:transaction_id|traceId|txnid)" ?: ?"([A-Za-z0-9-]{1,64})"/.exec(head)?.[1] ?? null
}

export interface AccessToken {
  /** Makes a call with the current token; after 401 or 403 once more with a new one. */
  use(work: Work, call: (token: string) => Promise<IncomingResponse>): Promise<IncomingResponse>
  /** milliseconds since the epoch; null without a token */
  until(): number | null
}

/**
 * Caches one access token of a provider.
 * @param fetchToken throws Refusal; NOT_ENTITLED if the credentials are refused
 * @param renewOn statuses after which a token may have expired
 */
export function createAccessToken(
  fetchToken: (work: Work) => Promise<string>,
  { lifeMs, renewOn }: { lifeMs: number; renewOn: readonly number[] },
): AccessToken {
  let current: { token: string; until: number } | undefined
  let pending: { token: Promise<string>; deadline: number } | undefined
  const renew = (work: Work) => {
    // A token request that another request started with a later deadline may take too long for this one.
    if (pending && pending.deadline <= work.deadline) return pending.token
    const token = fetchToken(work).then((fetched) => {
      current = { token: fetched, until: work.deps.now() + lifeMs }
      return fetched
    })
    const started = { token, deadline: work.deadline }
    pending = started
    const settle = () => {
      if (pending === started) pending = undefined
    }
    token.then(settle, settle)
    return token
  }
  return {
    async use(work, call) {
      const used = current && current.until > work.deps.now() ? current.token : await renew(work)
      const answer = await call(used)
      if (!renewOn.includes(answer.status)) return answer
      // Another request may have renewed the token meanwhile.
      const next = current && current.token !== used ? current.token : await renew(work)
      const second = await call(next)
      if (renewOn.includes(second.status)) throw notEntitled()
      return second
    },
    until: () => current?.until ?? null,
  }
}
