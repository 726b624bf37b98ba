import { randomUUID } from 'node:crypto'
import type { Client } from '@modelcontextprotocol/client'
import test from 'ava'
import { tools } from '../../../ingress/mcp/tools.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, demoRequest, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { receivable } from '../api-risk/financing-support.ts'
import { issuePack } from '../api-risk/trade-support.ts'
import { addProjectOf, callTool, connect, makeKey } from './agents.ts'

interface Listed {
  type?: string
  properties?: Record<string, { type?: string; enum?: string[] }>
  required?: string[]
  dependentRequired?: Record<string, string[]>
  additionalProperties?: unknown
}

const SCOPES = [...new Set(['agents:invoke', ...tools.map(({ scope }) => scope)])]

let product: HttpProduct
let sandbox: ApiClient
let live: ApiClient
const values: Record<string, unknown> = { idempotencyKey: '', vei: '', gstin: demoRequest.buyerGstin }

test.before(async () => {
  product = await sharedProduct({
    workers: [
      ...['alerter', 'pack-composer', 'kyb-verifier', 'acceptance-recorder', 'financing-registrar'],
      ...['dilution-measurer', 'provenance-composer'],
    ],
  })
  sandbox = await openClient(product, product.url)
  live = await openClient(product, product.url, { env: 'PRODUCTION' })
  const { json: pack } = await sandbox.post('/v1/po/risk-signals', demoRequest)
  const { json: verified } = await sandbox.post('/v1/kyb/verifications', { pan: 'AAACR5678D' })
  const { json: issued } = await issuePack(sandbox)
  const { json: bundle } = await sandbox.get(`/v1/trade/packs/${issued.packId}/bundle`)
  const record = { receivableRef: 'S-1', channel: 'BUYER_PORTAL', action: 'PENDING', at: '2026-06-20T18:30:00Z' }
  await sandbox.post('/v1/acceptance/records', record)
  const adjusted = { receivableRef: 'S-1', kind: 'PAYMENT', amountInr: 5, at: record.at }
  await sandbox.post('/v1/acceptance/adjustments', adjusted)
  Object.assign(values, demoRequest, { packId: pack.packId, vei: verified.vei, object: pack, bundle, ...record })
  Object.assign(values, { cin: 'U28999MH2015PTC123456' })
})

/** Returns arguments for a listed schema: the required members, and the members that these require. */
function argumentsOf({ properties = {}, required = [], dependentRequired = {} }: Listed, known: object) {
  const names = [...required, ...Object.entries(dependentRequired).flat(2)]
  // A tool that requires nothing is called with the first member that has its own value.
  const own = Object.keys(properties).find((name) => name !== 'idempotencyKey' && Reflect.has(known, name))
  const chosen = names.length > 0 ? names : own === undefined ? [] : [own]
  return Object.fromEntries(
    chosen.map((name) => [
      name,
      name === 'idempotencyKey' ? randomUUID() : (Reflect.get(known, name) ?? properties[name]?.enum?.[0]),
    ]),
  )
}

test('a call built from the schema succeeds and fits its output schema', async (t) => {
  const project = await addProjectOf(product, live)
  const { key } = await makeKey(live, { scopes: SCOPES, projects: [project.uuid] })
  const watching = await connect(product.url, key)
  const scopes = SCOPES.filter((scope) => !scope.startsWith('monitoring:'))
  const sandboxAgent = await connect(product.url, (await makeKey(sandbox, { scopes })).key)
  const clients: [Client, boolean][] = [
    [sandboxAgent, false],
    [watching, true],
  ]
  const checkId = (await callTool(watching, 'check_create', { idempotencyKey: randomUUID() })).result.checkId
  for (const what of ['', '/fail']) await fetch(`${product.url}/ping/${checkId}${what}`)
  const incidentId = await eventually('an incident', async () => {
    const { result } = await callTool(watching, 'incidents_list')
    return result.incidents[0]?.incidentId as string | undefined
  })
  for (const [client, isMonitoring] of clients) {
    // After it listed the tools, the official client validates each result against the output schema.
    for (const { name, inputSchema, outputSchema } of (await client.listTools()).tools) {
      const scope = tools.find((tool) => tool.name === name)?.scope ?? ''
      if (scope.startsWith('monitoring:') !== isMonitoring) continue
      const listed = inputSchema as Listed
      const args = argumentsOf(listed, { ...values, ...receivable(), checkId, incidentId })
      const { isError, result } = await callTool(client, name, args)
      t.false(isError, `${name} ${JSON.stringify(args)}: ${JSON.stringify(result)}`)
      const forms = (outputSchema?.anyOf ?? []) as Listed[]
      const form = forms.find(({ properties }) => Object.keys(result).every((member) => properties?.[member]))
      t.truthy(form, `${name} declares ${Object.keys(result)}`)
      const unknown = await callTool(client, name, { ...args, unknownMember: 1 })
      t.like(unknown.result, { errors: [{ path: 'unknownMember', code: 'UNKNOWN_FIELD' }] }, name)
      t.is(listed.additionalProperties, false, name)
    }
  }
})

test('the tools of first financing accept every member that they declare', async (t) => {
  const scopes = ['agents:invoke', 'first-financing:check', 'first-financing:register']
  const client = await connect(product.url, (await makeKey(sandbox, { scopes })).key)
  const beside: Record<string, object> = {
    first_financing_check: { financialYear: '2026-27', window: true, statement: true },
    first_financing_register: {
      ...{ financialYear: '2026-27', dueDate: '2026-08-01', dealId: 'D-1', lenderRef: 'L-1' },
      idempotencyKey: randomUUID(),
    },
  }
  const fingerprint = { rf1: randomUUID(), rf2: randomUUID(), rf3: randomUUID() }
  const hex = Object.entries(fingerprint).map(([name, id]) => [name, id.replaceAll('-', '').repeat(2)])
  const { epoch } = (await sandbox.get('/v1/first-financing/oprf/key')).json.epochs?.[0] ?? { epoch: 2 }
  const fingerprints = [{ epoch, ...Object.fromEntries(hex) }]
  for (const { name, inputSchema } of (await client.listTools()).tools) {
    const members = beside[name]
    if (!members) continue
    const args = { ...receivable(), ...members }
    const declared = Object.keys((inputSchema as Listed).properties ?? {})
    t.deepEqual(
      [...Object.keys(args), 'fingerprints', 'idempotencyKey'].filter((member) => !declared.includes(member)),
      [],
    )
    const { isError, result } = await callTool(client, name, args)
    t.false(isError, JSON.stringify(result))
    const blind = await callTool(client, name, { idempotencyKey: randomUUID(), fingerprints })
    t.false(blind.isError, JSON.stringify(blind.result))
    t.is(blind.result.mode, 'BLIND')
  }
})

test('the sample registrations of the e-invoice portal are valid in the sandbox only', async (t) => {
  for (const [client, valid] of [
    [sandbox, true],
    [live, false],
  ] as const) {
    const agent = await connect(product.url, (await makeKey(client)).key)
    for (const gstin of ['01AMBPG7773M002', '02AMBPG7773M002', '36AMBPG7773M002'])
      t.like((await callTool(agent, 'gstin_validate', { gstin })).result, { valid }, gstin)
  }
})
