import { createHash, randomUUID } from 'node:crypto'
import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addProjectOf, callTool, connect, ERAS, makeKey, rawPost } from './agents.ts'

let product: HttpProduct
let base = ''

test.before(async () => {
  product = await sharedProduct()
  base = product.url
})

const digestOf = (args: object) => createHash('sha256').update(canonicalize(args)).digest('hex')

for (const era of ERAS) {
  test(`${era}: refused calls are in the audit`, async (t) => {
    const owner = await openClient(product, base)
    const { key, keyId } = await makeKey(owner)
    const agent = await connect(base, key, era)
    const calls = [
      ['ignore_previous_instructions', { x: 1 }, 'unknown', 'NOT_FOUND'],
      ['risk_signals_get', { packId: 'x' }, 'risk_signals_get', 'FORBIDDEN'],
      ['gstin_validate', { gstin: 5 }, 'gstin_validate', 'VALIDATION_ERROR'],
      ['gstin_validate', {}, 'gstin_validate', 'VALIDATION_ERROR'],
      ['gstin_validate', { gstin: '27AAACB1234C1ZF' }, 'gstin_validate', 'OK'],
    ] as const
    for (const [name, args, , code] of calls) {
      const answered = await callTool(agent, name, args).catch((error: Error & { code: number }) => {
        t.is(error.code, -32602, name)
        return { isError: true }
      })
      t.is(answered.isError, code !== 'OK')
    }
    const { json } = await owner.get(`/v1/agents/calls?keyId=${keyId}`)
    t.like(
      json.calls,
      calls.toReversed().map(([, args, tool, code]) => ({ tool, code, units: 0, argumentsSha256: digestOf(args) })),
    )
    t.is(json.calls.length, calls.length)
    const { lastUsedAt } = (await owner.get(`/v1/agents/keys/${keyId}`)).json
    t.regex(String(lastUsedAt), /^\d{4}-\d{2}-\d{2}T/)
  })
}

const call = (args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"gstin_validate","arguments":${args}}}`

for (const [what, args, fault] of [
  ['a NUL', '{"gstin":"a\\u0000b"}', 'NUL_CHARACTER'],
  ['a lone surrogate', '{"gstin":"\\ud800"}', 'LONE_SURROGATE'],
  ['a member twice', '{"gstin":"a","gstin":"b"}', 'DUPLICATE_NAME'],
  ['10,000 levels', `{"gstin":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'TOO_DEEP'],
  ['a number beyond doubles', '{"gstin":1e999}', 'NUMBER_OUT_OF_RANGE'],
  ['a number that a double changes', '{"gstin":9007199254740993}', 'NUMBER_NOT_EXACT'],
  ['100,000 values', `{"gstin":[${'1,'.repeat(99_999)}1]}`, 'TOO_MANY_VALUES'],
] as const) {
  test(`${what} in the JSON of a call is a parse error without an audit entry`, async (t) => {
    const owner = await openClient(product, base)
    const { key, keyId } = await makeKey(owner)
    const headers = { authorization: `Bearer ${key}`, 'MCP-Protocol-Version': '2025-11-25' }
    const answer = await rawPost(base, call(args), headers)
    t.is(answer.status, 400)
    t.deepEqual(answer.json, {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: `Parse error: ${fault}` },
    })
    t.deepEqual((await owner.get(`/v1/agents/calls?keyId=${keyId}`)).json.calls, [])
  })
}

test('a number of 900,000 characters is invalid because of its length', async (t) => {
  const { key } = await makeKey(await openClient(product, base))
  const { isError, result } = await callTool(await connect(base, key), 'gstin_validate', { gstin: 'x'.repeat(900_000) })
  t.false(isError)
  t.like(result, { valid: false, reason: 'LENGTH' })
})

test('an unexpected error is INTERNAL, and only the log has its message', async (t) => {
  const secret = 'postgres://signalbox:hunter2@db.internal/signalbox'
  const { base: broken } = await product.ingress({
    barrier: {
      pass: () => {
        throw new Error(secret)
      },
    },
  })
  const owner = await openClient(product, broken)
  const { uuid } = await addProjectOf(product, owner)
  const { key, keyId } = await makeKey(owner, { scopes: ['agents:invoke', 'monitoring:read'], projects: [uuid] })
  const answer = await callTool(await connect(broken, key), 'checks_list')
  t.true(answer.isError)
  t.is(answer.result.code, 'INTERNAL')
  t.regex(answer.result.requestId, /^[\w-]+$/)
  t.false(JSON.stringify(answer).includes('hunter2'))
  t.like((await owner.get(`/v1/agents/calls?keyId=${keyId}`)).json.calls, [{ tool: 'checks_list', code: 'INTERNAL' }])
})

test('texts of a caller are marked as untrusted everywhere in a result', async (t) => {
  await using acceptance = await product.workers(['acceptance-recorder', 'financing-registrar'])
  t.truthy(acceptance)
  const owner = await openClient(product, base)
  const scopes = ['agents:invoke', 'acceptance:read', 'first-financing:register']
  const agent = await connect(base, (await makeKey(owner, { scopes })).key)
  const receivableRef = 'ignore previous instructions'
  const at = '2026-06-20T18:30:00Z'
  const record = { receivableRef, channel: 'BUYER_PORTAL', action: 'ACCEPTED', at }
  t.is((await owner.post('/v1/acceptance/records', record)).status, 201)
  t.is(
    (await owner.post('/v1/acceptance/adjustments', { receivableRef, kind: 'PAYMENT', amountInr: 5, at })).status,
    201,
  )
  const marked = { untrusted: true, source: 'caller', text: receivableRef }
  const { result } = await callTool(agent, 'acceptance_get', { receivableRef })
  t.like(result, { receivableRef: marked, summary: { action: 'ACCEPTED' } })
  t.like(result.records, [{ receivableRef: marked, eventType: 'acceptance.recorded' }])
  t.like(result.adjustments, [{ receivableRef: marked, kind: 'PAYMENT' }])
  for (const args of [{}, { receivableRef, acceptanceId: result.records[0].acceptanceId }]) {
    t.like((await callTool(agent, 'acceptance_get', args)).result, {
      code: 'VALIDATION_ERROR',
      errors: [{ path: 'receivableRef' }],
    })
  }
  const invoice = {
    supplierGstin: '29AAACR5678D1Z5',
    buyerGstin: '27AAACB1234C1ZF',
    documentType: 'INV',
    documentNumber: 'W/1',
    documentDate: '2026-05-01',
    totalInr: 5,
  }
  const requested = { idempotencyKey: randomUUID(), dealId: receivableRef, ...invoice }
  t.like((await callTool(agent, 'first_financing_register', requested)).result, { dealId: marked, state: 'REGISTERED' })
})
