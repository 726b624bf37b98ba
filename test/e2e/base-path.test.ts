import { createHash, createHmac } from 'node:crypto'
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test from 'ava'
import { FAMILIES } from '#shared/tenancy/oauth/families.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { commands } from '../../ingress/admin/registry.ts'
import { runAdmin } from '../../ingress/admin/run.ts'
import { type Issuer, openIssuer } from '../ingress/web/issuer.ts'
import { createVisitor } from '../ingress/web/visitor.ts'
import { demoRequest, makeCredentials, openClient } from '../support/platform-client.ts'
import { openPrefixProxy, type PrefixProxy } from '../support/prefix-proxy.ts'
import { type HttpProduct, openProduct } from '../support/product.ts'
import { send } from '../support/send.ts'
import { fillProject, openApi, type ProjectPaths } from './browser/filled-project.ts'
import { type Account, addAccount, password } from './browser/installation.ts'
import { crawl } from './crawl.ts'

const P = '/hc'
const MODES = [
  ['keeps', false],
  ['removes', true],
] as const

const resources = new AsyncDisposableStack()
let proxy: PrefixProxy
let issuer: Issuer
let app: HttpProduct
let account: Account
let paths: ProjectPaths

test.before(async () => {
  proxy = resources.use(await openPrefixProxy(P))
  issuer = resources.use(await openIssuer())
  const oidc = { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: 'signalbox', OIDC_CLIENT_SECRET: 'a secret of the client' }
  app = resources.use(
    await openProduct({
      listener: 'http',
      workers: ['ping-evaluator', 'sweeper', 'notifier'],
      env: { PUBLIC_URL: proxy.url, ...oidc },
    }),
  )
  proxy.target = app.port
  issuer.start(`${proxy.url}/sign-in/oidc/callback`)
  account = await addAccount(app)
  await grantFamilies(app.deps.db, account.organisation.id, FAMILIES)
  paths = await fillProject(account, await openApi(account))
})
test.after.always(() => resources.disposeAsync())

/** Signs in on the page, as a browser does behind the proxy. */
async function signedIn() {
  const visitor = createVisitor(proxy.origin)
  const requested = await visitor.get(`${P}/account`)
  const fields = { email: account.email, password, next: '/account' }
  const answer = await visitor.post(`${P}/sign-in`, fields, requested.headers.location)
  return { visitor, requested, answer }
}

