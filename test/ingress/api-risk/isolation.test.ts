import { randomUUID } from 'node:crypto'
import test from 'ava'
import { grantFamilies, revokeFamilies } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import {
  type ApiClient,
  clientWith,
  demoRequest,
  openClient,
  type Reply,
  requestToken,
} from '../../support/platform-client.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let product: HttpProduct
let base = ''
let one: ApiClient
let other: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['pack-composer'] })
  base = product.url
  one = await openClient(product, base)
  other = await openClient(product, base)
})

/** Returns an answer without the parts that differ for every request. */
function bare({ status, json }: Reply) {
  const { requestId: _id, instance: _path, ...rest } = json
  return { status, ...rest }
}

async function organisationId(client: ApiClient): Promise<number> {
  const row = await product.db('organisations').where({ uuid: client.credentials.organisationId }).first('id')
  return Number(row.id)
}

const paths = ['/v1/po/risk-signals/packs/ID', '/v1/po/risk-signals/packs/ID/evidence']

for (const path of paths) {
  test(`${path} of another organisation is answered like one that does not exist`, async (t) => {
    const { json: pack } = await one.post('/v1/po/risk-signals', demoRequest)
    const foreign = await other.get(path.replace('ID', pack.packId))
    const unknown = await other.get(path.replace('ID', randomUUID()))
    t.is(foreign.status, 404)
    t.deepEqual(bare(foreign), bare(unknown))
    t.is((await one.get(path.replace('ID', pack.packId))).status, 200)
  })
}

test('a pack is not visible in the other environment of its organisation', async (t) => {
  const sandbox = await openClient(product, base, { name: 'Both' })
  const production = await openClient(product, base, { name: 'Both', env: 'PRODUCTION' })
  t.is(sandbox.credentials.organisationId, production.credentials.organisationId)
  const { json: pack } = await sandbox.post('/v1/po/risk-signals', demoRequest)
  t.is((await production.get(`/v1/po/risk-signals/packs/${pack.packId}`)).status, 404)
  t.deepEqual((await production.get('/v1/po/risk-signals/packs')).json, { packs: [], nextCursor: null })
  t.deepEqual((await production.get('/v1/usage')).json, { usage: [], nextCursor: null })
})

test('a family outside the token is refused, and nothing is metered or stored', async (t) => {
  const narrow = await openClient(product, base, { families: ['kyb'] })
  const answer = await narrow.post('/v1/po/risk-signals', demoRequest)
  t.is(answer.status, 403)
  t.is(answer.json.code, 'FORBIDDEN')
  t.is((await narrow.get(`/v1/po/risk-signals/packs/${randomUUID()}`)).status, 403)
  const id = await organisationId(narrow)
  t.deepEqual(await product.db('packs').where({ organisation_id: id }).select('id'), [])
  t.deepEqual((await narrow.get('/v1/usage')).json.usage, [])
})

test('a token requested with less scope can do less', async (t) => {
  const { clientId, clientSecret } = one.credentials
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const answer = await requestToken(base, { ...form, scope: 'risk-signals:read' })
  const reader = clientWith(base, answer.json.access_token, one.credentials)
  t.is(answer.json.scope, 'risk-signals:read')
  t.is((await reader.get('/v1/po/risk-signals/packs')).status, 200)
  t.is((await reader.post('/v1/po/risk-signals', demoRequest)).status, 403)
})

test('a revoked family is refused within seconds, also with existing tokens', async (t) => {
  const client = await openClient(product, base)
  t.is((await client.get('/v1/po/risk-signals/packs')).status, 200)
  await revokeFamilies(product.db, await organisationId(client), ['risk-signals', 'acceptance'])
  await eventually('the revocation to take effect', async () => {
    return (await client.get('/v1/po/risk-signals/packs')).status === 403
  })
  t.is((await client.post('/v1/po/risk-signals', demoRequest)).status, 403)
  await grantFamilies(product.db, await organisationId(client), ['risk-signals'])
  await eventually('the grant to take effect', async () => {
    return (await client.get('/v1/po/risk-signals/packs')).status === 200
  })
})

const modes = [
  { env: 'SANDBOX', body: { ...demoRequest, mode: undefined }, status: 400, code: 'VALIDATION_ERROR' },
  { env: 'SANDBOX', body: { ...demoRequest, mode: 'TEST' }, status: 400, code: 'VALIDATION_ERROR' },
  { env: 'SANDBOX', body: { ...demoRequest, mode: 'LIVE' }, status: 403, code: 'FORBIDDEN' },
  { env: 'PRODUCTION', body: demoRequest, status: 403, code: 'FORBIDDEN' },
] as const

for (const { env, body, status, code } of modes) {
  test(`mode ${body.mode} with a ${env} token is ${code}`, async (t) => {
    const client = await openClient(product, base, { env })
    const answer = await client.post('/v1/po/risk-signals', body)
    t.is(answer.status, status)
    t.is(answer.json.code, code)
  })
}

test('only production queries registries, and missing data is reported as missing', async (t) => {
  await using registry = await openHttpSink()
  registry.respond = () => ({ status: 503 })
  const gateway = { url: registry.url }
  const everything = {
    taxReturns: gateway,
    taxpayers: gateway,
    companies: gateway,
    providentFund: gateway,
    securityInterests: gateway,
    accounts: gateway,
  }
  await using own = await openProduct({ env: { REGISTRIES: JSON.stringify(everything) } })
  const { base: address } = await own.ingress()
  await own.workers(['pack-composer'])
  const sandbox = await openClient(own, address)
  t.is((await sandbox.post('/v1/po/risk-signals', demoRequest)).status, 200)
  t.is(registry.requests.length, 0)
  const live = await openClient(own, address, { env: 'PRODUCTION' })
  const { json: pack } = await live.post('/v1/po/risk-signals', { ...demoRequest, mode: 'LIVE' }, { prefer: 'wait=25' })
  t.true(registry.requests.length > 0)
  t.is(pack.signalLevel, 'INCOMPLETE')
  t.is(pack.signals.tradeRelationship.ab.invoiceCount, null)
  t.is(pack.signals.doubleFinancing.status, 'UNRESOLVED')
})
