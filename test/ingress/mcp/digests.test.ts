import { createHash } from 'node:crypto'
import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { eventually } from '../../support/eventually.ts'
import { openClient } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'
import { callTool, connect, makeKey } from './agents.ts'

test('several sweepers anchor the calls of a day once', async (t) => {
  await using product = await openProduct({ hasRowSecurity: true })
  const { base } = await product.ingress()
  const owner = await openClient(product, base)
  const agent = await connect(base, (await makeKey(owner)).key)
  for (let n = 0; n < 5; n++) await callTool(agent, 'gstin_validate', { gstin: `${n}` })
  // Yesterday ends only at five past midnight, so the day before is used.
  const before = new Date(Date.now() - 2 * 86_400_000)
  await product.db('agent_calls').update({ called_at: before })
  await callTool(agent, 'gstin_validate', { gstin: 'of today' })
  await Promise.all([product.workers(['sweeper', 'anchor']), product.workers(['sweeper'])])
  const digest = await eventually('the day to be anchored', async () => {
    const { json } = await owner.get('/v1/agents/digests')
    return json.digests[0]
  })
  t.like(digest, { eventType: 'agents.daily_digest', date: before.toISOString().slice(0, 10), calls: 5 })

  const { json } = await owner.get('/v1/agents/calls')
  const ofDay = json.calls.filter(({ at }: { at: string }) => at.startsWith(digest.date))
  t.is(ofDay.length, 5)
  t.is(rootOf(ofDay), digest.root)
  const [altered, ...rest] = ofDay
  t.not(rootOf([{ ...altered, code: 'NOT_FOUND' }, ...rest]), digest.root)
  t.not(rootOf(rest), digest.root)

  const verified = await eventually('a checkpoint to cover it', async () => {
    const answer = await owner.post('/v1/anchors/verify', { object: digest })
    return answer.json.state === 'PENDING' ? undefined : answer.json
  })
  t.true(verified.verified)
  const stranger = await openClient(product, base)
  t.deepEqual((await stranger.get('/v1/agents/digests')).json.digests, [])
  t.is(Number((await product.db('agent_digests').count({ n: '*' }))[0]?.n), 1)
  t.is(Number((await product.db('log_entries').count({ n: '*' }))[0]?.n), 1)
})

/** Returns the root hash of RFC 6962 section 2.1 over the calls in the order of their ids, without production code. */
function rootOf(calls: Record<string, string>[]): string {
  const hash = (...parts: (string | Uint8Array)[]) => {
    const digest = createHash('sha256')
    for (const part of parts) digest.update(part)
    return digest.digest()
  }
  const leaves = calls
    .toSorted((a, b) => ((a.callId ?? '') < (b.callId ?? '') ? -1 : 1))
    .map(({ durationMs: _, ...call }) => hash(Buffer.of(0), canonicalize(call)))
  const tree = (nodes: Buffer[]): Buffer => {
    if (nodes.length <= 1) return nodes[0] ?? hash('')
    let split = 1
    while (split * 2 < nodes.length) split *= 2
    return hash(Buffer.of(1), tree(nodes.slice(0, split)), tree(nodes.slice(split)))
  }
  return tree(leaves).toString('hex')
}
