import { once } from 'node:events'
import { createServer } from 'node:net'
import test from 'ava'
import { createHttpClient, type HttpClientOptions } from '#shared/platform/http/http-client.ts'
import { HttpClientError, type HttpFailure } from '#shared/platform/http/http-error.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { sinkCertificate, sinkKey } from '../../support/sink-certificate.ts'

type Overrides = Partial<HttpClientOptions>
const client = (overrides: Overrides = {}) =>
  createHttpClient({
    policy: { allowPrivate: ['127.0.0.0/8', '::1'], plainHttp: 'anywhere' },
    userAgent: 'signalbox-test',
    ...overrides,
  })
const failureOf = async (request: Promise<unknown>): Promise<HttpFailure | string> => {
  const error = await request.then(
    () => 'answered',
    (thrown: unknown) => thrown,
  )
  return error instanceof HttpClientError ? error.failure : String(error)
}
const nameOf = (url: string, name: string) => url.replace('127.0.0.1', name)

test('sends method, headers and body, and returns status, headers and body', async (t) => {
  await using sink = await openHttpSink()
  await using http = client()
  sink.enqueue({ status: 418, headers: { 'retry-after': '7' }, body: 'short and stout' })
  const answer = await http.request({ method: 'PUT', url: `${sink.url}/a?b=c`, headers: { 'x-one': '1' }, body: 'tea' })
  t.is(answer.status, 418)
  t.is(answer.headers['retry-after'], '7')
  t.is(answer.body.toString(), 'short and stout')
  const [request] = sink.requests
  t.like(request, { method: 'PUT', url: '/a?b=c' })
  t.is(request?.body.toString(), 'tea')
  t.is(request?.headers['x-one'], '1')
  t.is(request?.headers['user-agent'], 'signalbox-test')
})

for (const method of ['GET', 'HEAD', 'POST', 'DELETE'] as const)
  test(`a ${method} without a body is sent at once`, async (t) => {
    await using sink = await openHttpSink()
    await using http = client()
    t.is((await http.request({ method, url: sink.url })).status, 200)
    t.is(sink.requests[0]?.method, method)
  })

test('connections are kept and used again', async (t) => {
  await using sink = await openHttpSink()
  await using http = client()
  for (let i = 0; i < 3; i += 1) await http.request({ method: 'POST', url: sink.url, body: 'x' })
  t.deepEqual([...new Set(sink.requests.map((request) => request.connection))], [1])
})

test('a kept connection that the target closed meanwhile costs a new connection, not an error', async (t) => {
  await using sink = await openHttpSink()
  await using http = client()
  await http.request({ method: 'POST', url: sink.url, body: 'first' })
  sink.enqueue({ misbehave: 'reset' })
  t.is((await http.request({ method: 'POST', url: sink.url, body: 'second' })).status, 200)
})

for (const [name, misbehave, failure] of [
  ['never answers', 'hang', 'timeout'],
  ['sends its body byte by byte for ever', 'drip', 'timeout'],
  ['drops the connection', 'reset', 'reset'],
  ['drops the connection in the middle of its answer', 'reset-midway', 'reset'],
  ['sends informational answers for ever', 'inform', 'protocol'],
  ['does not speak HTTP', 'garbage', 'protocol'],
] as const)
  test(`a target that ${name} is a ${failure}`, async (t) => {
    await using sink = await openHttpSink()
    await using http = client({ timeoutMs: failure === 'timeout' ? 400 : 30_000 })
    sink.enqueue({ misbehave })
    t.is(await failureOf(http.request({ method: 'POST', url: sink.url, body: 'x' })), failure)
  })

test('a request may have a shorter deadline than its client', async (t) => {
  await using sink = await openHttpSink()
  await using http = client({ timeoutMs: 60_000 })
  sink.enqueue({ misbehave: 'hang' })
  t.is(await failureOf(http.request({ method: 'GET', url: sink.url, timeoutMs: 50 })), 'timeout')
})

test('of an endless answer only the first 64 KiB are read', async (t) => {
  await using sink = await openHttpSink()
  await using http = client()
  sink.enqueue({ misbehave: 'huge' })
  const answer = await http.request({ method: 'GET', url: sink.url })
  t.is(answer.body.byteLength, 64 * 1024)
  t.true(answer.truncated)
})

test('a compressed answer is never expanded', async (t) => {
  await using sink = await openHttpSink()
  await using http = client()
  const bytes = Buffer.from('not really gzip')
  sink.enqueue({ headers: { 'content-encoding': 'gzip' }, body: bytes })
  const answer = await http.request({ method: 'GET', url: sink.url })
  t.deepEqual(answer.body, bytes)
  t.is(sink.requests[0]?.headers['accept-encoding'], undefined)
})

