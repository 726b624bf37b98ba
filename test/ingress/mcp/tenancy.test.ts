import { randomUUID } from 'node:crypto'
import test from 'ava'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { insertCheck } from '#shared/monitoring/checks/store.ts'
import { tools } from '../../../ingress/mcp/tools.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, demoRequest, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { receivable, register, check as runFinancingCheck } from '../api-risk/financing-support.ts'
import { addProjectOf, callTool, connect, makeKey } from './agents.ts'

/** Arguments of each tool that name data of another organisation; null if no argument names any. */
const REQUESTED: Record<string, ((ids: Record<string, string>) => Record<string, string>[]) | null> = {
  gstin_validate: null,
  anchor_verify: null, // the log is public
  risk_signals_run: null,
  risk_signals_get: ({ packId = '' }) => [{ packId }],
  entity_verify: ({ vei = '' }) => [{ vei, idempotencyKey: randomUUID() }],
  lei_resolve: null,
  first_financing_check: null, // it reports that something exists; the test below covers the details
  first_financing_register: null,
  acceptance_get: ({ acceptanceId = '', receivableRef = '' }) => [{ acceptanceId }, { receivableRef }],
  anti_dilution_get: null,
  provenance_verify: null,
  usage_get: null, // has no id: the test below
  checks_list: ({ project = '' }) => [{ project }],
  check_get: ({ checkId = '' }) => [{ checkId }],
  check_flips: ({ checkId = '' }) => [{ checkId }],
  alert_explain: ({ checkId = '' }) => [{ checkId }],
  incidents_list: ({ project = '', checkId = '' }) => [{ project }, { checkId }],
  incident_get: ({ incidentId = '' }) => [{ incidentId }],
  check_create: ({ project = '' }) => [{ project, idempotencyKey: randomUUID() }],
  check_pause: ({ checkId = '' }) => [{ checkId }],
  check_resume: ({ checkId = '' }) => [{ checkId }],
  incident_acknowledge: ({ incidentId = '' }) => [{ incidentId }],
}

/** All scopes that a key can have, in either environment. */
const SCOPES = [...new Set(['agents:invoke', ...tools.map(({ scope }) => scope)])]
const readOnly = SCOPES.filter((scope) => scope !== 'monitoring:write')

let product: HttpProduct
let base = ''
let owner: ApiClient
const ids: Record<string, string> = {}

test.before(async () => {
  product = await sharedProduct({
    workers: [...['alerter', 'pack-composer', 'kyb-verifier', 'acceptance-recorder', 'financing-registrar']],
  })
  base = product.url
  owner = await openClient(product, base, { name: 'Both', env: 'PRODUCTION' })
  const project = await addProjectOf(product, owner)
  const check = await insertCheck(product.db, project.id, DEFAULT_SETTINGS)
  for (const what of ['', '/fail']) await fetch(`${base}/ping/${check.uuid}${what}`)
  const incidentId = await eventually('an incident', async () => {
    const [id] = await product.db('incidents').where({ check_id: check.id }).pluck('id')
    return id as string | undefined
  })
  const verified = await owner.post('/v1/kyb/verifications', { pan: 'AAACR5678D' })
  const record = { receivableRef: 'MINE-1', channel: 'BUYER_PORTAL', action: 'PENDING', at: '2026-06-20T18:30:00Z' }
  const accepted = await owner.post('/v1/acceptance/records', record)
  // Tests have no live registries: a sandbox pack replaces one of theirs.
  const sandbox = await openClient(product, base, { name: 'Both' })
  const { json: pack } = await sandbox.post('/v1/po/risk-signals', demoRequest)
  await product.db('packs').where({ id: pack.packId }).update({ env: 'PRODUCTION' })
  Object.assign(ids, {
    project: project.uuid,
    checkId: check.uuid,
    incidentId,
    packId: pack.packId,
    vei: verified.json.vei,
    acceptanceId: accepted.json.acceptanceId,
    receivableRef: 'MINE-1',
  })
})

test('this file lists every tool, and each has input and output schemas', async (t) => {
  t.deepEqual(
    Object.keys(REQUESTED),
    tools.map(({ name }) => name),
  )
  const { key } = await makeKey(owner, { scopes: SCOPES, projects: [ids.project ?? ''] })
  const agent = await connect(base, key)
  const listed = (await agent.listTools()).tools
  t.deepEqual(
    listed.map(({ name }) => name),
    tools.map(({ name }) => name),
  )
  for (const { name, inputSchema, outputSchema } of listed) {
    t.is(inputSchema.type, 'object', name)
    t.is(outputSchema?.type, 'object', name)
    const refusal = (outputSchema?.anyOf as { required: string[] }[] | undefined)?.at(-1)
    t.deepEqual(refusal?.required, ['code', 'message', 'errors', 'requestId'], name)
  }
})

for (const [tool, requested] of Object.entries(REQUESTED)) {
  if (requested === null) continue
  test(`${tool}: reads data of the same organisation only`, async (t) => {
    const stranger = await openClient(product, base, { env: 'PRODUCTION' })
    const [own, foreign] = [await makeKey(owner, ownKey()), await makeKey(stranger, await keyOf(stranger))]
    const [agent, other] = [await connect(base, own.key), await connect(base, foreign.key)]
    for (const args of requested(ids)) {
      const refused = await callTool(other, tool, args)
      t.true(refused.isError, tool)
      t.is(refused.result.code, 'NOT_FOUND')
      t.false(
        JSON.stringify(refused).includes(args.packId ?? args.incidentId ?? 'MINE-1'),
        'the refusal does not repeat the argument',
      )
      const answered = await callTool(agent, tool, args)
      t.false(answered.isError, JSON.stringify(answered.result))
    }
  })
}

test('a sandbox key cannot read production data of its organisation', async (t) => {
  const sandbox = await openClient(product, base, { name: 'Both' })
  t.is(sandbox.credentials.organisationId, owner.credentials.organisationId)
  const { key } = await makeKey(sandbox, { scopes: readOnly, projects: [ids.project ?? ''] })
  const agent = await connect(base, key)
  for (const tool of ['risk_signals_get', 'entity_verify', 'acceptance_get']) {
    for (const args of REQUESTED[tool]?.(ids) ?? []) {
      t.like((await callTool(agent, tool, args)).result, { code: 'NOT_FOUND' }, tool)
    }
  }
  const { totalInr, ...fields } = receivable()
  t.is((await register(owner, { ...fields, totalInr })).status, 201)
  const stranger = await openClient(product, base, { env: 'PRODUCTION' })
  t.is((await runFinancingCheck(stranger, { ...fields, totalInr })).json.status, 'DUPLICATE_REGISTERED')
  const requested = { idempotencyKey: randomUUID(), ...fields, totalInr }
  t.is((await callTool(agent, 'first_financing_check', requested)).result.status, 'CLEAN')
  const { usage } = (await callTool(agent, 'usage_get')).result
  t.true(usage.every(({ env }: { env: string }) => env === 'SANDBOX'))
})

test('usage_get counts only the organisation of the key', async (t) => {
  const stranger = await openClient(product, base, { env: 'PRODUCTION' })
  const agent = await connect(base, (await makeKey(stranger, await keyOf(stranger))).key)
  t.deepEqual((await callTool(agent, 'usage_get')).result.usage, [])
})

const ownKey = () => ({ scopes: SCOPES, projects: [ids.project ?? ''] })

async function keyOf(stranger: ApiClient) {
  return { scopes: SCOPES, projects: [(await addProjectOf(product, stranger)).uuid] }
}
