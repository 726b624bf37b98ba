import test from 'ava'
import { openClient } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'
import { issuePack } from '../api-risk/trade-support.ts'
import { callTool, connect, makeKey } from './agents.ts'

test('an agent with the scope verifies bundles and gets the reasons', async (t) => {
  await using product = await openProduct({ hasRowSecurity: true })
  const { base } = await product.ingress()
  await product.workers(['provenance-composer', 'anchor'])
  const [issuer, reader] = [await openClient(product, base), await openClient(product, base)]
  const { json } = await issuePack(issuer)
  const { json: bundle } = await issuer.get(`/v1/trade/packs/${json.packId}/bundle`)
  const agent = await connect(base, (await makeKey(reader, { scopes: ['agents:invoke', 'trade:read'] })).key)
  const found = await callTool(agent, 'provenance_verify', { bundle })
  t.false(found.isError)
  t.like(found.result, { valid: true, reasons: [] })
  const broken = { ...bundle, record: { ...bundle.record, documents: 2 } }
  t.like((await callTool(agent, 'provenance_verify', { bundle: broken })).result, {
    valid: false,
    reasons: ['RECORD_HASH'],
  })
  t.like((await callTool(agent, 'provenance_verify', { bundle: {} })).result, {
    code: 'VALIDATION_ERROR',
    errors: [{ path: 'bundle' }],
  })
  const narrow = await connect(base, (await makeKey(reader)).key)
  const { tools } = await narrow.listTools()
  t.false(tools.some(({ name }) => name === 'provenance_verify'))
})
