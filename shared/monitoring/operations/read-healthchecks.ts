import { setTimeout as sleep } from 'node:timers/promises'
import { UnavailableError, ValidationError } from '../../errors.ts'
import type { HttpAnswer, HttpClient } from '../../platform/http/http-client.ts'
import { createHttpClient } from '../../platform/http/http-client.ts'
import { HttpClientError } from '../../platform/http/http-error.ts'
import type { Config } from '../../platform/process/config.ts'
import { type JsonObject, parseJsonBody } from '../checks/json-body.ts'
import type { HealthchecksAnswers } from '../move-in/healthchecks.ts'

const TIMEOUT_MS = 15_000
const MAX_BYTES = 20 * 1024 * 1024
const MAX_REDIRECTS = 3
/** Total time of the pauses that a busy server requests. */
const MAX_WAIT_SECONDS = 60

/** Returns a client that follows the target policy of integrations. The caller disposes it. */
export function importClient(config: Pick<Config, 'allowPrivateTargets' | 'siteName'>): HttpClient {
  const policy = { allowPrivate: config.allowPrivateTargets, plainHttp: 'anywhere' } as const
  return createHttpClient({ policy, userAgent: config.siteName, timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_BYTES })
}

/**
 * Reads checks, channels and badges from the newest version of the management API that the server has.
 * @throws ValidationError if the key is refused or the answer is not readable, UnavailableError without an answer. No
 *   message contains the key
 */
export async function readHealthchecks(
  http: HttpClient,
  { url, apiKey }: { url: string; apiKey: string },
): Promise<HealthchecksAnswers> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new ValidationError('the address must begin with https:// or http:// and a host name')
  }
  if (!/^[\x21-\x7e]{1,256}$/.test(apiKey)) {
    throw new ValidationError('the API key must have 1 to 256 printable characters, without spaces')
  }
  const base = url.replace(/\/+$/, '')
  const wait = { leftSeconds: MAX_WAIT_SECONDS }
  const get = (path: string) => request(http, { url: `${base}${path}`, apiKey }, wait)
  for (const version of ['v3', 'v2', 'v1']) {
    const answer = await get(`/api/${version}/checks/`)
    if (answer.status === 404) continue
    const checks = bodyOf(answer, 'checks')
    const optional = async (name: string) => {
      const other = await get(`/api/${version}/${name}/`)
      return other.status === 200 ? bodyOf(other, name) : null
    }
    return { checks, channels: await optional('channels'), badges: await optional('badges') }
  }
  throw new ValidationError('this address has no management API of Healthchecks: give the address of its pages')
}

async function request(
  http: HttpClient,
  { url, apiKey }: { url: string; apiKey: string },
  wait: { leftSeconds: number },
): Promise<HttpAnswer> {
  for (;;) {
    const answer = await send(http, url, apiKey)
    if (answer.status !== 429) return answer
    const seconds = Math.max(1, Number(answer.headers['retry-after'] ?? 1) || 1)
    if (seconds > wait.leftSeconds) throw new UnavailableError('the other service limits its requests; retry later')
    wait.leftSeconds -= seconds
    await sleep(seconds * 1000)
  }
}

async function send(http: HttpClient, url: string, apiKey: string): Promise<HttpAnswer> {
  try {
    const headers = { 'X-Api-Key': apiKey, Accept: 'application/json' }
    return await http.request({ method: 'GET', url, headers, followRedirects: MAX_REDIRECTS })
  } catch (error) {
    if (error instanceof HttpClientError) throw new UnavailableError(unreadable(url, error))
    throw error
  }
}

function unreadable(url: string, { failure, message }: HttpClientError): string {
  const { protocol, hostname, port } = new URL(url)
  const remedy = failure === 'blocked' ? '; the operator can allow them with the setting ALLOW_PRIVATE_TARGETS' : ''
  return `${hostname}:${port || (protocol === 'http:' ? 80 : 443)} cannot be read: ${message}${remedy}`
}

function bodyOf({ status, body, truncated }: HttpAnswer, what: string): JsonObject {
  if (status === 401 || status === 403)
    throw new ValidationError('the other service refuses the API key: is it the read-write key?')
  if (status !== 200) throw new ValidationError(`the other service answers ${status} to the request for ${what}`)
  if (truncated) throw new ValidationError(`the list of ${what} is larger than 20 MiB`)
  const parsed = parseJsonBody(body)
  if (!parsed.ok) throw new ValidationError(`the list of ${what} is not JSON`)
  return parsed.body
}
