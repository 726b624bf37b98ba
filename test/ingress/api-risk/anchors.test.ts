import { createPublicKey, hash, verify } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { decodeEntryBundle } from '#shared/transparency/anchoring/entry-bundle.ts'
import { parseVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy } from '#shared/transparency/anchoring/policy.ts'
import { parseProofBundle } from '#shared/transparency/anchoring/proof-bundle.ts'
import { verifyAnchored } from '#shared/transparency/anchoring/verify.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, demoRequest, openClient, send } from '../../support/platform-client.ts'
import { openProduct, type Product } from '../../support/product.ts'

let product: Product
let base = ''
let client: ApiClient

test.before(async () => {
  product = await openProduct({ env: { CHECKPOINT_DIR: await mkdtemp(join(tmpdir(), 'checkpoints-')) } })
  base = (await product.ingress()).base
  await product.workers(['pack-composer', 'anchor'])
  client = await openClient(product, base)
})
test.after.always(() => product[Symbol.asyncDispose]())

async function newPack(body: object = demoRequest) {
  const { status, text, json } = await client.post('/v1/po/risk-signals', body)
  if (status !== 200) throw new Error(text)
  return json
}

async function includedAnchor(txId: string) {
  return await eventually('the anchor to be included', async () => {
    const { status, json } = await send(`${base}/v1/anchors/${txId}`)
    return status === 200 && json.state !== 'PENDING' ? json : undefined
  })
}

const sha256 = (...parts: Uint8Array[]) => hash('sha256', Buffer.concat(parts), 'buffer')

test('a pack can be verified offline, with and without our verifier', async (t) => {
  const pack = await newPack()
  const anchor = await includedAnchor(pack.anchor.txId)
  const key = (await send(`${base}/v1/transparency/sandbox/log-key`)).text.trim()
  const policy = flatPolicy([{ key: parseVerifierKey(key) }], [], 0)
  t.is(verifyAnchored(pack, parseProofBundle(anchor), policy).result, 'VERIFIED')

  // By hand: RFC 6962 hashes, and the signature over the three lines under the published key.
  let [node, index, last] = [sha256(Buffer.of(0), Buffer.from(anchor.entry)), anchor.index, anchor.treeSize - 1]
  t.is(node.toString('hex'), pack.anchor.txId)
  for (const sibling of anchor.proof.map((text: string) => Buffer.from(text, 'base64'))) {
    while (index % 2 === 0 && index === last) [index, last] = [index >> 1, last >> 1]
    node = index % 2 === 1 ? sha256(Buffer.of(1), sibling, node) : sha256(Buffer.of(1), node, sibling)
    index >>= 1
    last >>= 1
  }
  const [text = '', signatures = ''] = anchor.checkpoint.split(/(?<=\n)\n/)
  t.is(text.split('\n')[2], node.toString('base64'))
  const spki = Buffer.concat([
    Buffer.from('302a300506032b6570032100', 'hex'),
    Buffer.from(key.split('+').slice(2).join('+'), 'base64').subarray(1),
  ])
  const signature = Buffer.from(signatures.trim().split(' ').at(-1) ?? '', 'base64').subarray(4)
  t.true(verify(null, Buffer.from(text), createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature))
})

test('verification of a pack needs no token and detects changes', async (t) => {
  const pack = await newPack()
  await includedAnchor(pack.anchor.txId)
  const ask = (object: unknown) =>
    send(`${base}/v1/anchors/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ object }),
    })
  const right = await ask(pack)
  t.is(right.json.verified, true, right.text)
  t.is(right.json.state, 'INCLUDED')
  const changed = await ask({ ...pack, signalLevel: 'ATTENTION' })
  t.is(changed.json.verified, false)
  t.is(changed.json.result, 'FAILED')
  const { anchor: _, ...bare } = pack
  t.is((await ask(bare)).json.verified, true)
  t.is((await ask({ packId: 'x' })).json.result, 'FAILED')
})

test('tiles, bundles and proofs equal the published tree', async (t) => {
  const pack = await newPack()
  const { index, treeSize } = await includedAnchor(pack.anchor.txId)
  const log = `${base}/v1/transparency/sandbox`
  const partial = treeSize % 256
  const tile = await fetch(`${log}/tile/0/000.p/${partial}`)
  const bundle = await fetch(`${log}/tile/entries/000.p/${partial}`)
  t.is(tile.status, 200)
  const hashes = Buffer.from(await tile.arrayBuffer())
  t.is(hashes.subarray(index * 32, index * 32 + 32).toString('hex'), pack.anchor.txId)
  const entries = decodeEntryBundle(new Uint8Array(await bundle.arrayBuffer()), partial)
  t.is(entries.length, partial)
  t.is((await send(`${log}/tile/0/000`)).status, 404)
  t.is((await send(`${log}/tile/9/000.p/1`)).status, 404)
  t.is((await send(`${log}/proof/inclusion?hash=${pack.anchor.txId}`)).json.index, index)
  t.is((await send(`${log}/proof/consistency?from=1`)).status, 200)
  t.is((await send(`${log}/proof/consistency?from=99999999`)).status, 400)
  t.is((await send(`${base}/v1/transparency/other/checkpoint`)).status, 404)
  t.is((await send(`${base}/v1/anchors/${'0'.repeat(64)}`)).status, 404)
  t.is((await send(`${base}/v1/anchors/${pack.anchor.txId.toUpperCase()}`)).json.txId, pack.anchor.txId)
})

test('log, tiles, anchors and events contain hashes, but no registration, name or amount', async (t) => {
  const pack = await newPack({ ...demoRequest, poNumber: 'PO-SECRET-77' })
  const anchor = await includedAnchor(pack.anchor.txId)
  const entries = await product.db('log_entries').select('entry')
  const tiles = await product.db('log_tiles').select('data')
  const checkpoints = await product.db('log_checkpoints').select('note')
  const events = await product.db('events').select('body')
  const all = [
    ...entries.map(({ entry }) => entry.toString('utf8')),
    ...tiles.map(({ data }) => data.toString('latin1')),
    ...checkpoints.map(({ note }) => note),
    ...events.map(({ body }) => body),
    JSON.stringify(anchor),
  ].join('\n')
  for (const { data } of tiles) t.is(data.length % 32, 0)
  for (const secret of ['27AAACB1234C1ZF', 'AAACR5678D', 'PO-SECRET-77', '1250000']) t.false(all.includes(secret))
  for (const { entry } of entries) {
    t.deepEqual(Object.keys(JSON.parse(entry.toString('utf8'))), ['eventType', 'payloadSha256', 'timestamp', 'v'])
  }
})
