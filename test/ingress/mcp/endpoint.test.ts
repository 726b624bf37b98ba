import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test from 'ava'
import { revokeFamilies } from '#shared/tenancy/organisations/store.ts'
import { createAgentDirectory } from '../../../ingress/mcp/agent-directory.ts'
import { eventually } from '../../support/eventually.ts'
import {
  type ApiClient,
  clientWith,
  makeCredentials,
  openClient,
  requestToken,
  send,
} from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { callTool, connect, ERAS, makeKey, rawPost } from './agents.ts'

let product: HttpProduct
let base = ''
let client: ApiClient

test.before(async () => {
  product = await sharedProduct({ env: { MCP_ALLOWED_ORIGINS: 'https://assistant.example' } })
  base = product.url
  client = await openClient(product, base)
})

const discover = {
  jsonrpc: '2.0',
  id: 1,
  method: 'server/discover',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const modern = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'server/discover' }

for (const [era, body, headers] of [
  ['2026-07-28', discover, modern],
  ['2025-11-25', initialize, {}],
] as const) {
  test(`${era}: a missing, wrong or too long key gets the same refusal, with the metadata URL`, async (t) => {
    const { key } = await makeKey(client)
    const wrong = `${key.slice(0, -2)}${key.endsWith('AA') ? 'BB' : 'AA'}`
    for (const authorization of [undefined, `Bearer ${wrong}`, `Bearer ${key}x`, `Basic ${key}`, 'Bearer rsk_']) {
      const answer = await rawPost(base, body, { ...headers, ...(authorization && { authorization }) })
      t.is(answer.status, 401, authorization)
      t.is(
        answer.headers.get('www-authenticate'),
        `Bearer resource_metadata="${product.config.publicUrl}/.well-known/oauth-protected-resource/mcp"`,
      )
      t.is(answer.json.code, 'UNAUTHORIZED')
    }
    t.is((await rawPost(base, body, { ...headers, authorization: `Bearer ${key}` })).status, 200)
  })
}

for (const era of ERAS) {
  test(`${era}: the official client lists and calls the tools that the key may call`, async (t) => {
    const { key } = await makeKey(client)
    await using agent = await connected(key, era)
    const { tools } = await agent.client.listTools()
    t.deepEqual(
      tools.map(({ name }) => name),
      ['gstin_validate', 'anchor_verify'],
    )
    const { isError, result, content, callId } = await callTool(agent.client, 'gstin_validate', {
      gstin: ' 27aaacb1234c1zg ',
    })
    t.false(isError)
    t.deepEqual(result, { valid: false, normalised: '27AAACB1234C1ZG', reason: 'CHECK_DIGIT' } as never)
    t.deepEqual(content as unknown, [
      { type: 'text', text: `${JSON.stringify(result)}\nEvidence, not a recommendation.` },
    ])
    t.regex(String(callId), /^[0-9a-f-]{36}$/)
  })

  test(`${era}: tools outside the scopes and unknown tools cannot be listed or called`, async (t) => {
    const { key } = await makeKey(client)
    await using agent = await connected(key, era)
    for (const name of ['risk_signals_get', 'nothing_of_ours']) {
      const error = await t.throwsAsync<Error & { code: number }>(callTool(agent.client, name, { packId: 'x' }))
      t.is(error?.code, -32602)
      if (name === 'risk_signals_get') t.regex(error?.message ?? '', /needs the scope risk-signals:read/)
    }
  })
}

test('refuses foreign origins and foreign host names, also with a valid key', async (t) => {
  const { key } = await makeKey(client)
  const authorization = `Bearer ${key}`
  const own = new URL(product.config.publicUrl).origin
  for (const [origin, status] of [
    ['https://elsewhere.example', 403],
    ['null', 403],
    ['https://assistant.example', 200],
    [own, 200],
  ] as const) {
    t.is((await rawPost(base, discover, { ...modern, authorization, origin })).status, status, origin)
  }
  for (const [host, status] of [
    ['rebound.example', 403],
    ['localhost.rebound.example', 403],
    ['assistant.example', 200],
    ['127.0.0.1:8080', 200],
    [new URL(own).host, 200],
  ] as const) {
    t.is(await statusFor(host, { ...modern, authorization }), status, host)
    t.is(await statusFor(host, modern), 401, 'authentication comes first')
  }
})

