import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { HttpClientError, type HttpFailure } from '#shared/platform/http/http-error.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { createBreakers } from '#shared/risk/registries/breaker.ts'
import { type HttpRequest, NoAnswerError, type RegistryDeps } from '#shared/risk/registries/connector.ts'
import { createRegistrySet, parseRegistryConfig, type RegistrySet } from '#shared/risk/registries/registry-set.ts'

/** `http` differs between environments. */
export function registryTools(nowMs: () => number): Omit<RegistryDeps, 'http'> {
  return {
    now: nowMs,
    random: Math.random,
    sleep,
  }
}

/** Resolves early on an abort instead of throwing, because every call aborts its sleep. */
function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delayMs)
    signal.addEventListener('abort', end)
  })
}

/** Live as long as the process, because breakers have state. @throws Error if REGISTRIES is invalid */
export function openProductionRegistries(
  config: Config,
  tools: Omit<RegistryDeps, 'http'>,
): { registries: RegistrySet } & AsyncDisposable {
  const configured = parseRegistryConfig(config.registries)
  // Addresses come from the operator, not from strangers, so a gateway may be inside the operator's network.
  const client = createHttpClient({
    policy: { allowPrivate: true, plainHttp: 'anywhere' },
    userAgent: 'signalbox',
    maxBodyBytes: MAX_ANSWER_BYTES,
  })
  const http: HttpRequest = async (request) => {
    const answer = await client.request(request).catch((error: unknown) => {
      throw noAnswerOf(error)
    })
    // A truncated response cannot be hashed or parsed, so it counts as no response.
    if (answer.truncated) throw new Error('the answer is too long')
    return { status: answer.status, headers: answer.headers, body: answer.body }
  }
  return {
    registries: createRegistrySet(configured, { ...tools, http }, createBreakers()),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** Other failures, for example an invalid header, are internal errors. */
const connectionFailures: readonly HttpFailure[] = ['dns', 'connect', 'tls', 'reset']

function noAnswerOf(error: unknown): unknown {
  if (!(error instanceof HttpClientError)) return error
  if (error.failure === 'timeout') return new NoAnswerError('timeout', { cause: error })
  return connectionFailures.includes(error.failure) ? new NoAnswerError('connection', { cause: error }) : error
}
