import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import test from 'ava'
import { parseSync } from 'oxc-parser'
import { documentedRoutes } from '../../../ingress/openapi.ts'
import type { Operation } from '../../../ingress/web/docs/reference.ts'
import { openClient, send as request } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

type Documented = Omit<Operation, 'method' | 'path' | 'tag'>

const LANGUAGES = ['curl', 'Python', 'JavaScript'] as const
const MAX_BYTES = 200_000
const MAX_NODES = 4_000

let app: HttpProduct
let operations: { method: string; path: string; documented: Documented }[] = []
/** Pages by id of the operation, as text without markup and as HTML. */
const pages = new Map<string, { html: string; text: string }>()

test.before(async () => {
  app = await sharedProduct()
  const { paths } = jsonOf(await send(app.url, '/openapi.json')) as {
    paths: Record<string, Record<string, Documented>>
  }
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) => ({ method, path, documented })),
  )
  for (const { documented } of operations) {
    const { text: html } = await send(app.url, `/docs/${documented.operationId}`)
    pages.set(documented.operationId, { html, text: plain(html.replace(/<[^>]*>/g, '')) })
  }
})

function plain(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

function exampleOf(operationId: string, language: string): string {
  const { html = '' } = pages.get(operationId) ?? {}
  const [, code = ''] = new RegExp(`aria-label="example in ${language}"><code>([^<]*)</code>`).exec(html) ?? []
  return plain(code)
}

test('each operation has a page with its texts, parameters, statuses and examples', async (t) => {
  const { text: index } = await send(app.url, '/docs')
  t.true(operations.length > 280)
  for (const { method, path, documented } of operations) {
    const { operationId, summary, description = '', parameters = [], responses } = documented
    const { html, text } = pages.get(operationId) ?? { html: '', text: '' }
    t.true(index.includes(`href="/docs/${operationId}"`), operationId)
    const texts = [
      ...[summary, description].map((one) => one.replaceAll('`', '')),
      `${method.toUpperCase()} ${path}`,
      ...parameters.flatMap((parameter) => [`${parameter.name} ${parameter.in},`, parameter.description ?? '']),
      ...Object.entries(responses).flatMap(([status, one]) => [status, one.description]),
    ]
    for (const one of texts) t.true(text.includes(one.replaceAll('`', '')), `${operationId}: ${one}`)
    for (const language of LANGUAGES) t.true(exampleOf(operationId, language).includes(app.url), operationId)
    t.true(Buffer.byteLength(html) < MAX_BYTES && (html.match(/<[a-z]/g) ?? []).length < MAX_NODES, operationId)
  }
})

test('a page shows the members of nested schemas once, with type, limits and description', (t) => {
  const { html = '', text = '' } = pages.get('createCheck') ?? {}
  t.regex(text, /schedule string, at most 100 charactersCron or systemd OnCalendar expression; wins over timeout\./)
  t.regex(text, /severity "info" \| "warning" \| "critical" or null`?critical by default/)
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
  t.deepEqual(ids, [...new Set(ids)])
  for (const [, id = ''] of html.matchAll(/href="#([^"]+)"/g)) t.true(ids.includes(id), id)
})

test('all examples are valid in their language', (t) => {
  const all = (language: string) => operations.map(({ documented }) => exampleOf(documented.operationId, language))
  execFileSync('bash', ['-n'], { input: all('curl').join('\n') })
  execFileSync('python3', ['-c', 'import ast, json, sys; [ast.parse(text) for text in json.load(sys.stdin)]'], {
    input: JSON.stringify(all('Python')),
  })
  for (const code of all('JavaScript')) t.deepEqual(parseSync('example.mjs', code).errors, [], code)
})

/** Operations that need a worker or an earlier record. */
const NOT_READY = new Set(['getOprfKey', 'getLatestSnapshot'])

test('examples of reads succeed against the product', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const { token } = await openClient(app, app.url)
  const env = { PATH: process.env.PATH, API_KEY: rwKey, TOKEN: token }
  const reads = operations.filter(({ method, path, documented }) => {
    const isOpen =
      documented.security.length === 0 || /projectKey|accessToken/.test(JSON.stringify(documented.security))
    const needed = documented.parameters?.some(({ required }) => required) ?? false
    const isReady = !NOT_READY.has(documented.operationId) && !path.startsWith('/v1/oauth/authorize')
    return method === 'get' && isOpen && !needed && isReady
  })
  t.true(reads.length > 30)
  const ids = reads.map(({ documented }) => documented.operationId)
  const script = ids.map((id) =>
    exampleOf(id, 'curl').replace('curl ', `curl -s -m 20 -o /dev/null -w '%{http_code} ${id}\\n' `),
  )
  const expected = ids.map((id) => `200 ${id}`)
  const run = promisify(execFile)
  const shell = await run('bash', ['-c', script.join('\n')], { env })
  t.deepEqual(shell.stdout.trim().split('\n'), expected)
  const programs = ids.map((id) => `{ ${exampleOf(id, 'JavaScript').replace('await response.text()', `"${id}"`)} }`)
  const node = await run(process.execPath, ['--input-type=module', '-e', programs.join('\n')], { env })
  t.deepEqual(node.stdout.trim().split('\n'), expected)
})

/** Operations whose example names another host. */
const OUTGOING = new Set(['planImportFromHealthchecks'])

test('no example of a JSON body is refused as invalid', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const { token, credentials } = await openClient(app, app.url)
  const refused: string[] = []
  for (const route of documentedRoutes.filter(({ body }) => body?.content['application/json'])) {
    const { operationId, path, method, body } = route
    const example = exampleOf(operationId, 'curl').replaceAll(`'\\''`, '\u0000')
    const [, url = '', text = ''] = (/ '(.*?)' [\s\S]* -d '([\s\S]*)'$/.exec(example) ?? []).map((one) =>
      one.replaceAll('\u0000', "'"),
    )
    t.true(body?.content['application/json']?.safeParse(JSON.parse(text)).success, `${operationId}: ${text}`)
    if (OUTGOING.has(operationId)) continue
    const headers = path.startsWith('/api/')
      ? { 'x-api-key': rwKey }
      : {
          authorization: `Bearer ${token}`,
          'x-api-key': String(credentials.apiKey),
          'x-idempotency-key': crypto.randomUUID(),
          prefer: 'respond-async',
        }
    const init = {
      method: method.toUpperCase(),
      headers: { ...headers, 'content-type': 'application/json' },
      body: text,
    }
    const answer = await request(url, init)
    if ([400, 415, 422, 500].includes(answer.status)) refused.push(`${operationId}: ${answer.status} ${answer.text}`)
  }
  t.deepEqual(refused, [])
})

test('the search finds texts, parameters and members, and shows all matches without scripts', async (t) => {
  const found = async (query: string) => {
    const { text } = await send(app.url, `/docs?q=${encodeURIComponent(query)}`)
    return [...text.matchAll(/<li id="(\w+)"/g)].map(([, id]) => id)
  }
  t.deepEqual(await found('rotate-secret'), ['rotateWebhookSecret'])
  t.true((await found('OnCalendar schedule')).length === 0, 'descriptions of members are not searched')
  t.true((await found('Filter_HTTP_body check')).includes('createCheck'))
  t.true((await found('checks that have all of these tags')).includes('listChecks'))
  t.deepEqual(await found('<no such>'), [])
  const { text } = await send(app.url, `/docs?q=${encodeURIComponent('<b>"')}`)
  t.true(text.includes('0 operations contain <b>&lt;b>&quot;</b>'), 'the query is escaped')
})

test('pages have security headers, load only local files and are cached', async (t) => {
  const { headers: expected } = await send(app.url, '/sign-in')
  for (const path of ['/docs', '/docs/createCheck', '/docs?q=check']) {
    const { headers, text } = await send(app.url, path)
    t.is(headers['content-security-policy'], expected['content-security-policy'])
    t.notRegex(text, /<style| style=| on\w+="|<script>|`/)
    const sources = [...text.matchAll(/<(?:link|script|img)[^>]* (?:href|src)="([^"]+)"/g)].map(([, source]) => source)
    t.true(sources.length > 0 && sources.every((source) => source?.startsWith('/assets/')), String(sources))
  }
  for (const path of ['/docs', '/docs/createCheck', '/docs?q=check', '/openapi.json']) {
    const zipped = await send(app.url, path, { headers: { 'accept-encoding': 'gzip' } })
    t.is(zipped.headers['content-encoding'], 'gzip')
    t.is(gunzipSync(zipped.bytes).toString(), (await send(app.url, path)).text)
    const repeated = await send(app.url, path, { headers: { 'if-none-match': String(zipped.headers.etag) } })
    t.deepEqual([repeated.status, repeated.text], [304, ''])
  }
  t.is((await send(app.url, '/docs/noSuchOperation')).status, 404)
})
