import http from 'node:http'
import https from 'node:https'
import type { Got } from 'got'
import { traced, traceHeaders } from '../process/tracing.ts'
import { BlockedTargetError, classifyFailure, HttpClientError } from './http-error.ts'
import { openSystemResolver, pinnedLookup } from './resolve.ts'
import { type CompiledPolicy, checkUrl, compilePolicy, type Resolve, type TargetPolicy } from './target-policy.ts'

export interface HttpClientOptions {
  policy: TargetPolicy
  userAgent: string
  /** total timeout, including redirects and body; default 15 s */
  timeoutMs?: number
  /** timeout for each of DNS, connect and TLS handshake; default 5 s */
  connectTimeoutMs?: number
  /** concurrent connections per origin; further requests to it wait. Default 64 */
  maxSocketsPerHost?: number
  /** maximum stored size of a response body; the rest is not read. Default 64 KiB */
  maxBodyBytes?: number
  /** additional trust anchors (PEM), for networks with a private certificate authority */
  certificateAuthority?: string
  resolve?: Resolve
}

export interface OutgoingRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'
  url: string
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer
  timeoutMs?: number
  connectTimeoutMs?: number
  signal?: AbortSignal
  /** maximum number of redirects, each checked like the first URL; by default none, and a 3xx is the result */
  followRedirects?: number
}

export interface HttpAnswer {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
  truncated: boolean
  durationMs: number
}

export interface HttpClient extends AsyncDisposable {
  /** @throws HttpClientError without a complete response; any status counts as a response */
  request(request: OutgoingRequest): Promise<HttpAnswer>
}

/** Maximum number of 1xx responses, so that a target cannot use them until the deadline. */
const maxInformational = 20

/**
 * Uses checked and pinned addresses and no proxies of the environment (docs/spec/transparency.md#webhook-endpoints,
 * faults B29-B31, F22). got's retries are off, because stored rows schedule retries.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const policy = compilePolicy(options.policy)
  const resolve = options.resolve ?? openSystemResolver()
  const maxBodyBytes = options.maxBodyBytes ?? 64 * 1024
  const timeoutMs = options.timeoutMs ?? 15_000
  const agents = openAgents(policy, resolve, options)
  let instance: Promise<Got> | undefined
  return {
    async request(requested) {
      return await traced(
        () => `HTTP ${requested.method}`,
        'client',
        {},
        () => send({ ...requested, headers: { ...requested.headers, ...traceHeaders() } }),
      )
    },
    async [Symbol.asyncDispose]() {
      agents.http.destroy()
      agents.https.destroy()
    },
  }

  async function send(request: OutgoingRequest): Promise<HttpAnswer> {
    const result = checkUrl(request.url, policy)
    if (!result.ok) {
      throw classifyFailure(new BlockedTargetError(result.reason))
    }
    const startedAt = performance.now()
    instance ??= configure(policy, agents, { ...options, timeoutMs })
    const client = await instance
    const first = await attempt(client, result.url, request, maxBodyBytes)
    if (!(first instanceof StaleConnection)) return first
    const leftMs = Math.max(1, Math.ceil((request.timeoutMs ?? timeoutMs) - (performance.now() - startedAt)))
    const second = await attempt(client, result.url, { ...request, timeoutMs: leftMs }, maxBodyBytes)
    if (second instanceof StaleConnection) throw second.error
    return second
  }
}

/** The target closed an idle connection before it answered. */
class StaleConnection {
  readonly error: HttpClientError
  constructor(error: HttpClientError) {
    this.error = error
  }
}

