import { randomUUID } from 'node:crypto'
import test from 'ava'
import { gstinCheckCharacter } from '#shared/risk/identifiers/gstin.ts'
import { eventually } from '../../support/eventually.ts'
import { demoRequest, openClient } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'
import { scenarioGstin } from '../risk/financing-support.ts'
import { makeKey, rawPost } from './agents.ts'

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

test('a key that asks more often than it may is answered 429 and when to come back, and others are not', async (t) => {
  await using product = await openProduct({ env: { AGENT_RATE_LIMIT_PER_MINUTE: '5' }, isBound: true })
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

test('nobody waits for a client that has gone: its call ends, and its pack stays asked for', async (t) => {
  await using product = await openProduct({ isBound: true })
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
  // The registry answers after twelve seconds: a call that still waited would be answered with what is queued.
  const audited = await eventually('the call to end', () => product.db('agent_calls').first('code', 'units'))
  t.deepEqual(audited, { code: 'CANCELLED', units: 1 })
  t.is((await product.db('packs').first('state')).state, 'QUEUED')
})
