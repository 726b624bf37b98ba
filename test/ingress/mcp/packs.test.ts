import { randomUUID } from 'node:crypto'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, demoRequest, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { callTool, connect, ERAS, makeKey } from './agents.ts'

let product: HttpProduct
let base = ''
let owner: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['pack-composer', 'anchor'] })
  base = product.url
  owner = await openClient(product, base)
})

const SCOPES = ['agents:invoke', 'risk-signals:run', 'risk-signals:read', 'usage:read']

for (const era of ERAS) {
  test(`${era}: a pack is composed and metered once per idempotencyKey, and verified`, async (t) => {
    const maker = await openClient(product, base)
    const agent = await connect(base, (await makeKey(maker, { scopes: SCOPES })).key, era)
    const args = { idempotencyKey: randomUUID(), ...demoRequest }
    const run = await callTool(agent, 'risk_signals_run', args)
    t.false(run.isError, JSON.stringify(run.result))
    const { packId } = run.result
    // The tool waits for ten seconds, and answers with a pack that is not ready then.
    const result = await eventually('the pack to be ready', async () => {
      const { result } = await callTool(agent, 'risk_signals_get', { packId })
      return result.status === 'READY' && result
    })
    t.is((await callTool(agent, 'risk_signals_run', args)).result.packId, result.packId)
    t.deepEqual((await callTool(agent, 'risk_signals_run', args)).result, result)
    const { usage } = (await callTool(agent, 'usage_get')).result
    t.like(usage, [{ family: 'risk-signals', units: 1 }])
    const { text } = await maker.get(`/v1/po/risk-signals/packs/${result.packId}`)
    const verified = await eventually('a checkpoint to cover it', async () => {
      const answer = await callTool(agent, 'anchor_verify', { object: JSON.parse(text) })
      return answer.result.state === 'PENDING' ? undefined : answer.result
    })
    t.true(verified.verified)
    const altered = await callTool(agent, 'anchor_verify', { object: { ...JSON.parse(text), signalLevel: 'CLEAR!' } })
    t.like(altered.result, { result: 'FAILED' })
    const { contents } = await agent.readResource({ uri: `signalbox://packs/${result.packId}` })
    t.deepEqual(JSON.parse((contents[0] as { text: string }).text), result)
  })
}

test('the X-Idempotency-Key of the API and idempotencyKey share one namespace', async (t) => {
  const agent = await connect(base, (await makeKey(owner, { scopes: SCOPES })).key)
  const key = randomUUID()
  const { json } = await owner.post('/v1/po/risk-signals', demoRequest, { 'x-idempotency-key': key })
  const { result } = await callTool(agent, 'risk_signals_run', { idempotencyKey: key, ...demoRequest })
  t.is(result.packId, json.packId)
  const other = await callTool(agent, 'risk_signals_run', { idempotencyKey: key, ...demoRequest, poValue: 1 })
  t.like(other.result, { code: 'IDEMPOTENCY_KEY_REUSED' })
})

test('invalid arguments are refused by validation and not metered', async (t) => {
  const maker = await openClient(product, base)
  const agent = await connect(base, (await makeKey(maker, { scopes: SCOPES })).key)
  const run = (args: object) =>
    callTool(agent, 'risk_signals_run', { idempotencyKey: randomUUID(), ...demoRequest, ...args })
  const { isError, result } = await run({ buyerGstin: '27AAACB1234C1Z' })
  t.true(isError)
  t.like(result, { code: 'VALIDATION_ERROR', errors: [{ path: 'buyerGstin', code: 'LENGTH' }] })
  t.regex(result.requestId, /^[\w-]+$/)
  t.like((await run({ nonsense: 1 })).result, { errors: [{ path: 'nonsense', code: 'UNKNOWN_FIELD' }] })
  t.like((await run({ mode: 'LIVE' })).result, { code: 'FORBIDDEN' })
  t.like((await run({ idempotencyKey: '' })).result, { errors: [{ path: 'idempotencyKey' }] })
  t.deepEqual((await callTool(agent, 'usage_get')).result.usage, [])
})