test('a listener refreshes a cached key within five seconds', (t) => {
  t.true(createAgentDirectory(1).logins.ttl <= 5_000)
})

test('a listener with a cached key notices its expiry, its revocation and a revoked family', async (t) => {
  const keys = { revoked: await makeKey(client), expired: await makeKey(client) }
  const statusOf = async ({ key }: { key: string }) =>
    (await rawPost(base, discover, { ...modern, authorization: `Bearer ${key}` })).status
  const refused = (what: string, key: { key: string }, status: number) =>
    eventually(what, async () => (await statusOf(key)) === status, 10_000)
  t.deepEqual([await statusOf(keys.revoked), await statusOf(keys.expired)], [200, 200])
  t.is((await deleteKey(keys.revoked.keyId)).status, 204)
  await product.db('agent_keys').where({ key_id: keys.expired.keyId }).update({ expires_at: new Date() })
  await refused('the revoked key to be refused', keys.revoked, 401)
  await refused('the expired key to be refused', keys.expired, 401)
  t.is((await client.get(`/v1/agents/keys/${keys.revoked.keyId}`)).json.status, 'REVOKED')
  t.is((await client.get(`/v1/agents/keys/${keys.expired.keyId}`)).json.status, 'EXPIRED')
  t.is((await deleteKey(keys.revoked.keyId)).status, 204, 'a second deletion changes nothing')

  const leaving = await openClient(product, base, { families: ['agents'] })
  const key = await makeKey(leaving)
  t.is(await statusOf(key), 200)
  const organisation = await product.db('organisations').where({ uuid: leaving.credentials.organisationId }).first('id')
  await revokeFamilies(product.db, Number(organisation.id), ['agents'])
  await refused('a key without its family to be refused', key, 403)
})

test('an API token, a tools token and an agent key are each refused at the other entry points', async (t) => {
  const { clientId, clientSecret } = client.credentials
  const requestTokenFor = (resource: string) =>
    requestToken(base, { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, resource })
  const forTools = (await requestTokenFor(`${product.config.publicUrl}/mcp`)).json.access_token
  const { key } = await makeKey(client)
  t.is((await rawPost(base, discover, { ...modern, authorization: `Bearer ${forTools}` })).status, 200)
  t.is((await rawPost(base, discover, { ...modern, authorization: `Bearer ${client.token}` })).status, 401)
  const project = await product.project()
  const own: Record<string, string[]> = {
    'API token': ['/v1'],
    'tools token': ['/mcp'],
    'agent key': ['/mcp'],
    'project key': ['/api/v3'],
    'consumer key': ['securitisation'],
  }
  for (const [name, credential] of [
    ['API token', client.token],
    ['tools token', forTools],
    ['agent key', key],
    ['project key', project.apiKey],
    ['consumer key', String(client.credentials.apiKey)],
  ] as const) {
    const listeners = {
      '/mcp': rawPost(base, discover, { ...modern, authorization: `Bearer ${credential}` }),
      '/v1': clientWith(base, credential, client.credentials).get('/v1/usage'),
      '/api/v3': send(`${base}/api/v3/checks/`, { headers: { 'X-Api-Key': credential } }),
      securitisation: send(`${base}/v1/securitisation/pools`, { headers: { 'x-api-key': credential } }),
    }
    for (const [listener, answer] of Object.entries(listeners)) {
      t.is((await answer).status, own[name]?.includes(listener) ? 200 : 401, `${name} at ${listener}`)
    }
  }
  const elsewhere = await requestTokenFor('https://elsewhere.example/mcp')
  t.is(elsewhere.status, 400)
  t.is(elsewhere.json.error, 'invalid_target')
})

