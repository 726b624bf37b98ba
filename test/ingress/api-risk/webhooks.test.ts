import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { demoRequest } from '../../support/platform-client.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { openWebhooksClient, type WebhooksClient } from './webhooks-client.ts'

let product: HttpProduct
let base = ''
let live: WebhooksClient
let sandbox: WebhooksClient

test.before(async () => {
  product = await sharedProduct({ workers: ['webhook-deliverer', 'pack-composer', 'sweeper'] })
  base = product.url
  live = await openWebhooksClient(product, base, { env: 'PRODUCTION' })
  sandbox = await openWebhooksClient(product, base)
})

async function create(client: WebhooksClient, body: object) {
  const answer = await client.post('/v1/webhooks/endpoints', body)
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.json
}

async function deliveryIn(client: WebhooksClient, id: string, state: string) {
  return await eventually(`delivery ${id} to be ${state}`, async () => {
    const { json } = await client.get(`/v1/webhooks/deliveries/${id}`)
    return json.state === state ? json : undefined
  })
}

test('a secret is shown once, and a repetition of the request gets the same bytes', async (t) => {
  const first = await live.post(
    '/v1/webhooks/endpoints',
    { url: 'http://127.0.0.1:9009/a' },
    { 'x-idempotency-key': 'once' },
  )
  t.is(first.status, 201, first.text)
  t.regex(first.json.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const again = await live.post(
    '/v1/webhooks/endpoints',
    { url: 'http://127.0.0.1:9009/a' },
    { 'x-idempotency-key': 'once' },
  )
  t.is(again.text, first.text)
  t.is(again.headers.get('idempotent-replayed'), 'true')
  const read = await live.get(`/v1/webhooks/endpoints/${first.json.id}`)
  t.is(read.json.secret, undefined)
  const dump = JSON.stringify([
    await product.db('webhook_endpoints').select('*'),
    await product.db('idempotency_keys').select('*'),
  ])
  t.false(dump.includes(first.json.secret), 'neither the endpoint nor the kept answer holds it in clear')
})

test('a delivery shows its attempts and only the status of the response', async (t) => {
  await using sink = await openHttpSink()
  sink.enqueue({ status: 503, body: 'internal details of the receiver' })
  const endpoint = await create(live, { url: `${sink.url}/hook` })
  const requested = await live.post(`/v1/webhooks/endpoints/${endpoint.id}/test`)
  t.is(requested.status, 202, requested.text)
  await eventually('the first attempt', async () => {
    const { json } = await live.get(`/v1/webhooks/deliveries/${requested.json.deliveryId}`)
    return json.attemptLog.length >= 1 && json
  })
  await live.post(`/v1/webhooks/deliveries/${requested.json.deliveryId}/retry`)
  const delivery = await deliveryIn(live, requested.json.deliveryId, 'DELIVERED')
  t.deepEqual(
    delivery.attemptLog.map(({ attempt, outcome, status, failure }: Record<string, unknown>) => [
      attempt,
      outcome,
      status,
      failure,
    ]),
    [
      [1, 'failed', 503, 'status'],
      [2, 'delivered', 200, null],
    ],
  )
  t.false(JSON.stringify(delivery).includes('internal details'))
  t.is(delivery.payload.event, 'webhook.test')
  const again = await live.post(`/v1/webhooks/deliveries/${requested.json.deliveryId}/retry`)
  t.like(again.json, { status: 409, errors: [{ path: 'deliveryId', code: 'DELIVERED' }] })
})

test('events for a disabled endpoint are kept, and replayed with the same id and body', async (t) => {
  await using sink = await openHttpSink()
  const endpoint = await create(live, { url: sink.url })
  t.is((await live.post(`/v1/webhooks/endpoints/${endpoint.id}/disable`)).json.state, 'DISABLED')
  const refused = await live.post(`/v1/webhooks/endpoints/${endpoint.id}/test`)
  t.like(refused.json, { status: 409, errors: [{ path: 'endpointId', code: 'DISABLED' }] })
  const other = await create(live, { url: 'http://127.0.0.1:9009/', eventTypes: ['webhook.test'] })
  t.is((await live.post(`/v1/webhooks/endpoints/${endpoint.id}/replay`, {})).status, 409)
  await live.delete(`/v1/webhooks/endpoints/${other.id}`)
  // A pack that fails without registries is also an event.
  const pack = await live.post('/v1/po/risk-signals', { ...demoRequest, mode: 'LIVE' })
  t.true(pack.status >= 200, pack.text)
  const held = await eventually('a held delivery', async () => {
    const { json } = await live.get(`/v1/webhooks/endpoints/${endpoint.id}/deliveries?status=SUPPRESSED`)
    return json.deliveries[0]
  })
  t.is(sink.requests.length, 0)
  t.is((await live.post(`/v1/webhooks/endpoints/${endpoint.id}/enable`)).json.state, 'ACTIVE')
  const replay = await live.post(`/v1/webhooks/endpoints/${endpoint.id}/replay`, { status: 'SUPPRESSED' })
  t.is(replay.status, 202, replay.text)
  t.is(replay.json.complete, true)
  const delivery = await deliveryIn(live, held.id, 'DELIVERED')
  await live.post(`/v1/webhooks/endpoints/${endpoint.id}/replay`, { status: ['DELIVERED'] })
  await sink.waitFor(2 * replay.json.replayed)
  const same = sink.requests.filter(({ headers }) => headers['webhook-id'] === delivery.eventId)
  t.is(same.length, 2)
  t.deepEqual(same[0]?.body, same[1]?.body)
})

test('forbidden endpoint addresses are refused when saved', async (t) => {
  await using strict = await openProduct({ env: { ALLOW_PRIVATE_TARGETS: 'false' } })
  const address = (await strict.ingress()).base
  for (const env of ['PRODUCTION', 'SANDBOX'] as const) {
    const client = await openWebhooksClient(strict, address, { env })
    for (const url of [
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://[::ffff:127.0.0.1]/',
      'https://0x7f.1/',
      'https://2130706433/',
      'https://0/',
      'https://10.0.0.1/',
      'https://169.254.169.254/',
      'https://100.64.0.1/',
      'https://[fc00::1]/',
      'https://[fe80::1]/',
      'https://[64:ff9b::7f00:1]/',
      'https://localhost/',
      'http://8.8.8.8/',
      'https://user:password@8.8.8.8/',
      'https://8.8.8.8:22/',
      'ftp://8.8.8.8/',
      'file:///etc/passwd',
      'gopher://8.8.8.8/',
      'not a url',
    ]) {
      const answer = await client.post('/v1/webhooks/endpoints', { url })
      t.is(answer.status, 400, `${env} ${url}: ${answer.text}`)
      t.is(answer.json.errors[0].path, 'url')
    }
  }
})

test('the sandbox signs and stores, and opens no connection', async (t) => {
  let connections = 0
  const listener = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const endpoint = await create(sandbox, { url: `http://127.0.0.1:${port}/hook` })
  const pack = await sandbox.post('/v1/po/risk-signals', demoRequest)
  t.is(pack.status, 200, pack.text)
  const entry = await eventually('the signed event', async () => {
    const { json } = await sandbox.get('/v1/sandbox/webhook-inbox')
    const [event] = json.events
    return event?.deliveries[0]?.headers ? event : undefined
  })
  t.deepEqual(Object.keys(entry), ['payload', 'deliveries'])
  t.like(entry.payload, { mode: 'sandbox', event: 'risk_signals.pack_ready' })
  t.is(entry.deliveries[0].state, 'SUPPRESSED_SANDBOX')
  const signed = canonicalize(entry.payload)
  const { text } = await sandbox.get('/v1/sandbox/webhook-inbox')
  t.true(text.includes(`{"payload":${signed},"deliveries":[`), 'the bytes that were signed stand in the answer')
  const key = Buffer.from(endpoint.secret.slice('whsec_'.length), 'base64')
  t.is(entry.deliveries[0].headers['x-signature'], createHmac('sha256', key).update(signed).digest('hex'))
  // A live delivery of the same process arrives: had the sandbox sent anything, it would have arrived before.
  await using sink = await openHttpSink()
  const control = await create(live, { url: sink.url })
  await live.post(`/v1/webhooks/endpoints/${control.id}/test`)
  await sink.waitFor(1)
  t.is(connections, 0)
  const retry = await sandbox.post(`/v1/webhooks/deliveries/${entry.deliveries[0].id}/retry`)
  t.is(retry.status, 409)
  t.is((await live.get('/v1/sandbox/webhook-inbox')).status, 403)
  listener.close()
})

test('resources of another organisation return 404', async (t) => {
  const endpoint = await create(live, { url: 'http://127.0.0.1:9009/mine' })
  const stranger = await openWebhooksClient(product, base, { env: 'PRODUCTION', name: 'Stranger' })
  const unknown = '00000000-0000-4000-8000-000000000000'
  for (const [method, path] of [
    ['get', ''],
    ['get', '/deliveries'],
    ['post', '/disable'],
    ['post', '/enable'],
    ['post', '/test'],
    ['post', '/rotate-secret'],
    ['post', '/replay'],
    ['delete', ''],
  ] as const) {
    const [foreign, missing] = [
      await stranger[method](`/v1/webhooks/endpoints/${endpoint.id}${path}`),
      await stranger[method](`/v1/webhooks/endpoints/${unknown}${path}`),
    ]
    t.is(foreign.status, 404, `${method} ${path}`)
    t.deepEqual({ ...foreign.json, requestId: '', instance: '' }, { ...missing.json, requestId: '', instance: '' })
  }
  t.is((await live.get(`/v1/webhooks/endpoints/${endpoint.id}`)).json.state, 'ACTIVE')
})

test('a deleted endpoint ends its deliveries as cancelled', async (t) => {
  await using sink = await openHttpSink()
  sink.respond = () => ({ status: 500 })
  const endpoint = await create(live, { url: sink.url })
  const requested = await live.post(`/v1/webhooks/endpoints/${endpoint.id}/test`)
  await eventually('a failed attempt', async () => {
    const { json } = await live.get(`/v1/webhooks/deliveries/${requested.json.deliveryId}`)
    return json.attemptLog.length >= 1
  })
  t.is((await live.delete(`/v1/webhooks/endpoints/${endpoint.id}`)).status, 204)
  await deliveryIn(live, requested.json.deliveryId, 'CANCELLED')
  t.is((await live.get(`/v1/webhooks/endpoints/${endpoint.id}`)).status, 404)
})

test('changes by a client are audited once per idempotency key', async (t) => {
  const client = await openWebhooksClient(product, base)
  const { id } = await create(client, { url: 'https://example.com/audited' })
  const path = `/v1/webhooks/endpoints/${id}`
  await client.patch(path, { description: 'new' })
  await client.post(`${path}/disable`)
  await client.post(`${path}/enable`)
  await client.post(`${path}/rotate-secret`, undefined, { 'x-idempotency-key': 'once' })
  await client.post(`${path}/rotate-secret`, undefined, { 'x-idempotency-key': 'once' })
  const { json: tested } = await client.post(`${path}/test`)
  await deliveryIn(client, tested.deliveryId, 'SUPPRESSED_SANDBOX')
  t.is((await client.post(`/v1/webhooks/deliveries/${tested.deliveryId}/retry`)).status, 409)
  await client.post(`${path}/replay`, {})
  await client.delete(path)
  const entries = await product
    .db('audit_log')
    .whereLike('actor', `API client ${client.credentials.clientId} of %`)
    .orderBy('id')
    .select('action', 'target', 'address')
  t.deepEqual(
    entries.map(({ action }) => action),
    [
      'webhook.registered',
      'webhook.changed',
      'webhook.disabled',
      'webhook.enabled',
      'webhook.secret-rotated',
      'webhook.tested',
      'webhook.replayed',
      'webhook.deleted',
    ],
  )
  for (const { target, address } of entries) {
    t.is(target, 'https://example.com/audited')
    t.is(address, '127.0.0.1')
  }
})

test('filters, order and paging are checked', async (t) => {
  const bad = await live.post('/v1/webhooks/endpoints', { url: 'http://127.0.0.1:9009/', eventTypes: ['no.such'] })
  t.is(bad.status, 400)
  t.is(bad.json.errors[0].code, 'UNKNOWN_VALUE')
  const unknown = await live.post('/v1/webhooks/endpoints', { url: 'http://127.0.0.1:9009/', state: 'ACTIVE' })
  t.is(unknown.json.errors[0].code, 'UNKNOWN_FIELD')
  const endpoint = await create(live, { url: 'http://127.0.0.1:9009/', eventTypes: ['risk_signals.*'], ordered: true })
  const changed = await live.patch(`/v1/webhooks/endpoints/${endpoint.id}`, { eventTypes: ['*'], description: 'all' })
  t.deepEqual(changed.json.eventTypes, ['*'], changed.text)
  t.is(changed.json.ordered, true)
  await create(live, { url: 'http://127.0.0.1:9009/another' })
  const page = await live.get('/v1/webhooks/endpoints?limit=1')
  t.is(page.json.endpoints.length, 1)
  const next = await live.get(`/v1/webhooks/endpoints?limit=1&cursor=${page.json.nextCursor}`)
  t.not(next.json.endpoints[0].id, page.json.endpoints[0].id)
  const types = await live.get('/v1/webhooks/event-types')
  t.true(types.json.eventTypes.some(({ event }: { event: string }) => event === 'risk_signals.pack_ready'))
})