test('an answer with a thousand long headers is a protocol failure', async (t) => {
  await using sink = await openHttpSink()
  await using http = client()
  const headers = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`x-header-${i}`, 'x'.repeat(50)]))
  sink.enqueue({ headers })
  t.is(await failureOf(http.request({ method: 'GET', url: sink.url })), 'protocol')
})

test('a redirect is an answer unless following was requested', async (t) => {
  await using sink = await openHttpSink()
  await using http = client()
  sink.enqueue({ status: 302, headers: { location: '/next' } })
  t.is((await http.request({ method: 'GET', url: sink.url })).status, 302)
  t.is(sink.requests.length, 1)
})

test('redirects are followed if requested; a loop of them fails as too many', async (t) => {
  await using sink = await openHttpSink()
  await using http = client()
  sink.enqueue({ status: 302, headers: { location: '/next' } })
  t.is((await http.request({ method: 'GET', url: sink.url, followRedirects: 3 })).status, 200)
  t.is(sink.requests[1]?.url, '/next')
  sink.respond = () => ({ status: 302, headers: { location: '/round' } })
  t.is(await failureOf(http.request({ method: 'GET', url: sink.url, followRedirects: 3 })), 'redirects')
})

test('a redirect to another origin does not send the headers of the request', async (t) => {
  await using first = await openHttpSink()
  await using other = await openHttpSink()
  await using http = client()
  first.enqueue({ status: 307, headers: { location: '/again' } })
  first.enqueue({ status: 307, headers: { location: `${other.url}/elsewhere` } })
  const headers = { 'x-token': 'secret', 'content-type': 'text/plain' }
  const request = { method: 'POST', url: first.url, headers, body: 'tea', followRedirects: 3 } as const
  t.is((await http.request(request)).status, 200)
  t.is(first.requests[1]?.headers['x-token'], 'secret')
  t.is(other.requests[0]?.headers['x-token'], undefined)
  t.is(other.requests[0]?.headers['user-agent'], 'signalbox-test')
})

for (const [location, failure] of [
  ['http://10.0.0.1/', 'blocked'],
  ['http://[::ffff:10.0.0.1]/', 'blocked'],
  ['http://inner.example/', 'blocked'],
  ['http://127.0.0.1:25/', 'invalid-url'],
] as const)
  test(`a redirect to ${location} is not followed`, async (t) => {
    await using sink = await openHttpSink()
    await using http = client({ resolve: async () => ['10.0.0.1'] })
    sink.enqueue({ status: 307, headers: { location } })
    t.is(await failureOf(http.request({ method: 'POST', url: sink.url, body: 'x', followRedirects: 3 })), failure)
    t.is(sink.requests.length, 1)
  })

test('a policy that requires TLS permits plain http only to allowed networks', async (t) => {
  await using sink = await openHttpSink()
  const resolve = async (name: string) => (name === 'inner.example' ? ['127.0.0.1'] : ['93.184.216.34'])
  await using http = client({ policy: { allowPrivate: ['127.0.0.0/8'], plainHttp: 'allowed-networks' }, resolve })
  t.is((await http.request({ method: 'GET', url: nameOf(sink.url, 'inner.example') })).status, 200)
  t.is(await failureOf(http.request({ method: 'GET', url: 'http://public.example/' })), 'invalid-url')
})

test('a name whose addresses are not all allowed is never connected to', async (t) => {
  await using sink = await openHttpSink()
  await using http = client({
    policy: { allowPrivate: false, plainHttp: 'anywhere' },
    resolve: async () => ['93.184.216.34', '127.0.0.1'],
  })
  t.is(await failureOf(http.request({ method: 'GET', url: nameOf(sink.url, 'rebind.example') })), 'blocked')
  t.is(await failureOf(http.request({ method: 'GET', url: sink.url })), 'blocked')
  t.is(sink.requests.length, 0)
})

test('a name is resolved once per connection, and the checked address is the one connected to', async (t) => {
  await using sink = await openHttpSink()
  let lookups = 0
  const resolve = async () => {
    lookups += 1
    return lookups === 1 ? ['127.0.0.1'] : ['10.255.255.1']
  }
  await using http = client({ resolve })
  await http.request({ method: 'GET', url: nameOf(sink.url, 'rebind.example') })
  t.is(lookups, 1)
  t.is(sink.requests[0]?.headers.host, `rebind.example:${sink.port}`)
})

test('a local name is resolved as the machine does', async (t) => {
  await using sink = await openHttpSink()
  await using http = client()
  t.is((await http.request({ method: 'GET', url: nameOf(sink.url, 'localhost') })).status, 200)
})