test('the metadata of the protected resource names the authorization server (RFC 9728)', async (t) => {
  const response = await fetch(`${base}/.well-known/oauth-protected-resource/mcp`)
  const metadata = (await response.json()) as Record<string, unknown>
  t.is(metadata.resource, `${product.config.publicUrl}/mcp`)
  t.deepEqual(metadata.authorization_servers, [product.config.publicUrl])
  t.deepEqual(metadata.bearer_methods_supported, ['header'])
  t.true((metadata.scopes_supported as string[]).includes('agents:invoke'))
})

test('the official client signs in with only client credentials and the URL', async (t) => {
  for (const options of [{}, { scopes: [] }, { families: ['agents', 'kyb'] as const, scopes: [] }]) {
    const { clientId, clientSecret } = await makeCredentials(product, options)
    const agent = new Client({ name: 'test', version: '1' })
    const authProvider = new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: base })
    await agent.connect(new StreamableHTTPClientTransport(new URL('/mcp', base), { authProvider }))
    const names = (await agent.listTools()).tools.map(({ name }) => name)
    await agent.close()
    t.true(names.includes('entity_verify'), names.join())
    t.is(names.includes('usage_get'), options.scopes === undefined)
  }
})

test('discovery documents are complete, allow browsers and list valid scopes', async (t) => {
  const { clientId, clientSecret } = client.credentials
  const documents = []
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource/mcp',
    '/v1/oauth/jwks',
  ]) {
    const { status, headers, json } = await send(`${base}${path}`)
    t.is(status, 200, path)
    t.is(headers.get('access-control-allow-origin'), '*', path)
    documents.push(json)
  }
  const [server, resource] = documents
  for (const name of ['response_types_supported', 'code_challenge_methods_supported']) {
    t.true(server[name].length > 0, name)
  }
  t.is((await send(server.authorization_endpoint)).status, 400, 'the endpoint supports no sign-in of users')
  for (const { scopes_supported } of [server, resource]) {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const { status, json } = await requestToken(base, { ...form, scope: scopes_supported.join(' ') })
    t.is(status, 200, JSON.stringify(json))
    t.deepEqual(json.scope.split(' ').toSorted(), scopes_supported.toSorted())
  }
})

test('refuses other methods, bodies over one MiB and bodies without JSON', async (t) => {
  const { key } = await makeKey(client)
  const authorization = `Bearer ${key}`
  t.is((await rawPost(base, ' '.repeat(1_048_577), { authorization })).status, 413)
  t.like(await rawPost(base, '{"jsonrpc":', { authorization }), { status: 400, json: { error: { code: -32700 } } })
  t.is((await rawPost(base, discover, { ...modern, authorization, 'Content-Type': 'text/plain' })).status, 415)
  const listening = await rawPost(
    base,
    { ...discover, method: 'subscriptions/listen' },
    {
      ...modern,
      authorization,
      'Mcp-Method': 'subscriptions/listen',
    },
  )
  t.like(listening.json, { error: { message: 'Subscription limit reached' } }, 'a client cannot keep a stream open')
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await fetch(`${base}/mcp`, { method, headers: { authorization } })
    t.is(response.status, 405, method)
  }
})

/** Returns the status of a request with this Host header, which `fetch` cannot set. */
async function statusFor(host: string, headers: Record<string, string>): Promise<number | undefined> {
  const sent = request(new URL('/mcp', base), {
    method: 'POST',
    headers: { ...headers, host, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  })
  sent.end(JSON.stringify(discover))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

async function connected(key: string, era: (typeof ERAS)[number]) {
  const connection = await connect(base, key, era)
  return { client: connection, [Symbol.asyncDispose]: () => connection.close() }
}

async function deleteKey(keyId: string): Promise<Response> {
  return await fetch(`${base}/v1/agents/keys/${keyId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${client.token}` },
  })
}
