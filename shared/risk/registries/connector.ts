/**
 * What a registry connector is: one capability, one `fetch`, and an answer that is a value or a reason, never an
 * exception (docs/spec/risk-signals.md#registry-results). Time, chance and the network are arguments.
 */
export type RegistryEnv = 'SANDBOX' | 'PRODUCTION'

/** The label a signal carries about where its value comes from. */
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

/** The consent under which a value was read. Members the registry did not state are null. */
export interface ConsentRef {
  handle: string
  id: string | null
  purposeCode: string | null
  /** ISO 8601 UTC. */
  expiresAt: string | null
}

export interface RegistryContext {
  env: RegistryEnv
  orgId: string
  consent?: ConsentRef
  /** Milliseconds since the epoch after which nothing may still be awaited: the budget of the whole pack. */
  deadline: number
  signal: AbortSignal
  requestId: string
}

interface Provenance {
  source: string
  /** Our clock, ISO 8601 UTC with milliseconds. */
  observedAt: string
  /** The registry's own statement of when its data is from; null when it makes none. */
  asOf: string | null
  consent: ConsentRef | null
  /** Lower-case hex SHA-256 of the last answer's exact bytes; null when none arrived. */
  rawSha256: string | null
  latencyMs: number
  attempts: number
  connectorVersion: string
}

export type RegistryResult<T> =
  | (Provenance & { status: 'OK'; tier: EvidenceTier; data: T; missingReason: null })
  | (Provenance & { status: 'MISSING' | 'ERROR'; tier: 'MISSING'; data: null; missingReason: MissingReason })

/** One capability of one registry. `fetch` never rejects for a registry condition. */
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
  /** For the whole exchange. */
  timeoutMs: number
  /** For the connection alone. */
  connectTimeoutMs: number
  signal: AbortSignal
}

export interface IncomingResponse {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Buffer
}

/** The registry gave no answer: its connection failed, or it was too late. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly kind: 'timeout' | 'connection'
  constructor(kind: 'timeout' | 'connection', options?: ErrorOptions) {
    super(kind === 'timeout' ? 'the registry did not answer in time' : 'the registry cannot be reached', options)
    this.kind = kind
  }
}

/**
 * One HTTP exchange, whatever the status. Redirects are not followed.
 * @throws NoAnswerError when the registry is to blame; any other error is a mistake of ours, such as a header that
 * cannot be sent
 */
export type HttpRequest = (request: OutgoingRequest) => Promise<IncomingResponse>

/** What connectors need from outside. */
export interface RegistryDeps {
  http: HttpRequest
  /** Milliseconds since the epoch. */
  now: () => number
  /** At least 0, below 1. */
  random: () => number
  /** Resolves after the delay, or as soon as the signal aborts; never rejects. */
  sleep: (delayMs: number, signal: AbortSignal) => Promise<void>
}

/** A registry that nobody configured: every question is answered MISSING/NOT_ENTITLED, and nothing is contacted. */
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
