import test from 'ava'
import { parseFastRequest, pingAddresses } from '../../../../ingress/ping/fast-path/fast-request.ts'

const UUID = '6e1bd1b0-5b1c-4c0e-9d5f-0a3f5a3b7c11'
const request = (lines: readonly string[], first = `GET /ping/${UUID} HTTP/1.1`) =>
  `${[first, ...lines].join('\r\n')}\r\n\r\n`

test('parses complete pings with harmless headers', (t) => {
  for (const method of ['GET', 'HEAD', 'POST'])
    for (const url of [
      `/ping/${UUID}`,
      `/ping/${UUID}/fail?rid=${UUID}`,
      '/ping/key/backup-job/3?create=1',
      '/ping/%41',
    ])
      t.like(parseFastRequest(request(['Host: a'], `${method} ${url} HTTP/1.1`), null), { method, url })
  const lines = ['host: a:8000', 'User-Agent:  curl/8.1 (x; y)\t', 'X-Forwarded-For: 1.2.3.4, ::1', 'Content-Length: 0']
  t.deepEqual(parseFastRequest(request(lines), null)?.head.headers, {
    host: 'a:8000',
    'user-agent': 'curl/8.1 (x; y)',
    'x-forwarded-for': '1.2.3.4, ::1',
    'content-length': '0',
  })
})

test('marks a request with Connection: close as the last of its connection', (t) => {
  const isLast = (value: string) => parseFastRequest(request(['Host: a', `Connection: ${value}`]), null)?.head.isLast
  t.is(isLast('close'), true)
  t.is(isLast('Keep-Alive'), false)
  t.is(parseFastRequest(request(['Host: a']), null)?.head.isLast, false)
})

test('reuses the previous head only if the header text is equal', (t) => {
  const first = parseFastRequest(request(['Host: a', 'User-Agent: one']), null)
  t.truthy(first)
  const previous = first?.head ?? null
  t.is(
    parseFastRequest(request(['Host: a', 'User-Agent: one'], 'GET /ping/x/y HTTP/1.1'), previous)?.head ?? null,
    previous,
  )
  const other = parseFastRequest(request(['Host: a', 'User-Agent: two']), previous)
  t.is(other?.head.headers['user-agent'], 'two')
  t.is(parseFastRequest(request(['Host: a', 'User-Agent: one']).slice(0, -2), previous), null)
})

const notFast: Record<string, string> = {
  'an incomplete request': request(['Host: a']).slice(0, -2),
  'an empty text': '',
  'two requests': request(['Host: a']) + request(['Host: a']),
  'data after the request': `${request(['Host: a'])}x`,
  'a line end before the request': `\r\n${request(['Host: a'])}`,
  'line ends without CR': request(['Host: a']).replaceAll('\r\n', '\n'),
  'one line end without CR': request(['Host: a', 'Accept: x']).replace('a\r\n', 'a\n'),
  'no host': request(['Accept: x']),
  'an empty host': request(['Host:']),
  'no header': `GET /ping/${UUID} HTTP/1.1\r\n\r\n`,
  'two Host headers': request(['Host: a', 'host: b']),
  'a header twice': request(['Host: a', 'User-Agent: a', 'user-agent: b']),
  'a body': request(['Host: a', 'Content-Length: 1']),
  'a Content-Length that is not decimal': request(['Host: a', 'Content-Length: 0x0']),
  'two Content-Length headers': request(['Host: a', 'Content-Length: 0', 'Content-Length: 0']),
  'a transfer coding': request(['Host: a', 'Transfer-Encoding: chunked']),
  'an upgrade': request(['Host: a', 'Connection: Upgrade', 'Upgrade: h2c']),
  'two Connection options': request(['Host: a', 'Connection: keep-alive, close']),
  'an expectation': request(['Host: a', 'Expect: 100-continue']),
  credentials: request(['Host: a', 'Authorization: Bearer x']),
  'an unknown header': request(['Host: a', 'X-Unknown: 1']),
  'a header named like an object member': request(['Host: a', 'constructor: 1']),
  'a space before the colon': request(['Host: a', 'Accept : x']),
  'a continued header line': request(['Host: a', 'Accept: x', ' y']),
  'a line without a colon': request(['Host: a', 'Accept']),
  'a control character': request(['Host: a', 'Accept: \x00']),
  'a character outside ASCII': request(['Host: a', 'User-Agent: \xe9']),
  'HTTP/1.0': request(['Host: a'], `GET /ping/${UUID} HTTP/1.0`),
  'a space after the version': request(['Host: a'], `GET /ping/${UUID} HTTP/1.1 `),
  'two spaces': request(['Host: a'], `GET  /ping/${UUID} HTTP/1.1`),
  'a method other than GET, HEAD and POST': request(['Host: a'], `PUT /ping/${UUID} HTTP/1.1`),
  'a lower-case method': request(['Host: a'], `get /ping/${UUID} HTTP/1.1`),
  'a path outside /ping/': request(['Host: a'], 'GET /api/v3/checks/ HTTP/1.1'),
  'a path that begins with /pings': request(['Host: a'], 'GET /pings/x HTTP/1.1'),
  'no path after /ping/': request(['Host: a'], 'GET /ping/ HTTP/1.1'),
  'an absolute target': request(['Host: a'], `GET http://a/ping/${UUID} HTTP/1.1`),
  'a fragment': request(['Host: a'], `GET /ping/${UUID}#x HTTP/1.1`),
  'a backslash': request(['Host: a'], `GET /ping/${UUID}\\ HTTP/1.1`),
}
for (const [what, text] of Object.entries(notFast)) {
  test(`leaves to Node's parser: ${what}`, (t) => {
    t.is(parseFastRequest(text, null), null)
  })
}

test('the path of PUBLIC_URL is removed; without it the address is read too, and no other', (t) => {
  const addresses = pingAddresses('/a.b/hc')
  const read = (url: string) => parseFastRequest(request(['Host: a'], `GET ${url} HTTP/1.1`), null, addresses)?.url
  t.is(read(`/a.b/hc/ping/${UUID}/fail`), `/ping/${UUID}/fail`)
  t.is(read(`/ping/${UUID}`), `/ping/${UUID}`)
  for (const url of [`/a_b/hc/ping/${UUID}`, `/hc/ping/${UUID}`, `/a.b/hc/a.b/hc/ping/${UUID}`, '/a.b/hc/checks'])
    t.is(read(url), undefined, url)
})

test('a path of PUBLIC_URL with the first letters of /ping is not taken from addresses without it', (t) => {
  for (const basePath of ['/p', '/pin']) {
    const addresses = pingAddresses(basePath)
    for (const url of [`/ping/${UUID}`, `${basePath}/ping/${UUID}`])
      t.is(
        parseFastRequest(request(['Host: a'], `GET ${url} HTTP/1.1`), null, addresses)?.url,
        `/ping/${UUID}`,
        `${basePath}: ${url}`,
      )
  }
})
