import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { HEADER, imported, note, TAPES } from './imports-support.ts'
import { verify } from './pools-support.ts'

let product: HttpProduct
let base = ''
let client: ApiClient
const folder = mkdtempSync(join(tmpdir(), 'import-proofs-'))
const ROWS = 700

test.before(async () => {
  product = await sharedProduct({ workers: ['tape-importer', 'anchor'] })
  base = product.url
  client = await openClient(product, base)
})
test.after.always(async () => {
  rmSync(folder, { recursive: true })
})

const importRows = async (prefix: string) => {
  const lines = Array.from({ length: ROWS }, (_, n) => note(`${prefix}-${n}`))
  const { json } = await imported(client, [HEADER, ...lines, ''].join('\n'))
  return { path: `${TAPES}/${json.importId}`, record: json.record }
}

test.serial('the offline verifier proves a row of an import and detects changes', async (t) => {
  const { path, record } = await importRows('A')
  const { json: proof } = await client.get(`${path}/rows/600/proof`)
  const anchor = await eventually('the log includes the import', async () => {
    const { json } = await send(`${base}/v1/anchors/${record.anchor.txId}`)
    return Array.isArray(json.proof) && json
  })
  const key = (await send(`${base}/v1/transparency/sandbox/log-key`)).text.trim()
  const file = (name: string, content: unknown) => {
    const at = join(folder, name)
    writeFileSync(at, JSON.stringify(content))
    return at
  }
  const trusting = ['--proof', file('anchor.json', anchor), '--key', key]
  const whole = await verify(file('row.json', proof), ...trusting)
  t.is(whole.status, 0, whole.stdout + whole.stderr)
  t.regex(whole.stdout, /^VERIFIED[\s\S]*ok {3}membership row 600 of 700/)
  t.regex((await verify(file('row.json', proof))).stdout, /^PARTIAL/)
  const { json: neighbour } = await client.get(`${path}/rows/601/proof`)
  for (const [what, changed] of [
    ['an amount', { ...proof, row: { ...proof.row, amounts: { ...proof.row.amounts, principal: 1 } } }],
    ['a member more', { ...proof, row: { ...proof.row, more: 1 } }],
    ['another row', { ...proof, row: neighbour.row }],
    ['another place', { ...proof, inclusion: { ...proof.inclusion, index: 601 } }],
    ['another size', { ...proof, inclusion: { ...proof.inclusion, size: ROWS - 1 } }],
    ['a shorter path', { ...proof, inclusion: { ...proof.inclusion, path: proof.inclusion.path.slice(1) } }],
    [
      'a node that is not a hash',
      { ...proof, inclusion: { ...proof.inclusion, path: ['x', ...proof.inclusion.path.slice(1)] } },
    ],
    ['another number of rows', { ...proof, record: { ...proof.record, rows: ROWS - 1 } }],
  ] as const) {
    const { status, stdout } = await verify(file('row.json', changed), ...trusting)
    t.is(status, 1, what)
    t.regex(stdout, /^FAILED[\s\S]*(MEMBERSHIP_INVALID|PAYLOAD_HASH_MISMATCH)/, what)
  }
})

/** The query to sigstore's verifier, which npm includes. */
type VerifyMerkleInclusion = (
  entry: { canonicalizedBody: Buffer; inclusionProof: { logIndex: string; hashes: Buffer[] } },
  checkpoint: { logSize: bigint; logHash: Buffer },
) => void

test.serial('a Merkle implementation that is not ours verifies rows of an import', async (t) => {
  const npm = [
    process.env.npm_execpath ?? '',
    join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js'),
  ]
  const found = npm.find((path) => path.endsWith('npm-cli.js') && existsSync(path))
  if (found === undefined) {
    t.log('NOT CHECKED: npm is not found, so no independent implementation verified our output')
    t.pass()
    return
  }
  const theirs = createRequire(found)('@sigstore/verify/dist/tlog/merkle.js') as {
    verifyMerkleInclusion: VerifyMerkleInclusion // as its own declarations have it
  }
  const { path, record } = await importRows('B')
  for (const n of [0, 1, 255, 256, 511, 512, 698, 699]) {
    const { json } = await client.get(`${path}/rows/${n}/proof`)
    const check = (row: object, index: number) =>
      theirs.verifyMerkleInclusion(
        {
          canonicalizedBody: hash('sha256', canonicalize(row), 'buffer'),
          inclusionProof: {
            logIndex: String(index),
            hashes: json.inclusion.path.map((node: string) => Buffer.from(node, 'hex')),
          },
        },
        { logSize: BigInt(json.inclusion.size), logHash: Buffer.from(record.root, 'hex') },
      )
    t.notThrows(() => check(json.row, n), `row ${n}`)
    t.throws(() => check({ ...json.row, dpd: 1 }, n))
    t.throws(() => check(json.row, n ^ 1))
  }
})
