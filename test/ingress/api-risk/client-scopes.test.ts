import { randomUUID } from 'node:crypto'
import test from 'ava'
import { CLIENT_SCOPES, type ClientScope, FAMILIES, type Family } from '#shared/tenancy/oauth/families.ts'
import { OFFERED_EVENTS, TEST_EVENT } from '#shared/webhooks/event-types.ts'
import { recordEvent } from '#shared/webhooks/events/store.ts'
import { platformRoutes } from '../../../ingress/platform-routes.ts'
import { clientWith, requestToken } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { openWebhooksClient } from './webhooks-client.ts'

let product: HttpProduct
let base = ''

test.before(async () => {
  product = await sharedProduct()
  base = product.url
})

/** Clients of one organisation, each with a family and additional scopes. */
const open = (name: string, family: Family, scopes: readonly ClientScope[]) =>
  openWebhooksClient(product, base, { name, families: [family], scopes })

async function happen(name: string, type: string): Promise<string> {
  return await product.db.transaction(async (tx) => {
    const organisation = await tx('organisations').where({ name }).first('id')
    const { id } = await recordEvent(tx, async () => undefined, {
      env: 'SANDBOX',
      organisationId: Number(organisation?.id),
      type,
      dealId: randomUUID(),
      fields: [],
      occurredAt: new Date().toISOString(),
    })
    return id
  })
}

test('a client has the scopes of its families and those granted separately', async (t) => {
  const plain = await open('Given', 'kyb', [])
  t.is((await plain.get('/v1/usage')).status, 403)
  for (const scopes of [[], ...CLIENT_SCOPES.map((scope) => [scope]), CLIENT_SCOPES]) {
    const { credentials } = await open('Given', 'kyb', scopes)
    const form = {
      grant_type: 'client_credentials',
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    }
    const { json } = await requestToken(base, form)
    t.is(json.scope, ['kyb:read', 'kyb:write', ...scopes].toSorted().join(' '))
    for (const scope of CLIENT_SCOPES) {
      t.is((await requestToken(base, { ...form, scope })).status, scopes.includes(scope) ? 200 : 400)
    }
  }
})

test('a client with only kyb cannot read or change endpoints and events', async (t) => {
  const name = `Org ${randomUUID()}`
  const keeper = await open(name, 'risk-signals', ['webhooks:manage'])
  const made = await keeper.post('/v1/webhooks/endpoints', { url: 'http://127.0.0.1:9009/a' })
  t.is(made.status, 201, made.text)
  const narrow = await open(name, 'kyb', [])
  const routes = platformRoutes.filter(({ path }) => path.startsWith('/v1/webhooks/') || path.includes('webhook-inbox'))
  t.true(routes.length >= 14)
  for (const { method, path } of routes) {
    const address = path.replace('{endpointId}', made.json.id).replace('{deliveryId}', randomUUID())
    const answer =
      method === 'get'
        ? await narrow.get(address)
        : method === 'delete'
          ? await narrow.delete(address)
          : method === 'patch'
            ? await narrow.patch(address, {})
            : await narrow.post(address, {})
    t.is(answer.status, 403, `${method} ${path}`)
  }
  const after = await keeper.get(`/v1/webhooks/endpoints/${made.json.id}`)
  t.like(after.json, { state: 'ACTIVE', previousSecretExpiresAt: null })
})

test('a webhook manager reads and receives only events of the families it may read', async (t) => {
  const name = `Org ${randomUUID()}`
  const kyb = await open(name, 'kyb', ['webhooks:manage'])
  const risk = await open(name, 'risk-signals', ['webhooks:manage'])
  const [ofKyb, ofRisk] = [
    await kyb.post('/v1/webhooks/endpoints', { url: 'http://127.0.0.1:9009/kyb' }),
    await risk.post('/v1/webhooks/endpoints', { url: 'http://127.0.0.1:9009/risk' }),
  ]
  const events = [await happen(name, 'kyb.completed'), await happen(name, 'risk_signals.pack_ready')]
  const shown = async (client: typeof kyb, path: string, of: 'events' | 'deliveries') => {
    const { json } = await client.get(path)
    return json[of].map(
      (it: { id: string; eventId?: string; payload?: { id: string } }) => it.eventId ?? it.payload?.id ?? it.id,
    )
  }
  for (const path of ['/v1/webhooks/events', '/v1/sandbox/webhook-inbox']) {
    t.deepEqual(await shown(kyb, path, 'events'), [events[0]])
    t.deepEqual(await shown(risk, path, 'events'), [events[1]])
    t.deepEqual(await shown(kyb, `${path}?event=risk_signals.pack_ready`, 'events'), [])
  }
  const deliveries = (endpoint: typeof ofKyb) => `/v1/webhooks/endpoints/${endpoint.json.id}/deliveries`
  t.deepEqual(await shown(kyb, deliveries(ofKyb), 'deliveries'), [events[0]])
  t.deepEqual(await shown(risk, deliveries(ofRisk), 'deliveries'), [events[1]])
  t.deepEqual(await shown(kyb, deliveries(ofRisk), 'deliveries'), [])

  const { json } = await risk.get(deliveries(ofRisk))
  const [{ id }] = json.deliveries
  t.is((await risk.get(`/v1/webhooks/deliveries/${id}`)).status, 200)
  t.is((await kyb.get(`/v1/webhooks/deliveries/${id}`)).status, 404)
  t.is((await kyb.post(`/v1/webhooks/deliveries/${id}/retry`)).status, 404)
})

test('an endpoint of a client with every family receives every type of event', async (t) => {
  const name = `Org ${randomUUID()}`
  const client = await openWebhooksClient(product, base, { name, families: FAMILIES, scopes: ['webhooks:manage'] })
  const filters: object[] = [{}, { eventTypes: ['*'] }, { eventTypes: OFFERED_EVENTS }]
  const endpoints: string[] = []
  for (const [index, filter] of filters.entries()) {
    const made = await client.post('/v1/webhooks/endpoints', { url: `http://127.0.0.1:9009/${index}`, ...filter })
    t.is(made.status, 201, made.text)
    endpoints.push(made.json.id)
  }
  const types = OFFERED_EVENTS.filter((type) => type !== TEST_EVENT).toSorted()
  for (const type of types) await happen(name, type)
  const { json } = await client.get('/v1/webhooks/events?limit=100')
  t.deepEqual(json.events.map(({ event }: { event: string }) => event).toSorted(), types)
  const inbox = await client.get('/v1/sandbox/webhook-inbox?limit=100')
  t.is(inbox.json.events.length, types.length)
  for (const id of endpoints) {
    const { json: sent } = await client.get(`/v1/webhooks/endpoints/${id}/deliveries?limit=100`)
    t.is(sent.deliveries.length, types.length)
  }
})

test('a token has no scope beyond its client, even if requested', async (t) => {
  const name = `Org ${randomUUID()}`
  const { credentials } = await open(name, 'kyb', ['webhooks:manage'])
  await open(name, 'risk-signals', [])
  await happen(name, 'risk_signals.pack_ready')
  const answer = await requestToken(base, {
    grant_type: 'client_credentials',
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
    scope: 'webhooks:manage',
  })
  const client = clientWith(base, answer.json.access_token, credentials)
  t.deepEqual((await client.get('/v1/webhooks/events')).json.events, [])
})
