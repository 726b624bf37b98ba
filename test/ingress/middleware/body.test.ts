import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import test from 'ava'
import { openBody } from '../../../ingress/middleware/body.ts'
import { RequestTimeoutError } from '../../../ingress/middleware/request-safety.ts'
import { documentedRoutes } from '../../../ingress/openapi.ts'
import type { Route } from '../../../ingress/route.ts'
import { allRoutes } from '../../fuzz/routes.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join } from '../web/people.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const MAX_BODY = 2_621_440

/** A request whose body never ends. */
interface Unfinished {
  /** Returns the response; the connection stays open. */
  answered(): Promise<string>
  answer(): string
  close(): void
}

async function sendUnfinished(
  path: string,
  headers: Readonly<Record<string, string>>,
  beginning: string,
  length: number,
  method = 'POST',
): Promise<Unfinished> {
  const socket = connect(app.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  socket.on('error', () => {})
  await once(socket, 'connect')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n${lines.join('')}\r\n${beginning}`,
  )
  return {
    answered: () => eventually(`a response of ${path}`, () => (answer.includes('\r\n\r\n') ? answer : undefined)),
    answer: () => answer,
    close: () => socket.destroy(),
  }
}

/** The status of a request before its body has ended. */
async function statusOf(
  path: string,
  headers: Readonly<Record<string, string>>,
  beginning = '',
  method = 'POST',
): Promise<number> {
  const request = await sendUnfinished(path, headers, beginning, 1_000_000, method)
  const answer = await request.answered()
  request.close()
  return Number(answer.slice(9, 12))
}

function pathOf({ path, params }: Route): string {
  const examples: Readonly<Record<string, { example: string }>> = params
  return path.replace(/\{(\w+)\}/g, (_, name: string) => examples[name]?.example ?? '')
}

/** The first 80 kB of a larger JSON object. */
const LONG = `{"x":"${'a'.repeat(80_000)}`

test('every route with a body refuses a caller without a credential before the body has ended', async (t) => {
  const secured = documentedRoutes.filter(({ body, security }) => body && security.length > 0)
  t.true(secured.length > 50)
  const wrong: string[] = []
  for (const route of secured) {
    const headers = { 'Content-Type': 'application/json', 'X-Idempotency-Key': 'unfinished-1' }
    const beginning = route.path.startsWith('/api/') ? LONG : ''
    const status = await statusOf(pathOf(route), headers, beginning, route.method.toUpperCase())
    // 503: not configured in this product.
    if (status !== 401 && status !== 503) wrong.push(`${route.method} ${route.path}: ${status}`)
  }
  t.deepEqual(wrong, [])
})

test('every form refuses a long body without a valid token in its first bytes', async (t) => {
  const forms = allRoutes(app.deps).filter(({ method, kind }) => method === 'POST' && kind === 'page')
  t.true(forms.length > 50)
  const wrong: string[] = []
  for (const { path } of forms) {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const status = await statusOf(path.replace(/\{\w+\}/g, 'x'), type, `a=${'a'.repeat(80_000)}`)
    // 404: a link whose token is in its path; 415: an upload.
    if (![403, 404, 415].includes(status)) wrong.push(`${path}: ${status}`)
  }
  t.deepEqual(wrong, [])
})

test('a form has at most 25,000 fields', async (t) => {
  const owner = await join(app, await createTeam(app, 'Fields'), 'owner')
  const token = await owner.token('/account')
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const post = async (fields: number) => {
    const body = `_csrf=${encodeURIComponent(token)}${'&a='.repeat(fields - 1)}`
    const { status, text } = await owner.sendBody('/account/name', body, headers)
    return [status, text.includes('the form has more than 25000 fields')]
  }
  t.deepEqual(await post(25_001), [400, true])
  t.false((await post(25_000))[1])
})

test('a wrong key in the header is refused before a byte of the body', async (t) => {
  for (const key of ['', 'x', `hcw_${'z'.repeat(28)}`])
    t.is(await statusOf('/api/v3/checks/', { 'X-Api-Key': key }), 401)
})

test('a mail without a signed recipient is ignored before it has ended', async (t) => {
  t.is(await statusOf('/api/v3/bounces/', {}, 'X: y\r\n'.repeat(20_000)), 200)
})

test('a signed event is refused before it is read if it has no signature or no integration', async (t) => {
  const path = '/v1/colending/lms-events/7f0c2a52-3d0b-4b7e-9d57-0a4f2c8e1b33'
  t.is(await statusOf(path, {}), 401)
  t.is(await statusOf(path, { 'x-lms-signature': 'a'.repeat(64) }), 401)
})

test('a key in a long body must be in its first 64 kB', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const desc = 'a'.repeat(100_000)
  const create = async (body: string) => {
    const answer = await send(app.url, '/api/v3/checks/', { method: 'POST', body })
    return [answer.status, (jsonOf(answer) as { error?: string }).error]
  }
  t.deepEqual(await create(JSON.stringify({ api_key: rwKey, x: desc })), [201, undefined])
  t.deepEqual(await create(JSON.stringify({ x: desc, api_key: rwKey })), [401, 'missing api key'])
  t.deepEqual(await create(`{"a": 1 "b", ${desc}`), [400, 'could not parse request body'])
  const twice = `{"api_key":"${rwKey}","x":"${desc}","api_key":"x"}`
  t.deepEqual(await create(twice), [400, 'json validation error: api_key must not be given twice'])
})

test('a body of the API has at most 20,000 values, and a document of an import more', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const headers = { 'X-Api-Key': rwKey }
  const body = JSON.stringify({ x: Array(20_000).fill(1) })
  const create = await send(app.url, '/api/v3/checks/', { method: 'POST', headers, body })
  t.is(create.status, 400)
  t.deepEqual(jsonOf(create), { error: 'json validation error: the body has more than 20000 values' })
  const plan = await send(app.url, '/api/v3/import?plan=1', {
    method: 'POST',
    headers,
    body: JSON.stringify({ version: 1, checks: [], x: Array(20_000).fill(1) }),
  })
  t.is(plan.status, 200)
})

test('an address that holds too many body bytes gets 503, others are served, and closing frees them', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const from = (address: string) => ({ 'X-Api-Key': rwKey, 'X-Forwarded-For': address })
  const beginning = `{"x":"${'a'.repeat(MAX_BODY - 100)}`
  const status = async (address: string) => {
    const body = `${beginning}"}`
    const answer = await send(app.url, '/api/v3/checks/', { method: 'POST', headers: from(address), body })
    return answer.status
  }
  const held = await Promise.all(
    Array.from({ length: 20 }, () => sendUnfinished('/api/v3/checks/', from('198.51.100.7'), beginning, MAX_BODY)),
  )
  const refused = await eventually('a refusal', () => held.find((request) => request.answer().includes('\r\n\r\n')))
  t.regex(refused.answer(), /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n/)
  t.is(await status('198.51.100.8'), 201)
  for (const request of held) request.close()
  await eventually('the bytes to be free', async () => (await status('198.51.100.7')) === 201)
})

test('a body that stops arriving ends with a timeout', async (t) => {
  const failed = Promise.withResolvers<unknown>()
  const server = createServer((request) => {
    openBody(request, 1_000, 50).all().then(failed.resolve, failed.resolve)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx')
  t.true((await failed.promise) instanceof RequestTimeoutError)
  socket.destroy()
  server.close()
})
