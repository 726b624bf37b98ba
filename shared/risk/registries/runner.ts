import { createHash } from 'node:crypto'
import type { Breakers, CallEnd } from './breaker.ts'
import {
  type ConsentRef,
  type EvidenceTier,
  type IncomingResponse,
  type MissingReason,
  NoAnswerError,
  type OutgoingRequest,
  type Registry,
  type RegistryContext,
  type RegistryDeps,
  type RegistryResult,
} from './connector.ts'

const CONNECT_TIMEOUT_MS = 3000
const CALL_TIMEOUT_MS = 8000
/** Tax returns are assembled per period and are therefore slower. */
export const TAX_CALL_TIMEOUT_MS = 15_000

const ATTEMPTS = 3
const RETRY_BASE_MS = 200

export type Parsed<T> =
  | { data: T; asOf: string | null; consent?: ConsentRef | null; source?: string }
  | { missing: MissingReason }

export interface RegistrySpec<Input, T> {
  name: string
  connectorVersion: string
  source: string
  tier: EvidenceTier
  timeoutMs?: number
  /** data about a person or business */
  needsConsent?: boolean
  request(input: Input, context: RegistryContext): Pick<OutgoingRequest, 'method' | 'url' | 'headers' | 'body'>
  /** An exception or `undefined` becomes UNPARSEABLE. */
  parse(body: Buffer, input: Input): Parsed<T> | undefined
  /** for every status but 200; default: `reasonOfStatus` */
  reasonOf?(response: IncomingResponse): MissingReason
}

/** Checks consent and circuit breaker, limits the time, and retries twice. A failure is a result with a reason. */
export function createRegistry<Input, T>(
  spec: RegistrySpec<Input, T>,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<Input, T> {
  return {
    name: spec.name,
    connectorVersion: spec.connectorVersion,
    async fetch(context, input) {
      const startedAt = deps.now()
      const refusal = consentRefusal(spec, context, startedAt)
      const outcome: Outcome<T> = refusal ? missing(refusal, 0) : await guarded(spec, deps, breakers, context, input)
      return resultOf(spec, context, outcome, startedAt, deps.now())
    },
  }
}

type Outcome<T> = { attempts: number; rawSha256: string | null } & (
  | { status: 'OK'; parsed: Exclude<Parsed<T>, { missing: MissingReason }> }
  | { status: 'MISSING' | 'ERROR'; reason: MissingReason }
)

function consentRefusal(
  spec: { needsConsent?: boolean },
  context: RegistryContext,
  now: number,
): MissingReason | undefined {
  if (!spec.needsConsent) return undefined
  if (!context.consent) return 'NO_CONSENT'
  const { expiresAt } = context.consent
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'CONSENT_EXPIRED' : undefined
}

async function guarded<Input, T>(
  spec: RegistrySpec<Input, T>,
  deps: RegistryDeps,
  breakers: Breakers,
  context: RegistryContext,
  input: Input,
): Promise<Outcome<T>> {
  const request = tryRequest(spec, input, context)
  if (!request) return missing('UPSTREAM_ERROR', 0)
  const key = `${context.env}/${spec.name}/${context.orgId}`
  if (!breakers.admit(key, deps.now())) return missing('UPSTREAM_ERROR', 0)
  const { outcome, end } = await attempts(spec, deps, context, request, input)
  breakers.settle(key, end, deps.now())
  return outcome
}

type Target = ReturnType<RegistrySpec<unknown, unknown>['request']>

/** Returns undefined if the input does not suffice. The circuit breaker must not count this for the registry. */
function tryRequest<Input, T>(spec: RegistrySpec<Input, T>, input: Input, context: RegistryContext) {
  try {
    return spec.request(input, context)
  } catch {
    return undefined
  }
}

async function attempts<Input, T>(
  spec: RegistrySpec<Input, T>,
  deps: RegistryDeps,
  context: RegistryContext,
  request: Target,
  input: Input,
): Promise<{ outcome: Outcome<T>; end: CallEnd }> {
  let end: CallEnd = 'unknown'
  for (let attempt = 1; ; attempt++) {
    const { answer, end: attemptEnd } = await exchange(spec.timeoutMs ?? CALL_TIMEOUT_MS, deps, context, request)
    // An attempt with an unknown end does not replace an earlier result.
    if (attemptEnd !== 'unknown') end = attemptEnd
    const isRetryable = answer === 'TIMEOUT' || (typeof answer !== 'string' && answer.status >= 500)
    if (isRetryable && attempt < ATTEMPTS) {
      const delayMs = RETRY_BASE_MS * 2 ** attempt * (0.5 + deps.random())
      if (deps.now() + delayMs < context.deadline && !context.signal.aborted) {
        await deps.sleep(delayMs, context.signal)
        continue
      }
    }
    return { outcome: outcomeOf(spec, input, answer, attempt), end }
  }
}

interface Exchange {
  /** a string if no response arrived */
  answer: IncomingResponse | 'TIMEOUT' | 'UPSTREAM_ERROR'
  end: CallEnd
}

/**
 * Ends with the caller's deadline. A timeout that this deadline shortened does not count as a failure of the registry.
 */
async function exchange(
  callTimeoutMs: number,
  deps: RegistryDeps,
  context: RegistryContext,
  target: Target,
): Promise<Exchange> {
  const timeoutMs = Math.min(callTimeoutMs, context.deadline - deps.now())
  if (timeoutMs <= 0 || context.signal.aborted) return { answer: 'TIMEOUT', end: 'unknown' }
  const late = (): Exchange => ({
    answer: 'TIMEOUT',
    end: timeoutMs === callTimeoutMs && !context.signal.aborted ? 'failed' : 'unknown',
  })
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, context.signal])
  try {
    const request = { ...target, timeoutMs, connectTimeoutMs: CONNECT_TIMEOUT_MS, signal }
    const answered = deps
      .http(request)
      .then((answer): Exchange => ({ answer, end: answer.status >= 500 ? 'failed' : 'answered' }))
    return await Promise.race([answered, deps.sleep(timeoutMs, signal).then(late)])
  } catch (error) {
    if (context.signal.aborted) return { answer: 'TIMEOUT', end: 'unknown' }
    if (!(error instanceof NoAnswerError)) return { answer: 'UPSTREAM_ERROR', end: 'unknown' }
    return error.kind === 'timeout' ? late() : { answer: 'UPSTREAM_ERROR', end: 'failed' }
  } finally {
    stop.abort()
  }
}