for (const [what, isStripping] of MODES) {
  const mode = `behind a proxy that ${what} the path`

  test.serial(`${mode} a sign-in leads to the requested page`, async (t) => {
    proxy.isStripping = isStripping
    const { visitor, requested, answer } = await signedIn()
    t.is(requested.headers.location, `${P}/sign-in?next=%2Faccount`)
    t.is(answer.headers.location, `${P}/account`)
    t.regex(String(answer.headers['set-cookie']), /signalbox-session=[^;]+; Path=\/hc\/;/)
    t.true((await visitor.get(`${P}/account`)).text.includes(account.email))
  })

  test.serial(`${mode} every link leads to an existing page below the path`, async (t) => {
    proxy.isStripping = isStripping
    const { visitor } = await signedIn()
    const start = ['/', '/docs', '/verify', '/no-such-page', '/openapi.json', ...Object.values(paths)]
    const { problems, pages } = await crawl(proxy, visitor, start)
    t.deepEqual(problems, [`start: GET ${P}/no-such-page answers 404`])
    t.true(pages.length > 100, pages.join('\n'))
    const outside = await crawl(proxy, createVisitor(proxy.origin), ['/', '/sign-in', '/reset-password', paths.status])
    t.deepEqual(outside.problems, [])
    t.deepEqual(proxy.outside, [])
  })

  test.serial(`${mode} pings, the API and badges work at generated addresses`, async (t) => {
    proxy.isStripping = isStripping
    const { apiKey } = await app.project()
    const headers = { 'X-Api-Key': apiKey }
    const moved = await fetch(`${proxy.url}/api/v3/checks`, { headers, redirect: 'manual' })
    t.is(moved.headers.get('location'), `${P}/api/v3/checks/`)
    const made = await fetch(`${proxy.url}/api/v3/checks/`, { method: 'POST', headers, body: '{"name":"Job"}' })
    const check = JSON.parse(await made.text())
    t.true(check.ping_url.startsWith(`${proxy.url}/ping/`), check.ping_url)
    t.is(await (await fetch(check.ping_url)).text(), 'OK')
    t.is(await (await fetch(check.ping_url, { method: 'POST', body: 'done' })).text(), 'OK')
    t.is((await send(app.url, `/ping/${check.uuid}`)).text, 'OK', 'without the path')
    const read = await fetch(check.update_url, { headers })
    t.like(JSON.parse(await read.text()), { n_pings: 3, status: 'up' })
    const { badges } = JSON.parse(await (await fetch(`${proxy.url}/api/v3/badges/`, { headers })).text())
    t.is((await fetch(badges['*'].svg)).headers.get('content-type'), 'image/svg+xml')

    const rules = await send(proxy.origin, `${P}/api/v3/checks/${check.uuid}/rules`, {
      method: 'POST',
      headers,
      body: '{"ping_auth":{"mode":"hmac"}}',
    })
    const secret = /psk_[\w-]{32}/.exec(rules.text)?.[0] ?? ''
    for (const path of [`${P}/ping/${check.uuid}`, `${P}/ping/${check.uuid}/fail`])
      t.is((await send(proxy.origin, path, { headers: { 'X-Ping-Signature': signature(secret, path) } })).status, 200)
    const wrong = { 'X-Ping-Signature': signature(secret, '/ping/other') }
    t.is((await send(proxy.origin, `${P}/ping/${check.uuid}`, { headers: wrong })).status, 401)
  })

  test.serial(`${mode} links in risk API responses lead to their results`, async (t) => {
    proxy.isStripping = isStripping
    const client = await openClient(app, proxy.url)
    const accepted = await client.post('/v1/po/risk-signals', demoRequest, { prefer: 'respond-async' })
    t.is(accepted.status, 202, accepted.text)
    const { links } = accepted.json
    t.is(accepted.headers.get('location'), links.self)
    for (const path of [links.self, links.evidence]) t.true(path.startsWith(`${P}/v1/`), path)
    t.is((await client.get(links.self.slice(P.length))).status, 202)
    const { instance } = (await client.get('/v1/anchors/none')).json
    t.is(instance, `${P}/v1/anchors/none`)
    t.deepEqual((await client.get('/openapi.json')).json.servers, [{ url: P }])
  })

  test.serial(`${mode} an agent finds the metadata of the tools and gets a token`, async (t) => {
    proxy.isStripping = isStripping
    const { clientId, clientSecret } = await makeCredentials(app)
    const agent = new Client({ name: 'test', version: '1' })
    const authProvider = new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: proxy.url })
    await agent.connect(new StreamableHTTPClientTransport(new URL(`${proxy.url}/mcp`), { authProvider }))
    t.true((await agent.listTools()).tools.length > 0)
    await agent.close()
    for (const [name, rest] of [
      ['oauth-authorization-server', ''],
      ['oauth-protected-resource', '/mcp'],
      ['jwt-vc-issuer', ''],
    ]) {
      const [below, inserted] = await Promise.all(
        [`${P}/.well-known/${name}${rest}`, `/.well-known/${name}${P}${rest}`].map((path) => send(proxy.origin, path)),
      )
      t.is(below?.status, 200, name)
      t.is(inserted?.text, below?.text, name)
    }
  })

  test.serial(`${mode} an identity of another service signs in`, async (t) => {
    proxy.isStripping = isStripping
    const { visitor } = await signedIn()
    const started = await visitor.post(`${P}/account/oidc`, { password }, `${P}/account`)
    issuer.person = { sub: `subject of ${what}`, email: 'any@example.com', email_verified: false }
    const back = await issuer.signIn(started.headers.location ?? '')
    t.true(back.startsWith(`${P}/sign-in/oidc/callback?`), back)
    t.is((await visitor.get(back)).headers.location, `${P}/account?done=identity-connected`)
  })

  test.serial(`${mode} doctor reports the received path`, async (t) => {
    proxy.isStripping = isStripping
    const arrived = isStripping ? '/livez' : `${P}/livez`
    t.true((await doctor()).includes(`; ${P}/livez arrives as ${arrived}\n`), await doctor())
  })
}

test.serial('doctor detects a proxy that does not forward the path', async (t) => {
  await using other = await openPrefixProxy('/other')
  other.target = app.port
  const publicUrl = `${other.origin}${P}`
  t.regex(await doctor({ publicUrl }), /WRONG\s+PUBLIC_URL: .*GET \/hc\/livez returned 404, not from this service/)
})

test.serial('the path without a slash redirects, and health checks respond with and without the path', async (t) => {
  const moved = await send(app.url, `${P}?x=1`)
  t.is(moved.status, 308)
  t.is(moved.headers.location, `${P}/?x=1`)
  for (const path of ['/livez', '/readyz', '/readyz/pings'])
    for (const address of [path, P + path]) t.is((await send(app.url, address)).status, 200, address)
  t.is((await send(app.url, `${P}x/livez`)).status, 404)
})

test.serial('behind https cookies are bound to the path and secure', async (t) => {
  await using secure = await openProduct({ listener: 'http', env: { PUBLIC_URL: `https://signals.example${P}` } })
  const [line = ''] = (await send(secure.url, '/sign-in')).headers['set-cookie'] ?? []
  // Browsers accept the prefix `__Host-` only with the path of the root.
  t.regex(line, /^__Secure-signalbox-visit=.*; Path=\/hc\/; .*; Secure/)
})

/** Signs a ping without a body. */
function signature(secret: string, path: string): string {
  const at = Math.floor(Date.now() / 1000)
  const body = createHash('sha256').update('').digest('hex')
  const digest = createHmac('sha256', secret).update(`${at}.GET.${path}.${body}`).digest('hex')
  return `t=${at},v1=${digest}`
}

async function doctor(config: { publicUrl?: string } = {}): Promise<string> {
  const { db, secrets, log } = app.deps
  const context = async () => ({
    ...{ db, secrets, log, actor: 'test' },
    config: { ...app.config, ...config },
    async [Symbol.asyncDispose]() {},
  })
  return (await runAdmin(['doctor'], commands, context)).stdout
}
