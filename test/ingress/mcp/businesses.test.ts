import { randomUUID } from 'node:crypto'
import test from 'ava'
import { openClient } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'
import { receivable } from '../api-risk/financing-support.ts'
import { callTool, connect, makeKey } from './agents.ts'

const business = {
  gstin: '29AAACR5678D1Z5',
  cin: 'U28999MH2015PTC123456',
  legalName: 'Synthetic Components Private Limited',
}
const scopes = ['agents:invoke', 'kyb:read', 'acceptance:read', 'risk-signals:read']

test('an agent reads entities, acceptance and dilution with marked texts', async (t) => {
  await using product = await openProduct({ hasRowSecurity: true })
  const { base } = await product.ingress()
  await product.workers(['kyb-verifier', 'acceptance-recorder', 'dilution-measurer'])
  const [owner, stranger] = [await openClient(product, base), await openClient(product, base)]
  const agent = await connect(base, (await makeKey(owner, { scopes })).key)
  const other = await connect(base, (await makeKey(stranger, { scopes })).key)

  const { json: verified } = await owner.post('/v1/kyb/verifications', business)
  const args = { vei: verified.vei, idempotencyKey: randomUUID() }
  const again = await callTool(agent, 'entity_verify', args)
  t.is(again.result.vei, verified.vei)
  t.not(again.result.verificationId, verified.verificationId)
  t.deepEqual((await callTool(agent, 'entity_verify', args)).result, again.result)
  t.like((await callTool(other, 'entity_verify', args)).result, { code: 'NOT_FOUND' })
  const misspelt = { ...args, vei: `${verified.vei.slice(0, -1)}?`, idempotencyKey: randomUUID() }
  t.like((await callTool(agent, 'entity_verify', misspelt)).result, { code: 'VALIDATION_ERROR' })

  const { legalName } = business
  const found = await callTool(agent, 'lei_resolve', { idempotencyKey: randomUUID(), legalName })
  t.like(found.result, { matchBasis: 'NAME', legalName: { untrusted: true, source: 'GLEIF' } })

  const record = {
    receivableRef: 'F-1',
    channel: 'BUYER_PORTAL',
    action: 'ACCEPTED',
    at: '2026-06-20T18:30:00.000Z',
    declaredBy: 'SUPPLIER',
  }
  const { status, json: recorded } = await owner.post('/v1/acceptance/records', record)
  t.is(status, 201, JSON.stringify(recorded))
  const { acceptanceId } = recorded
  t.deepEqual((await callTool(agent, 'acceptance_get', { acceptanceId })).result, {
    ...recorded,
    receivableRef: { untrusted: true, source: 'caller', text: 'F-1' },
  })
  t.like((await callTool(other, 'acceptance_get', { acceptanceId })).result, { code: 'NOT_FOUND' })

  const pair = { supplierGstin: '29AAACR5678D1Z5', buyerGstin: '27AAACB1234C1ZF' }
  const diluted = await callTool(agent, 'anti_dilution_get', pair)
  t.false(diluted.isError, JSON.stringify(diluted.result))
  const withKey = { ...pair, idempotencyKey: randomUUID() }
  t.deepEqual(
    (await callTool(agent, 'anti_dilution_get', withKey)).result,
    diluted.result,
    'every tool accepts an idempotencyKey',
  )
  t.like((await callTool(agent, 'anti_dilution_get', { ...pair, buyerGstin: 'x' })).result, {
    code: 'VALIDATION_ERROR',
  })
})

test('a unit is reserved for metered calls only, and the audit names the call', async (t) => {
  await using product = await openProduct({ hasRowSecurity: true })
  const { base } = await product.ingress()
  await product.workers(['kyb-verifier', 'dilution-measurer', 'financing-registrar'])
  const owner = await openClient(product, base)
  const one = { perDay: 1 }
  const { key, keyId } = await makeKey(owner, {
    scopes: [...scopes, 'first-financing:check'],
    budgets: { 'risk-signals': one, kyb: { perDay: 2 }, 'first-financing': one },
  })
  const agent = await connect(base, key)
  const exhausted = (family: string) => ({ code: 'RATE_LIMITED', errors: [{ path: family, code: 'BUDGET' }] })
  const supplierGstin = '29AAACR5678D1Z5'
  const dilution = (buyerGstin: string) => callTool(agent, 'anti_dilution_get', { supplierGstin, buyerGstin })
  t.false((await dilution('27AAACB1234C1ZF')).isError)
  t.false((await dilution('27AAACB1234C1ZF')).isError, 'the same pair on the same day uses no further unit')
  t.like((await dilution('24AAFFS4321K1ZA')).result, exhausted('risk-signals'))

  const { json: verified } = await owner.post('/v1/kyb/verifications', business)
  t.false((await callTool(agent, 'entity_verify', { vei: verified.vei })).isError)
  t.false((await callTool(agent, 'lei_resolve', { cin: 'U28999MH2015PTC999999' })).isError)
  t.like((await callTool(agent, 'lei_resolve', { legalName: business.legalName })).result, exhausted('kyb'))
  const its = receivable()
  t.is((await callTool(agent, 'first_financing_check', its)).result.status, 'CLEAN')
  t.like((await callTool(agent, 'first_financing_check', its)).result, exhausted('first-financing'), 'without a key')

  const { json } = await owner.get(`/v1/agents/calls?keyId=${keyId}`)
  const units = json.calls.map((call: { tool: string; units: number }) => `${call.tool} ${call.units}`)
  t.deepEqual(units.toReversed(), [
    ...['anti_dilution_get 1', 'anti_dilution_get 0', 'anti_dilution_get 0', 'entity_verify 1'],
    ...[`lei_resolve ${json.calls[3].units}`, 'lei_resolve 0', 'first_financing_check 1', 'first_financing_check 0'],
  ])
  const ofDay = json.calls.reduce((sum: number, call: { units: number }) => sum + call.units, 0)
  const { usage } = (await owner.get('/v1/usage')).json
  // The verification through the API is metered too.
  t.is(usage.reduce((sum: number, row: { units: number }) => sum + row.units, 0) - 1, ofDay)
})