test('the TLS server name is the host of the URL, not the resolved address', async (t) => {
  await using sink = await openHttpSink({ tls: { key: sinkKey, cert: sinkCertificate } })
  await using http = client({ resolve: async () => ['127.0.0.1'], certificateAuthority: sinkCertificate })
  t.is((await http.request({ method: 'GET', url: nameOf(sink.url, 'sink.test') })).status, 200)
  t.is(sink.requests[0]?.servername, 'sink.test')
})

test('a certificate for another name, and one of an unknown authority, are TLS failures', async (t) => {
  await using sink = await openHttpSink({ tls: { key: sinkKey, cert: sinkCertificate } })
  await using trusting = client({ resolve: async () => ['127.0.0.1'], certificateAuthority: sinkCertificate })
  await using strict = client({ resolve: async () => ['127.0.0.1'] })
  t.is(await failureOf(trusting.request({ method: 'GET', url: nameOf(sink.url, 'other.test') })), 'tls')
  t.is(await failureOf(strict.request({ method: 'GET', url: nameOf(sink.url, 'sink.test') })), 'tls')
  t.is(sink.requests.length, 0)
})

test('a refused connection, an unknown name and missing TLS have separate failures', async (t) => {
  const closed = await openHttpSink({ host: '127.0.0.9' })
  await closed[Symbol.asyncDispose]()
  await using plain = await openHttpSink()
  await using http = client({
    resolve: async (name) => {
      if (name === 'nowhere.example') throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })
      return ['127.0.0.1']
    },
  })
  t.is(await failureOf(http.request({ method: 'GET', url: closed.url })), 'connect')
  t.is(await failureOf(http.request({ method: 'GET', url: 'http://nowhere.example/' })), 'dns')
  t.is(await failureOf(http.request({ method: 'GET', url: plain.url.replace('http:', 'https:') })), 'tls')
})

test('a target that accepts the connection and then stays silent in the TLS handshake is a time-out', async (t) => {
  const silent = createServer()
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const address = silent.address()
  if (address === null || typeof address === 'string') return t.fail()
  await using http = client({ connectTimeoutMs: 100 })
  t.is(await failureOf(http.request({ method: 'GET', url: `https://127.0.0.1:${address.port}/` })), 'timeout')
})

test('error texts hold no addresses', async (t) => {
  const closed = await openHttpSink({ host: '127.0.0.9' })
  await closed[Symbol.asyncDispose]()
  await using http = client()
  const error = await t.throwsAsync(http.request({ method: 'GET', url: closed.url }), { instanceOf: HttpClientError })
  t.is(error.message, 'Connection failed')
})

test('a proxy named in the environment is ignored', async (t) => {
  await using proxy = await openHttpSink()
  await using sink = await openHttpSink()
  const before = { ...process.env }
  t.teardown(() => {
    process.env = before
  })
  Object.assign(process.env, { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NODE_USE_ENV_PROXY: '1' })
  await using http = client()
  await http.request({ method: 'GET', url: sink.url })
  t.is(proxy.requests.length, 0)
  t.is(sink.requests.length, 1)
})

test('an unanswered request delays only requests to its own origin', async (t) => {
  await using slow = await openHttpSink()
  await using quick = await openHttpSink()
  await using http = client({ maxSocketsPerHost: 1, timeoutMs: 60_000 })
  slow.respond = () => ({ misbehave: 'hang' })
  const stop = new AbortController()
  const { signal } = stop
  const hanging = [1, 2, 3].map(() => failureOf(http.request({ method: 'GET', url: slow.url, signal })))
  await slow.waitFor(1)
  t.is((await http.request({ method: 'GET', url: quick.url })).status, 200)
  stop.abort()
  t.deepEqual(await Promise.all(hanging), ['aborted', 'aborted', 'aborted'])
  const late = [1, 2, 3].map(() => failureOf(http.request({ method: 'GET', url: slow.url, timeoutMs: 400 })))
  t.deepEqual(await Promise.all(late), ['timeout', 'timeout', 'timeout'])
})

test('a request ends with its signal, and with its own deadline for the connection', async (t) => {
  const closed: Promise<unknown>[] = []
  const silent = createServer((socket) => {
    closed.push(once(socket, 'close'))
    socket.on('error', () => {}).resume()
  })
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const address = silent.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const longTimeouts = { timeoutMs: 3_600_000, connectTimeoutMs: 3_600_000 }
  await using http = client(longTimeouts)
  const stop = new AbortController()
  const stopped = failureOf(http.request({ method: 'GET', url: `http://127.0.0.1:${port}/`, signal: stop.signal }))
  await once(silent, 'connection')
  stop.abort()
  t.is(await stopped, 'aborted')
  const late = http.request({ method: 'GET', url: `https://127.0.0.1:${port}/`, connectTimeoutMs: 50 })
  t.is(await failureOf(late), 'timeout')
  await Promise.all(closed)
  silent.close()
})
