import { randomUUID } from 'node:crypto'
import test from 'ava'
import { gstinCheckCharacter } from '#shared/risk/identifiers/gstin.ts'
import { eventually } from '../../support/eventually.ts'
import { demoRequest, openClient } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'
import { receivable, scenarioGstin } from '../api-risk/financing-support.ts'
import { callTool, connect, ERAS, makeKey, rawPost } from './agents.ts'

/** Scenario 11: the registry answers after twelve seconds. */
const SLOW = scenarioGstin('11', gstinCheckCharacter)

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const headersOf = (key: string, name: string) => ({
  authorization: `Bearer ${key}`,
  'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': 'tools/call',
  'Mcp-Name': name,
})
const callOf = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
})

test('only a key beyond its rate limit gets 429 with a retry time', async (t) => {
  await using product = await openProduct({ env: { AGENT_RATE_LIMIT_PER_MINUTE: '5' }, hasRowSecurity: true })
  const { base } = await product.ingress()
  const owner = await openClient(product, base)
  const [busy, calm] = [await makeKey(owner), await makeKey(owner)]
  const call = ({ key }: { key: string }) =>
    rawPost(base, callOf('gstin_validate', { gstin: 'x' }), headersOf(key, 'gstin_validate'))
  const answers = await Promise.all(Array.from({ length: 50 }, () => call(busy)))
  t.is(answers.filter(({ status }) => status === 200).length, 5)
  const refused = answers.filter(({ status }) => status === 429)
  t.is(refused.length, 45)
  t.regex(refused[0]?.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  t.is((await call(calm)).status, 200)
  t.is(Number((await product.db('agent_calls').where({ key_id: busy.keyId }).count({ n: '*' }))[0]?.n), 5)
})

test.serial('a call ends when its client disconnects, and its pack stays requested', async (t) => {
  await using product = await openProduct({ hasRowSecurity: true })
  const { base } = await product.ingress()
  await product.workers(['pack-composer'])
  const owner = await openClient(product, base)
  const scopes = ['agents:invoke', 'risk-signals:run', 'risk-signals:read']
  const { key } = await makeKey(owner, { scopes })
  const name = 'risk_signals_run'
  const gone = new AbortController()
  const call = fetch(new URL('/mcp', base), {
    method: 'POST',
    headers: {
      ...headersOf(key, name),
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(callOf(name, { idempotencyKey: randomUUID(), ...demoRequest, subcontractorGstin: SLOW })),
    signal: gone.signal,
  })
  const isStored = async () => Number((await product.db('packs').count({ n: '*' }))[0]?.n) === 1
  await eventually('the job to be stored', isStored)
  gone.abort()
  await t.throwsAsync(call)
  // The registry answers after twelve seconds: a call that still waited would return the queued job.
  const audited = await eventually('the call to end', () => product.db('agent_calls').first('code', 'units'))
  t.deepEqual(audited, { code: 'CANCELLED', units: 1 })
  const { state } = await product.db('packs').first('state')
  t.true(['QUEUED', 'READY'].includes(state), 'the pack is created anyway')
})

for (const era of ERAS) {
  test.serial(`${era}: a cancelled call ends at once, and its idempotency key returns the result later`, async (t) => {
    await using product = await openProduct({ hasRowSecurity: true })
    const { base } = await product.ingress()
    const owner = await openClient(product, base)
    const { key } = await makeKey(owner, { scopes: ['agents:invoke', 'risk-signals:run', 'risk-signals:read'] })
    const agent = await connect(base, key, era)
    const args = { idempotencyKey: randomUUID(), ...demoRequest }
    const cancelled = new AbortController()
    // No worker runs: a call that is not cancelled returns the queued job after ten seconds.
    const call = agent.callTool({ name: 'risk_signals_run', arguments: args }, { signal: cancelled.signal })
    await eventually('the job to be stored', async () => (await product.db('packs').pluck('id')).length === 1)
    cancelled.abort()
    await t.throwsAsync(call)
    const audited = await eventually('the call to end', () => product.db('agent_calls').first('code', 'units'))
    t.deepEqual(audited, { code: 'CANCELLED', units: 1 })
    await product.workers(['pack-composer'])
    const packId = await eventually('the result to be returned', async () => {
      const { result, isError } = await callTool(agent, 'risk_signals_run', args)
      return isError ? undefined : result.packId
    })
    t.deepEqual(await product.db('packs').pluck('id'), [packId])
  })
}

test.serial('calls whose clients disconnect release their slots, and their jobs run once', async (t) => {
  await using product = await openProduct({ hasRowSecurity: true })
  const { base } = await product.ingress()
  const owner = await openClient(product, base)
  const scopes = ['agents:invoke', 'kyb:read', 'first-financing:check']
  const { key } = await makeKey(owner, { scopes })
  // No worker runs: a call waits until its timeout, which is ten seconds, or until its client disconnects.
  const check = (signal: AbortSignal, n: number) => {
    const args = { idempotencyKey: `gone-${n}`, ...receivable() }
    return fetch(new URL('/mcp', base), {
      method: 'POST',
      headers: {
        ...headersOf(key, 'first_financing_check'),
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(callOf('first_financing_check', args)),
      signal,
    })
  }
  const gone = new AbortController()
  const calls = Array.from({ length: 16 }, (_, n) => check(gone.signal, n))
  const count = async (table: string) => Number((await product.db(table).count({ n: '*' }))[0]?.n)
  await eventually('sixteen jobs to be requested', async () => (await count('evidence_jobs')) === 16)
  const one = await rawPost(base, callOf('gstin_validate', { gstin: 'x' }), headersOf(key, 'gstin_validate'))
  t.is(one.status, 429, 'the key has the maximum number of running calls')
  gone.abort()
  await Promise.allSettled(calls)
  await eventually('all calls to end', async () => (await count('agent_calls')) === 16)
  t.deepEqual(await product.db('agent_calls').distinct('code').pluck('code'), ['CANCELLED'])
  const next = await rawPost(base, callOf('gstin_validate', { gstin: 'x' }), headersOf(key, 'gstin_validate'))
  t.is(next.status, 200)
  // Each requested job still runs once, as for an API client that disconnects.
  await product.workers(['financing-registrar'])
  await eventually('the requested jobs to be done', async () =>
    (await product.db('evidence_jobs').pluck('state')).every((state) => state === 'DONE'),
  )
  t.is(await count('evidence_jobs'), 16)
})
