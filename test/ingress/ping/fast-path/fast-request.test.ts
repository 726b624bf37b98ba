import test from 'ava'
import { readFastRequest } from '../../../../ingress/ping/fast-path/fast-request.ts'

const UUID = '6e1bd1b0-5b1c-4c0e-9d5f-0a3f5a3b7c11'
const request = (lines: readonly string[], first = `GET /ping/${UUID} HTTP/1.1`) =>
  `${[first, ...lines].join('\r\n')}\r\n\r\n`

test('a ping that is whole and has harmless headers is read', (t) => {
  for (const method of ['GET', 'HEAD', 'POST'])
    for (const url of [
      `/ping/${UUID}`,
      `/ping/${UUID}/fail?rid=${UUID}`,
      '/ping/key/backup-job/3?create=1',
      '/ping/%41',
    ])
      t.like(readFastRequest(request(['Host: a'], `${method} ${url} HTTP/1.1`), null), { method, url })
  const lines = ['host: a:8000', 'User-Agent:  curl/8.1 (x; y)\t', 'X-Forwarded-For: 1.2.3.4, ::1', 'Content-Length: 0']
  t.deepEqual(readFastRequest(request(lines), null)?.head.headers, {
    host: 'a:8000',
    'user-agent': 'curl/8.1 (x; y)',
    'x-forwarded-for': '1.2.3.4, ::1',
    'content-length': '0',
  })
})

test('the header Connection: close marks the last request of a connection', (t) => {
  const isLast = (value: string) => readFastRequest(request(['Host: a', `Connection: ${value}`]), null)?.head.isLast
  t.is(isLast('close'), true)
  t.is(isLast('Keep-Alive'), false)
  t.is(readFastRequest(request(['Host: a']), null)?.head.isLast, false)
})

test('the head of the request before is taken for the same text only', (t) => {
  const before = readFastRequest(request(['Host: a', 'User-Agent: one']), null)
  t.truthy(before)
  const known = before?.head ?? null
  t.is(readFastRequest(request(['Host: a', 'User-Agent: one'], 'GET /ping/x/y HTTP/1.1'), known)?.head ?? null, known)
  const other = readFastRequest(request(['Host: a', 'User-Agent: two']), known)
  t.is(other?.head.headers['user-agent'], 'two')
  t.is(readFastRequest(request(['Host: a', 'User-Agent: one']).slice(0, -2), known), null)
})

const notPlain: Record<string, string> = {
  'half a request': request(['Host: a']).slice(0, -2),
  nothing: '',
  'two requests': request(['Host: a']) + request(['Host: a']),
  'something behind it': `${request(['Host: a'])}x`,
  'a line end before it': `\r\n${request(['Host: a'])}`,
  'line ends of one character': request(['Host: a']).replaceAll('\r\n', '\n'),
  'one line end of one character': request(['Host: a', 'Accept: x']).replace('a\r\n', 'a\n'),
  'no host': request(['Accept: x']),
  'an empty host': request(['Host:']),
  'no header': `GET /ping/${UUID} HTTP/1.1\r\n\r\n`,
  'two hosts': request(['Host: a', 'host: b']),
  'a name twice': request(['Host: a', 'User-Agent: a', 'user-agent: b']),
  'a body': request(['Host: a', 'Content-Length: 1']),
  'a length that is no number': request(['Host: a', 'Content-Length: 0x0']),
  'two lengths': request(['Host: a', 'Content-Length: 0', 'Content-Length: 0']),
  'a transfer coding': request(['Host: a', 'Transfer-Encoding: chunked']),
  'an upgrade': request(['Host: a', 'Connection: Upgrade', 'Upgrade: h2c']),
  'two wishes for the connection': request(['Host: a', 'Connection: keep-alive, close']),
  'an expectation': request(['Host: a', 'Expect: 100-continue']),
  credentials: request(['Host: a', 'Authorization: Bearer x']),
  'an unknown header': request(['Host: a', 'X-Unknown: 1']),
  'a name of an object': request(['Host: a', 'constructor: 1']),
  'a space before the colon': request(['Host: a', 'Accept : x']),
  'a continued header line': request(['Host: a', 'Accept: x', ' y']),
  'a line without a colon': request(['Host: a', 'Accept']),
  'a control character': request(['Host: a', 'Accept: \x00']),
  'a letter beyond ASCII': request(['Host: a', 'User-Agent: \xe9']),
  'another version': request(['Host: a'], `GET /ping/${UUID} HTTP/1.0`),
  'another protocol': request(['Host: a'], `GET /ping/${UUID} HTTP/1.1 `),
  'two spaces': request(['Host: a'], `GET  /ping/${UUID} HTTP/1.1`),
  'another method': request(['Host: a'], `PUT /ping/${UUID} HTTP/1.1`),
  'a method in small letters': request(['Host: a'], `get /ping/${UUID} HTTP/1.1`),
  'another path': request(['Host: a'], 'GET /api/v3/checks/ HTTP/1.1'),
  'a path that begins alike': request(['Host: a'], 'GET /pings/x HTTP/1.1'),
  'no path behind it': request(['Host: a'], 'GET /ping/ HTTP/1.1'),
  'an absolute target': request(['Host: a'], `GET http://a/ping/${UUID} HTTP/1.1`),
  'a fragment': request(['Host: a'], `GET /ping/${UUID}#x HTTP/1.1`),
  'a backslash': request(['Host: a'], `GET /ping/${UUID}\\ HTTP/1.1`),
}
for (const [what, text] of Object.entries(notPlain)) {
  test(`left to Node's parser: ${what}`, (t) => {
    t.is(readFastRequest(text, null), null)
  })
}