function outcomeOf<Input, T>(
  spec: RegistrySpec<Input, T>,
  input: Input,
  answer: IncomingResponse | 'TIMEOUT' | 'UPSTREAM_ERROR',
  attempt: number,
): Outcome<T> {
  if (typeof answer === 'string') return missing(answer, attempt)
  const rawSha256 = createHash('sha256').update(answer.body).digest('hex')
  if (answer.status !== 200) {
    return missing(spec.reasonOf?.(answer) ?? reasonOfStatus(answer.status), attempt, rawSha256)
  }
  const parsed = tryParse(spec, answer.body, input)
  if (!parsed) return missing('UNPARSEABLE', attempt, rawSha256)
  if ('missing' in parsed) return missing(parsed.missing, attempt, rawSha256)
  return { status: 'OK', parsed, attempts: attempt, rawSha256 }
}

// A registry sends foreign text, so an error in a parser is UNPARSEABLE and not an internal error.
function tryParse<Input, T>(spec: RegistrySpec<Input, T>, body: Buffer, input: Input): Parsed<T> | undefined {
  try {
    return spec.parse(body, input)
  } catch {
    return undefined
  }
}

/** Returns the reason for a status if the registry's `reasonOf` defines none. */
export function reasonOfStatus(status: number): MissingReason {
  if (status === 404) return 'NOT_FOUND'
  return status === 401 || status === 403 ? 'NOT_ENTITLED' : 'UPSTREAM_ERROR'
}

function missing<T>(reason: MissingReason, attempts: number, rawSha256: string | null = null): Outcome<T> {
  return { status: reason === 'UPSTREAM_ERROR' ? 'ERROR' : 'MISSING', reason, attempts, rawSha256 }
}

function resultOf<Input, T>(
  spec: RegistrySpec<Input, T>,
  context: RegistryContext,
  outcome: Outcome<T>,
  startedAt: number,
  endedAt: number,
): RegistryResult<T> {
  const provenance = {
    source: spec.source,
    observedAt: new Date(endedAt).toISOString(),
    asOf: null,
    consent: spec.needsConsent ? (context.consent ?? null) : null,
    rawSha256: outcome.rawSha256,
    latencyMs: endedAt - startedAt,
    attempts: outcome.attempts,
    connectorVersion: spec.connectorVersion,
  }
  if (outcome.status !== 'OK') {
    return { ...provenance, status: outcome.status, tier: 'MISSING', data: null, missingReason: outcome.reason }
  }
  const { data, asOf, consent, source } = outcome.parsed
  return {
    ...provenance,
    source: source ?? provenance.source,
    asOf,
    consent: consent ?? provenance.consent,
    status: 'OK',
    tier: spec.tier,
    data,
    missingReason: null,
  }
}
