import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { cutTree, memberPath } from '#shared/risk/pools/cut-tree.ts'
import { leafHash, verifyInclusion } from '#shared/transparency/anchoring/merkle.ts'
import { toHex } from '#shared/transparency/anchoring/text.ts'
import { eventually } from '../../support/eventually.ts'
import { openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { consumerOf, item, items, verify as runVerify } from './pools-support.ts'

let product: HttpProduct
let base = ''
let owner: ReturnType<typeof consumerOf>
const folder = mkdtempSync(join(tmpdir(), 'pools-'))

test.before(async () => {
  product = await sharedProduct({ workers: ['pool-builder', 'anchor'] })
  base = product.url
  owner = consumerOf(base, await openClient(product, base))
})
test.after.always(async () => {
  rmSync(folder, { recursive: true })
})

test('root and path of three payload hashes equal the published ones', async (t) => {
  const hashes = ['one', 'two', 'three'].map((name) => hash('sha256', `receivable ${name}`, 'buffer'))
  t.is(toHex(cutTree(hashes).root), '002edcd6d68bb31cb52108e4db148affacaf90e83578d9bce00362fc854839c9')
  const path = await memberPath(1, 3, [], async (from, to) => hashes.slice(from, to))
  t.deepEqual(path.map(toHex), [
    '9d70ad26fac47f01562f7a865502c0db0a2309154102bbb79a56d868e99dc521',
    '6b286eb31deeacb18b429aaa669b3e26a1146a2de91d9b62b676e79809e0ec2a',
  ])
})

test('a path reads at most two chunks of leaves and leads to the root, for any size', async (t) => {
  for (const size of [1, 255, 256, 257, 512, 1_000, 2_049]) {
    const hashes = Array.from({ length: size }, (_, n) => hash('sha256', `r${n}`, 'buffer'))
    const { root, chunks } = cutTree(hashes)
    for (const index of [0, Math.floor(size / 2), size - 1]) {
      let reads = 0
      const path = await memberPath(index, size, chunks, async (from, to) => {
        reads += to - from
        return hashes.slice(from, to)
      })
      t.true(reads <= 512)
      t.true(
        verifyInclusion(leafHash(hashes[index] ?? Buffer.alloc(0)), index, size, path, root),
        `${index} of ${size}`,
      )
    }
  }
})

test.serial('a receivable of a cut pool is verified offline, and a change is detected', async (t) => {
  const made = await owner.post('/pools', { name: 'Pool 7', receivables: items(300) })
  t.is(made.status, 201, made.text)
  t.like(made.json, { name: 'Pool 7', currency: 'INR', state: 'OPEN', size: 300 })
  const { poolId } = made.json
  const cut = await owner.post(`/pools/${poolId}/cuts`, { cutOffDate: '2026-09-30' }, { prefer: 'wait=25' })
  t.is(cut.status, 201, cut.text)
  t.like(cut.json, { poolId, size: 300, sumPaise: String(300n * 11_800_000n), eventType: 'securitisation.pool_cut' })
  const { json: page } = await owner.get(`/pools/${poolId}/receivables`)
  t.is(page.receivables.length, 300)
  const one = page.receivables[271]
  t.is(page.references[one.receivableId], 'R-271')
  t.like(one, { poolId, doubleFinancing: 'CLEAN', irnPresent: null, amountInr: 118_000 })
  t.notRegex(JSON.stringify(page.receivables), /registrationId|29AAACR/)
  const { json: proof } = await owner.get(`/cuts/${cut.json.cutRecordId}/proof?receivableId=${one.receivableId}`)
  t.is(proof.index, 271)
  t.deepEqual(proof.cut, cut.json)

  const anchor = await eventually('the log includes the cut', async () => {
    const { json } = await send(`${base}/v1/anchors/${cut.json.anchor.txId}`)
    return Array.isArray(json.proof) && json
  })
  const file = (name: string, content: unknown) => {
    const path = join(folder, name)
    writeFileSync(path, JSON.stringify(content))
    return path
  }
  const key = (await send(`${base}/v1/transparency/sandbox/log-key`)).text.trim()
  const anchorFile = file('anchor.json', anchor)
  const verify = (content: unknown) => runVerify(file('proof.json', content), '--proof', anchorFile, '--key', key)
  const whole = await verify(proof)
  t.is(whole.status, 0, whole.stdout + whole.stderr)
  t.regex(whole.stdout, /^VERIFIED[\s\S]*ok {3}member/)
  t.is((await verify({ ...proof, receivable: { ...one, amountInr: 1 } })).status, 1)
  t.is((await verify({ ...proof, index: 270 })).status, 1)
  t.is((await verify({ ...proof, receivable: page.receivables[0] })).status, 1)

  await owner.post(`/pools/${poolId}/receivables`, { receivables: items(1, 'LATER') })
  t.deepEqual((await owner.get(`/cuts/${cut.json.cutRecordId}`)).json, cut.json)
  const again = await owner.get(`/cuts/${cut.json.cutRecordId}/proof?receivableId=${one.receivableId}`)
  t.deepEqual(again.json, proof)
  t.is((await owner.get(`/pools/${poolId}/cuts`)).json.cuts.length, 1)
})

test('refuses a repeated reference, more than 50,000 receivables, and the cut of an empty pool', async (t) => {
  const { json } = await owner.post('/pools', { name: 'Small', receivables: items(2) })
  const twice = await owner.post(`/pools/${json.poolId}/receivables`, { receivables: [item('NEW'), item('R-1')] })
  t.is(twice.status, 409, twice.text)
  t.like(twice.json.errors[0], { path: 'receivables[1].receivableId', code: 'TAKEN' })
  t.is((await owner.post('/pools', { name: 'x', receivables: [item('A'), item('A')] })).status, 409)
  await product.db('pools').where({ id: json.poolId }).update({ size: 50_000 })
  const full = await owner.post(`/pools/${json.poolId}/receivables`, { receivables: [item('NEW')] })
  t.like(full.json, { status: 400, errors: [{ path: 'receivables', code: 'TOO_MANY' }] })
  const empty = await owner.post('/pools', { name: 'Empty' })
  t.is((await owner.post(`/pools/${empty.json.poolId}/cuts`, { cutOffDate: '2026-09-30' })).status, 409)
})

test('refuses a document that a pool contains already, in any spelling', async (t) => {
  const own = consumerOf(base, await openClient(product, base))
  const one = item('a', { documentNumber: 'q/1' })
  const twice = { path: 'receivables[1].documentNumber', code: 'TAKEN' }
  const together = await own.post('/pools', { name: 'x', receivables: [one, { ...one, receivableId: 'b' }] })
  t.like(together.json, { status: 409, errors: [twice] })
  const made = await own.post('/pools', { name: 'Once', receivables: [one] })
  const path = `/pools/${made.json.poolId}`
  const same = { ...one, receivableId: 'c', documentNumber: 'Q/1', documentDate: '2026-06-09', amountInr: 5 }
  await eventually('the evidence of the first', async () => (await own.get(path)).json.built === 1)
  const later = await own.post(`${path}/receivables`, { receivables: [item('d'), same] })
  t.like(later.json, { status: 409, errors: [twice] })
  const others = [
    { ...same, receivableId: 'e', documentType: 'DBN' },
    { ...same, receivableId: 'f', documentNumber: 'Q/2' },
    { ...same, receivableId: 'g', documentDate: '2025-05-01' },
    { ...same, receivableId: 'h', supplierGstin: '27AAACB1234C1ZF', buyerGstin: '29AAACR5678D1Z5' },
  ]
  const added = await own.post(`${path}/receivables`, { receivables: others })
  t.is(added.status, 201, added.text)
  t.is((await own.post('/pools', { name: 'Another', receivables: [same] })).status, 201)
})

test('a receivable of a pool is read by its own reference', async (t) => {
  const own = consumerOf(base, await openClient(product, base))
  const [reference, other] = ['OWN-REF/77', 'OWN-REF/78']
  const receivables = [item(reference, { amountInr: 4_321 }), item(other)]
  const { poolId } = (await own.post('/pools', { name: 'Referenced', receivables })).json
  await eventually('the evidence', async () => (await own.get(`/pools/${poolId}`)).json.built === 2)
  const path = `/receivables/${encodeURIComponent(reference)}`
  const found = await own.get(path)
  t.is(found.status, 200, found.text)
  t.like(found.json, { poolId, amountInr: 4_321 })
  t.is((await owner.get(path)).status, 404, 'of another organisation')
  const again = { name: 'Second', receivables: [item(reference)] }
  const { poolId: second } = (await own.post('/pools', again)).json
  await eventually('the evidence', async () => (await own.get(`/pools/${second}`)).json.built === 1)
  t.like((await own.get(path)).json, { status: 409, errors: [{ path: 'ref', code: 'AMBIGUOUS' }] })
})

test('refuses a cut-off date before the earliest document of the pool', async (t) => {
  const dated = [item('a', { documentDate: '2026-05-02' }), item('b', { documentDate: '2026-05-01' })]
  const { poolId } = (await owner.post('/pools', { name: 'Dated', receivables: dated })).json
  const cut = (cutOffDate: string) => owner.post(`/pools/${poolId}/cuts`, { cutOffDate }, { prefer: 'wait=25' })
  t.like((await cut('2026-04-30')).json, { status: 400, errors: [{ path: 'cutOffDate', code: 'TOO_EARLY' }] })
  t.like((await cut('2099-01-01')).json, { status: 400, errors: [{ path: 'cutOffDate', code: 'TOO_LATE' }] })
  t.is((await cut('2026-05-01')).status, 201)
})

test.serial('receivables can be added to a pool while evidence of earlier ones is being built', async (t) => {
  let poolId = ''
  await product.db.transaction(async (tx) => {
    // The builder reads this row in the middle of its work and blocks until the transaction ends.
    await tx.raw('LOCK TABLE receivables IN ACCESS EXCLUSIVE MODE')
    const made = await owner.post('/pools', { name: 'Growing', receivables: items(2) })
    poolId = made.json.poolId
    await eventually('the builder to be blocked', async () => {
      const { rows } = await tx.raw(
        "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'receivables'::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      )
      return rows.length > 0
    })
    const added = await owner.post(`/pools/${poolId}/receivables`, { receivables: [item('LATER')] })
    t.is(added.status, 201, added.text)
    t.is(added.json.size, 3)
  })
  await eventually('all evidence to be built', async () => (await owner.get(`/pools/${poolId}`)).json.built === 3)
})

test('pools of others get 404, a missing key 401 and a missing idempotency key 400', async (t) => {
  const key = { 'x-idempotency-key': 'again' }
  const body = { name: 'Mine', receivables: items(2) }
  const first = await owner.post('/pools', body, key)
  t.is((await owner.post('/pools', body, key)).text, first.text)
  const { poolId } = first.json
  const cut = await owner.post(`/pools/${poolId}/cuts`, { cutOffDate: '2026-09-30' })
  const stranger = consumerOf(base, await openClient(product, base))
  const foreign = [
    await stranger.get(`/pools/${poolId}`),
    await stranger.get(`/pools/${poolId}/receivables`),
    await stranger.get(`/pools/${poolId}/cuts`),
    await stranger.post(`/pools/${poolId}/receivables`, { receivables: items(1, 'X') }),
    await stranger.post(`/pools/${poolId}/cuts`, { cutOffDate: '2026-09-30' }),
    await stranger.get(`/cuts/${cut.json.cutRecordId}`),
    await stranger.get(`/cuts/${cut.json.cutRecordId}/proof?receivableId=${poolId}`),
  ]
  t.deepEqual([...new Set(foreign.map(({ status }) => status))], [404])
  t.is((await stranger.get('/pools')).json.pools.length, 0)
  t.is((await send(`${base}/v1/securitisation/pools`)).status, 401)
  t.is((await owner.post('/pools', body, { 'x-idempotency-key': '' })).json.code, 'IDEMPOTENCY_KEY_REQUIRED')
})
