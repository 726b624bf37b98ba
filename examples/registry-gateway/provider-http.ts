import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { HttpClientError } from '#shared/platform/http/http-error.ts'
import { type HttpRequest, NoAnswerError } from '#shared/risk/registries/connector.ts'
import { unparseable } from './rules.ts'

const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** Opens the HTTP client for providers: no redirects, no plain http except loopback, at most 8 MiB. */
export function openProviderHttp(): { http: HttpRequest } & AsyncDisposable {
  const client = createHttpClient({
    policy: { allowPrivate: ['127.0.0.0/8', '::1/128'], plainHttp: 'allowed-networks' },
    userAgent: 'signalbox-registry-gateway',
    maxBodyBytes: MAX_ANSWER_BYTES,
  })
  const http: HttpRequest = async (request) => {
    const answer = await client.request(request).catch((error: unknown) => {
      const isTimeout = error instanceof HttpClientError && ['timeout', 'aborted'].includes(error.failure)
      throw new NoAnswerError(isTimeout ? 'timeout' : 'connection', { cause: error })
    })
    if (answer.truncated) throw unparseable()
    return { status: answer.status, headers: answer.headers, body: answer.body }
  }
  return { http, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() }
}
