/** A connector's `fetch` returns a value or a reason, never throws (docs/spec/risk-signals.md#registry-results). */
export type RegistryEnv = 'SANDBOX' | 'PRODUCTION'

export type EvidenceTier =
  | 'REGISTRY_VERIFIED'
  | 'LENDER_SIDE'
  | 'ISSUER_CONFIRMED'
  | 'DOCUMENT_SIGNED'
  | 'SELF_DECLARED'
  | 'MISSING'

export const MISSING_REASONS = [
  'NO_CONSENT',
  'CONSENT_EXPIRED',
  'CONSENT_REVOKED',
  'NOT_FOUND',
  'NOT_FILED',
  'TIMEOUT',
  'UPSTREAM_ERROR',
  'NOT_ENTITLED',
  'UNPARSEABLE',
] as const

export type MissingReason = (typeof MISSING_REASONS)[number]

export interface ConsentRef {
  handle: string
  id: string | null
  purposeCode: string | null
  expiresAt: string | null
}

export interface RegistryContext {
  env: RegistryEnv
  orgId: string
  consent?: ConsentRef
  /** end of all waiting, milliseconds since the epoch: the budget of the whole pack */
  deadline: number
  signal: AbortSignal
  requestId: string
}

interface Provenance {
  source: string
  /** by our clock, ISO 8601 UTC */
  observedAt: string
  /** date of the data as the registry reports it; null without one */
  asOf: string | null
  consent: ConsentRef | null
  /** of the last response's exact bytes, lower-case hex; null without a response */
  rawSha256: string | null
  latencyMs: number
  attempts: number
  connectorVersion: string
}

export type RegistryResult<T> =
  | (Provenance & { status: 'OK'; tier: EvidenceTier; data: T; missingReason: null })
  | (Provenance & { status: 'MISSING' | 'ERROR'; tier: 'MISSING'; data: null; missingReason: MissingReason })

/** `fetch` never rejects because of a registry. */
export interface Registry<Input, T> {
  readonly name: string
  readonly connectorVersion: string
  fetch(context: RegistryContext, input: Input): Promise<RegistryResult<T>>
}

export interface OutgoingRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
  /** for the whole exchange */
  timeoutMs: number
  /** for the connection only */
  connectTimeoutMs: number
  signal: AbortSignal
}

export interface IncomingResponse {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Buffer
}

/** A failed connection or a timeout. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly kind: 'timeout' | 'connection'
  constructor(kind: 'timeout' | 'connection', options?: ErrorOptions) {
    super(kind === 'timeout' ? 'the registry did not answer in time' : 'the registry cannot be reached', options)
    this.kind = kind
  }
}

/** Follows no redirects. @throws NoAnswerError for a registry's failure; others are ours */
export type HttpRequest = (request: OutgoingRequest) => Promise<IncomingResponse>

export interface RegistryDeps {
  http: HttpRequest
  /** milliseconds since the epoch */
  now: () => number
  /** in [0, 1) */
  random: () => number
  /** resolves after the delay, or when the signal aborts; never rejects */
  sleep: (delayMs: number, signal: AbortSignal) => Promise<void>
}

/** Returns MISSING/NOT_ENTITLED and contacts no server. */
export function unconfiguredRegistry<Input, T>(name: string, now: () => number): Registry<Input, T> {
  const connectorVersion = '1.0.0'
  return {
    name,
    connectorVersion,
    async fetch() {
      return {
        status: 'MISSING',
        tier: 'MISSING',
        data: null,
        missingReason: 'NOT_ENTITLED',
        source: name,
        observedAt: new Date(now()).toISOString(),
        asOf: null,
        consent: null,
        rawSha256: null,
        latencyMs: 0,
        attempts: 0,
        connectorVersion,
      }
    },
  }
}