test('a pack of another organisation gets the response of an unknown one', async (t) => {
  const stranger = await openClient(product, base)
  const { json } = await owner.post('/v1/po/risk-signals', demoRequest)
  const agent = await connect(base, (await makeKey(stranger, { scopes: SCOPES })).key)
  const foreign = await callTool(agent, 'risk_signals_get', { packId: json.packId })
  const unknown = await callTool(agent, 'risk_signals_get', { packId: randomUUID() })
  t.like(foreign.result, { code: 'NOT_FOUND' })
  t.is(foreign.result.message, unknown.result.message)
  await t.throwsAsync(agent.readResource({ uri: `signalbox://packs/${json.packId}` }))
})

for (const [name, budgets] of [
  ['a day', { 'risk-signals': { perDay: 2 } }],
  ['a month', { 'risk-signals': { perMonth: 2 } }],
] as const) {
  test(`a budget of two in ${name} refuses the third pack but not a replay`, async (t) => {
    const maker = await openClient(product, base)
    const { key, keyId } = await makeKey(maker, { scopes: SCOPES, budgets })
    const agent = await connect(base, key)
    const first = { idempotencyKey: randomUUID(), ...demoRequest }
    const once = await callTool(agent, 'risk_signals_run', first)
    t.false(once.isError)
    const rest = await Promise.all(
      Array.from({ length: 5 }, () =>
        callTool(agent, 'risk_signals_run', { ...demoRequest, idempotencyKey: randomUUID() }),
      ),
    )
    t.is(rest.filter(({ isError }) => !isError).length, 1)
    const refused = rest.find(({ isError }) => isError)
    t.like(refused?.result, { code: 'RATE_LIMITED', errors: [{ path: 'risk-signals', code: 'BUDGET' }] })
    t.is((await callTool(agent, 'risk_signals_run', first)).result.packId, once.result.packId)
    const events = await product.db('events').where({ type: 'agents.budget_exhausted', deal_id: keyId })
    t.is(events.length, 1, 'one event a day')
    t.is((await callTool(agent, 'usage_get')).result.usage[0].units, 2)
  })
}

test('a call without remaining budget is not metered', async (t) => {
  const { key } = await makeKey(owner, { scopes: SCOPES, budgets: { 'risk-signals': { perDay: 0 } } })
  const agent = await connect(base, key)
  const args = { ...demoRequest, idempotencyKey: randomUUID() }
  t.like((await callTool(agent, 'risk_signals_run', args)).result, { code: 'RATE_LIMITED' })
})

test('the audit has tool, outcome, units and argument hash of every call', async (t) => {
  const maker = await openClient(product, base)
  const { key, keyId } = await makeKey(maker, { scopes: SCOPES })
  const agent = await connect(base, key)
  const right = await callTool(agent, 'gstin_validate', { gstin: '27AAACB1234C1ZF' })
  const pack = await callTool(agent, 'risk_signals_run', { idempotencyKey: randomUUID(), ...demoRequest })
  const wrong = await callTool(agent, 'risk_signals_get', { packId: 'nothing' })
  const { json } = await maker.get(`/v1/agents/calls?keyId=${keyId}`)
  t.like(json.calls, [
    { callId: wrong.callId, keyId, tool: 'risk_signals_get', code: 'NOT_FOUND', units: 0 },
    { callId: pack.callId, keyId, tool: 'risk_signals_run', code: 'OK', units: 1 },
    {
      callId: right.callId,
      tool: 'gstin_validate',
      // SHA-256 of {"gstin":"27AAACB1234C1ZF"}
      argumentsSha256: 'f25d609b9e83637a59c6db77d9ac0ff75132258657f57cbaf3b4db03ec4f28b2',
    },
  ])
  const { json: page } = await maker.get('/v1/agents/calls?limit=1')
  const { json: next } = await maker.get(`/v1/agents/calls?limit=1&cursor=${page.nextCursor}`)
  t.deepEqual([page.calls[0].callId, next.calls[0].callId], [wrong.callId, pack.callId])
  t.is((await maker.get(`/v1/agents/keys/${keyId}`)).json.calls, 3)
  t.deepEqual((await owner.get(`/v1/agents/calls?keyId=${keyId}`)).json.calls, [])
})

test('calls per day and calls per minute have separate limits', async (t) => {
  const { key } = await makeKey(owner, { scopes: SCOPES, dailyLimit: 2 })
  const agent = await connect(base, key)
  const call = () => callTool(agent, 'gstin_validate', { gstin: '27AAACB1234C1ZF' })
  t.deepEqual([(await call()).isError, (await call()).isError], [false, false])
  t.like((await call()).result, { code: 'RATE_LIMITED' })
})
