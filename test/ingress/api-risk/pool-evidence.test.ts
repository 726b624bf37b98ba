import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'csv-parse/sync'
import { canonicalize } from '#shared/canonical/jcs.ts'
import type { JsonValue } from '#shared/canonical/parse-json.ts'
import { createBundle } from '#shared/transparency/provenance/bagit.ts'
import { readZip, writeZip } from '#shared/transparency/provenance/zip.ts'
import { eventually } from '../../support/eventually.ts'
import { openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { consumerOf, item, items, verify } from './pools-support.ts'

let product: HttpProduct
let base = ''
let owner: ReturnType<typeof consumerOf>
/** A pool of five with one cut, and an evaluation of it. */
const ids = { poolId: '', cutId: '', runId: '' }
const folder = mkdtempSync(join(tmpdir(), 'pool-evidence-'))
const OTHER_BUYER = '29AAACR5678D1Z5'

const RULES = [
  { id: 'small', field: 'amountInr', op: 'le', value: 150_000 },
  { id: 'soon', field: 'daysToDue', op: 'le', value: 60 },
  { id: 'invoiced', field: 'irnPresent', op: 'eq', value: true },
]

test.before(async () => {
  product = await sharedProduct({ workers: ['pool-builder', 'anchor'] })
  base = product.url
  owner = consumerOf(base, await openClient(product, base))
  const receivables = [
    item('=HYPERLINK("x")'),
    item('R-2', { amountInr: 50_000, dueDate: undefined }),
    item('R-3', { amountInr: 250_000, dueDate: '2026-09-01' }),
    item('R-4', { amountInr: 1_000_000.01, supplierGstin: '27AAACB1234C1ZF', buyerGstin: OTHER_BUYER }),
    item('R-5'),
  ]
  const made = await owner.post('/pools', { name: 'Pool 7', dealId: 'DEAL-7', receivables })
  ids.poolId = made.json.poolId
  const cut = await owner.post(`/pools/${ids.poolId}/cuts`, { cutOffDate: '2026-06-30' }, { prefer: 'wait=25' })
  ids.cutId = cut.json.cutRecordId
  const run = await owner.post(`/pools/${ids.poolId}/eligibility`, { rules: RULES }, { prefer: 'wait=25' })
  ids.runId = run.json.runId
})
test.after.always(async () => {
  rmSync(folder, { recursive: true })
})

const get200 = (path: string) =>
  eventually(`${path}`, async () => {
    const answer = await owner.get(path)
    return answer.status === 200 && answer
  })

test('the evidence root equals that of the cut of the same size', async (t) => {
  const cut = (await owner.get(`/cuts/${ids.cutId}`)).json
  const { json } = await get200(`/pools/${ids.poolId}/evidence-root`)
  t.deepEqual(json, { poolId: ids.poolId, size: 5, root: cut.root, cutId: ids.cutId })

  const grown = await owner.post('/pools', { name: 'Grows', receivables: items(2) })
  const path = `/pools/${grown.json.poolId}/evidence-root`
  const before = (await get200(path)).json
  t.like(before, { size: 2, cutId: null })
  await owner.post(`/pools/${grown.json.poolId}/receivables`, { receivables: items(1, 'L') })
  const after = (await get200(path)).json
  t.is(after.size, 3)
  t.not(after.root, before.root)
  const empty = await owner.post('/pools', { name: 'Empty' })
  t.like((await owner.get(`/pools/${empty.json.poolId}/evidence-root`)).json, {
    status: 409,
    errors: [{ code: 'EMPTY' }],
  })
})

test('while evidence is being built, the root returns 202 with the address to poll', async (t) => {
  const { json } = await owner.post('/pools', { name: 'Slow', receivables: items(3) })
  const answer = await owner.get(`/pools/${json.poolId}/evidence-root`, { prefer: 'respond-async' })
  t.true([200, 202].includes(answer.status), answer.text)
  if (answer.status === 202) {
    t.is(answer.headers.get('location'), `/v1/securitisation/pools/${json.poolId}/evidence-root`)
    t.is(answer.headers.get('retry-after'), '1')
  }
  t.is((await get200(`/pools/${json.poolId}/evidence-root`)).json.size, 3)
})

test('tapes are deterministic, with a line per receivable and without formulas or registrations', async (t) => {
  const path = `/pools/${ids.poolId}/tape`
  await get200(path)
  const csv = await owner.bytes(path)
  t.deepEqual((await owner.bytes(`${path}?format=csv&cut=${ids.cutId}`)).bytes, csv.bytes)
  t.is(csv.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  t.is(Number(csv.headers.get('content-length')), csv.bytes.length)
  const records = parse(csv.bytes, { columns: true }) as Record<string, string>[]
  t.deepEqual(
    records.map(({ reference, amountInr, daysToDue }) => [reference, amountInr, daysToDue]),
    [
      [`'=HYPERLINK("x")`, '118000', '32'],
      ['R-2', '50000', ''],
      ['R-3', '250000', '63'],
      ['R-4', '1000000.01', '32'],
      ['R-5', '118000', '32'],
    ],
  )
  const { json } = await get200(`${path}?format=json`)
  t.is(json.receivables.length, 5)
  t.like(json.receivables[1], { reference: 'R-2', dueDate: null, irnPresent: null })
  const esma = (await get200(`${path}?format=esma-annex4`)).text
  t.is(parse(esma).length, 6)
  t.regex(esma, /partial/)
  for (const text of [csv.bytes.toString(), JSON.stringify(json), esma]) t.notRegex(text, /29AAACR|27AAACB|P\/[0-9]/)
})

test('strata and replines of a cut are computed once', async (t) => {
  const { json: strata, text } = await get200(`/pools/${ids.poolId}/stratification`)
  t.like(strata, {
    cutId: ids.cutId,
    size: 5,
    sumPaise: String(11_800_000n * 2n + 5_000_000n + 25_000_000n + 100_000_001n),
  })
  const counts = (bands: { band: string; count: number }[]) => bands.map(({ count }) => count)
  t.deepEqual(counts(strata.amount), [1, 3, 1, 0, 0])
  t.deepEqual(counts(strata.daysToDue), [0, 3, 1, 0, 0, 1])
  t.deepEqual(strata.acceptance, [{ band: 'MISSING', count: 5, sumPaise: strata.sumPaise }])
  t.deepEqual(strata.tier, [{ band: 'SELF_DECLARED', count: 5, sumPaise: strata.sumPaise }])
  t.is(strata.topBuyers.length, 2)
  t.is(strata.topBuyers[0].sumPaise, '100000001')
  t.is((await owner.get(`/pools/${ids.poolId}/stratification?cut=${ids.cutId}`)).text, text)
  const { json } = await get200(`/pools/${ids.poolId}/replines`)
  t.deepEqual(
    json.replines.map(({ daysBand, acceptance, count }: Record<string, unknown>) => [daysBand, acceptance, count]),
    [
      ['31_TO_60', 'MISSING', 3],
      ['OTHER', 'OTHER', 2],
    ],
  )
})

test('a pool rule is MET, NOT_MET or MISSING for each receivable', async (t) => {
  const { json: run } = await owner.get(`/eligibility/${ids.runId}`)
  t.like(run, { runId: ids.runId, cutId: ids.cutId, size: 5, rules: RULES })
  t.deepEqual(run.counts, { MET: 0, NOT_MET: 2, MISSING: 3 })
  t.deepEqual(run.byRule, [
    { id: 'small', counts: { MET: 3, NOT_MET: 2, MISSING: 0 } },
    { id: 'soon', counts: { MET: 3, NOT_MET: 1, MISSING: 1 } },
    { id: 'invoiced', counts: { MET: 0, NOT_MET: 0, MISSING: 5 } },
  ])
  const { json: page } = await owner.get(`/eligibility/${ids.runId}/receivables`)
  t.deepEqual(
    page.receivables.map(({ reference, result }: Record<string, string>) => [reference, result]),
    [
      ['=HYPERLINK("x")', 'MISSING'],
      ['R-2', 'MISSING'],
      ['R-3', 'NOT_MET'],
      ['R-4', 'NOT_MET'],
      ['R-5', 'MISSING'],
    ],
  )
  t.deepEqual(page.receivables[1].rules[1], { id: 'soon', result: 'MISSING' })
  const rest = await owner.get(`/eligibility/${ids.runId}/receivables?cursor=3`)
  t.deepEqual(rest.json.receivables, page.receivables.slice(3))
  t.deepEqual((await owner.get(`/eligibility/${ids.runId}/receivables?cursor=9`)).json.receivables, [])
  const refused = await owner.post(`/pools/${ids.poolId}/eligibility`, {
    rules: [{ id: 'x', field: 'currency', op: 'le', value: 'INR' }],
  })
  t.like(refused.json, { status: 400, errors: [{ path: 'rules[0].op' }] })
})

test.serial('the BagIt package of a cut is deterministic, and offline verification detects changes', async (t) => {
  const path = `/pools/${ids.poolId}/export`
  const { status } = await owner.get(path)
  t.true([200, 202].includes(status))
  // The answer is binary, and `get200` reads text.
  const { bytes, headers } = await eventually('the BagIt package', async () => {
    const answer = await owner.bytes(path)
    return answer.status === 200 && answer
  })
  t.is(headers.get('content-type'), 'application/zip')
  t.deepEqual((await owner.bytes(`${path}?cut=${ids.cutId}`)).bytes, bytes)
  const key = (await send(`${base}/v1/transparency/sandbox/log-key`)).text.trim()
  const check = (content: Buffer, ...more: string[]) => {
    const file = join(folder, 'bag.zip')
    writeFileSync(file, content)
    return verify(file, ...more)
  }
  const whole = await check(bytes, '--key', key)
  t.is(whole.status, 0, whole.stdout + whole.stderr)
  t.regex(whole.stdout, /^VERIFIED[\s\S]*ok {3}bundle[\s\S]*ok {3}member {5}all 5 receivables/)
  t.regex((await check(bytes)).stdout, /^PARTIAL/)

  const files = await readZip(bytes)
  const payload = new Map(
    [...files].flatMap(([name, content]) => (name.startsWith('data/') ? [[name.slice(5), content] as const] : [])),
  )
  t.deepEqual([...payload.keys()].toSorted(), [
    'cut.json',
    'proof.txt',
    'receivables.jsonl',
    'replines.json',
    'stratification.json',
    'tape.csv',
  ])
  const rebag = async (change: ReadonlyMap<string, Buffer>) =>
    await writeZip(createBundle(new Map([...payload, ...change]), []))
  t.is((await check(await rebag(new Map()), '--key', key)).status, 0)
  const lines = payload.get('receivables.jsonl')?.toString().trimEnd().split('\n') ?? []
  const altered: JsonValue = { ...JSON.parse(lines[0] ?? ''), amountInr: 1 }
  for (const [what, changed] of [
    ['an amount', [canonicalize(altered), ...lines.slice(1)]],
    ['one left out', lines.slice(1)],
    ['one twice', [...lines, lines[0]]],
    ['another order', lines.toReversed()],
  ] as const) {
    const { status, stdout } = await check(
      await rebag(new Map([['receivables.jsonl', Buffer.from(`${changed.join('\n')}\n`)]])),
      '--key',
      key,
    )
    t.is(status, 1, what)
    t.regex(stdout, /MEMBER_INVALID/, what)
  }
  const swapped = new Map([...files, ['data/tape.csv', Buffer.from('x')]])
  t.regex((await check(await writeZip(swapped), '--key', key)).stdout, /MANIFEST_MISMATCH/)
})

test('every view refuses a missing cut, a cut of another pool and an unknown pool alike', async (t) => {
  const other = await owner.post('/pools', { name: 'Other', receivables: items(1) })
  for (const view of ['tape', 'export', 'stratification', 'replines']) {
    const none = await owner.get(`/pools/${other.json.poolId}/${view}`)
    t.like(none.json, { status: 409, errors: [{ path: 'cut', code: 'NO_CUT' }] }, view)
    for (const cut of [ids.cutId, randomUUID(), 'x'])
      t.is((await owner.get(`/pools/${other.json.poolId}/${view}?cut=${cut}`)).status, 404, `${view} ${cut}`)
    t.is((await owner.get(`/pools/${ids.poolId}/${view}?surprise=1`)).status, 400, view)
  }
  t.is((await owner.get(`/pools/${ids.poolId}/tape?format=xlsx`)).status, 400)
  const rules = [{ id: 'x', field: 'currency', op: 'eq', value: 'INR' }]
  t.is((await owner.post(`/pools/${other.json.poolId}/eligibility`, { rules })).status, 409)
  t.is((await owner.post(`/pools/${ids.poolId}/eligibility`, { rules, cut: randomUUID() })).status, 404)
})

test('cuts and receivables are metered once, and views are free', async (t) => {
  const events = await product.db('events').where({ type: 'securitisation.pool_cut' }).select('deal_id')
  t.true(events.some(({ deal_id }) => deal_id === 'DEAL-7'))
  const units = await product
    .db('usage_units')
    .where({ unit_key: `cut/${ids.cutId}` })
    .select('family')
  t.deepEqual(units, [{ family: 'securitisation' }])
  const { json } = await owner.get(`/pools/${ids.poolId}/receivables`)
  const ownUnits = async () => {
    const keys = json.receivables.map(({ receivableId }: { receivableId: string }) => `receivable/${receivableId}`)
    return await product
      .db('usage_units')
      .whereIn('unit_key', [...keys, `cut/${ids.cutId}`])
      .select('unit_key')
  }
  t.is((await ownUnits()).length, 6)
  for (const view of ['stratification', 'replines', 'tape', 'evidence-root'])
    await get200(`/pools/${ids.poolId}/${view}`)
  t.is((await ownUnits()).length, 6)
  const other = await product.db('usage_units').where('unit_key', 'like', `%${ids.runId}%`).select('unit_key')
  t.deepEqual(other, [])
})