function attempt(
  instance: Got,
  url: URL,
  request: OutgoingRequest,
  maxBodyBytes: number,
): Promise<HttpAnswer | StaleConnection> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const redirects = request.followRedirects ?? 0
    const mayHaveBody = request.method !== 'GET' && request.method !== 'HEAD'
    const stream = instance.stream(url, {
      method: request.method,
      ...(request.headers && { headers: request.headers }),
      // Without a body, got would wait for piped input.
      ...(mayHaveBody && { body: request.body ?? '' }),
      timeout: {
        ...(request.connectTimeoutMs !== undefined && connectTimeouts(request.connectTimeoutMs)),
        ...(request.timeoutMs !== undefined && { request: request.timeoutMs }),
      },
      ...(request.signal && { signal: request.signal }),
      ...(redirects > 0 && { followRedirect: true, maxRedirects: redirects }),
    })
    const chunks: Buffer[] = []
    let size = 0
    let informational = 0
    let done = false
    let answer: Pick<HttpAnswer, 'status' | 'headers'> | undefined

    const finish = (truncated: boolean) => {
      if (done || !answer) return
      done = true
      const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
      stream.destroy()
      resolve({ ...answer, body, truncated, durationMs: performance.now() - startedAt })
    }
    stream.on('response', (response: http.IncomingMessage) => {
      answer = { status: response.statusCode ?? 0, headers: response.headers }
    })
    stream.on('data', (chunk: Buffer) => {
      const room = maxBodyBytes - size
      size += chunk.byteLength
      chunks.push(chunk.byteLength > room ? chunk.subarray(0, room) : chunk)
      if (size > maxBodyBytes) finish(true)
    })
    stream.once('end', () => finish(false))
    stream.on('information', () => {
      informational += 1
      if (informational > maxInformational) stream.destroy(new HttpClientError('protocol'))
    })
    // `on`, not `once`: got may emit a second error, and an unhandled one ends the process.
    stream.on('error', (error: unknown) => {
      if (done) return
      done = true
      const failure = classifyFailure(error)
      const stale = failure.failure === 'reset' && !answer && stream.reusedSocket === true
      if (stale) resolve(new StaleConnection(failure))
      else reject(failure)
    })
  })
}

interface Agents {
  http: http.Agent
  https: https.Agent
}

/** Separate agents use no proxy of the environment and pin lookups. */
function openAgents(policy: CompiledPolicy, resolve: Resolve, options: HttpClientOptions): Agents {
  const maxSockets = options.maxSocketsPerHost ?? 64
  const common = {
    keepAlive: true,
    maxSockets,
    maxFreeSockets: maxSockets,
    scheduling: 'lifo' as const,
    timeout: 30_000,
  }
  return {
    http: new http.Agent({ ...common, lookup: pinnedLookup(policy, resolve, true) }),
    https: new https.Agent({ ...common, lookup: pinnedLookup(policy, resolve, false) }),
  }
}

/** Headers that are sent to another origin after a redirect; they only describe the message format. */
const crossOriginHeaders = new Set(['accept', 'content-length', 'content-type', 'user-agent'])

/** Loads got with the first request, because few processes send any at rest. */
async function configure(
  policy: CompiledPolicy,
  agents: Agents,
  options: HttpClientOptions & { timeoutMs: number },
): Promise<Got> {
  const { default: got } = await import('got')
  const connect = options.connectTimeoutMs ?? 5_000
  return got.extend({
    agent: agents,
    decompress: false,
    throwHttpErrors: false,
    followRedirect: false,
    retry: { limit: 0 },
    headers: { 'user-agent': options.userAgent },
    timeout: { ...connectTimeouts(connect), request: options.timeoutMs },
    ...(options.certificateAuthority && { https: { certificateAuthority: options.certificateAuthority } }),
    hooks: {
      beforeRedirect: [
        (updated, response) => {
          const result = checkUrl(updated.url instanceof URL ? updated.url : String(updated.url), policy)
          if (!result.ok) throw new BlockedTargetError(result.reason)
          // Headers of the target's owner, for example a token, must not reach another origin.
          if (result.url.origin === new URL(response.url).origin) return
          const kept = Object.entries(updated.headers).filter(([name]) => crossOriginHeaders.has(name.toLowerCase()))
          updated.headers = Object.fromEntries(kept)
        },
      ],
    },
  })
}

function connectTimeouts(ms: number) {
  return { lookup: ms, connect: ms, secureConnect: ms }
}
