import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { verifyCommand } from '#shared/transparency/anchoring/verify-cli.ts'
import { evidenceKey } from '#shared/transparency/provenance/dsse.ts'
import { readZip } from '#shared/transparency/provenance/zip.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { issuePack } from './trade-support.ts'

let product: HttpProduct
let base = ''
let exporter: ApiClient
const folder = mkdtempSync(join(tmpdir(), 'trade-'))

test.before(async () => {
  product = await sharedProduct({ workers: ['provenance-composer', 'anchor'] })
  base = product.url
  exporter = await openClient(product, base)
})
test.after.always(async () => {
  rmSync(folder, { recursive: true })
})

const file = (name: string, content: string | Buffer) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const verifyOffline = (...args: string[]) => verifyCommand(args)
const keysFile = async () => file('keys.json', (await send(`${base}/v1/transparency/sandbox/evidence-keys`)).text)
const logKey = async () => (await send(`${base}/v1/transparency/sandbox/log-key`)).text.trim()
/** Returns the BagIt package of a pack once the log includes the pack. */
const included = (client: ApiClient, packId: string) =>
  eventually('the log includes the pack', async () => {
    const { json } = await client.get(`/v1/trade/packs/${packId}/bundle`)
    return json.proof !== null && json
  })
const bytesOf = async (path: string) => {
  const answer = await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${exporter.token}` } })
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
}

const publicKeyOfSeed7 = Buffer.from('ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c', 'hex')

test.serial('a bundle or BagIt package verifies a pack offline, and has the same bytes each time', async (t) => {
  const { json: check } = await exporter.post('/v1/trade/iec/verifications', { iec: 'AAACR5678D' })
  const metadata = { note: '=HYPERLINK("http://evil.example")', more: '@SUM(A1)', minus: '-5' }
  const { json } = await issuePack(exporter, {
    documents: [{ metadata }],
    checks: [check.verificationId],
    title: '=1+1',
  })
  const bundle = await included(exporter, json.packId)
  const trust = ['--evidence-keys', await keysFile(), '--key', await logKey()]
  const path = file('bundle.json', JSON.stringify(bundle))
  const alone = await verifyOffline(path)
  t.is(alone.status, 0, alone.stderr)
  t.regex(alone.stdout, /^PARTIAL/)
  const whole = await verifyOffline(path, ...trust)
  t.is(whole.status, 0, whole.stdout + whole.stderr)
  t.regex(whole.stdout, /^VERIFIED/)
  const strange = file('strange.json', JSON.stringify({ keys: [evidenceKey(publicKeyOfSeed7)] }))
  t.is((await verifyOffline(path, '--evidence-keys', strange)).status, 1)

  const exported = await bytesOf(`/v1/trade/packs/${json.packId}/export`)
  t.is(exported.answer.headers.get('content-type'), 'application/zip')
  const bag = file('bag.zip', exported.bytes)
  const again = file('again.zip', (await bytesOf(`/v1/trade/packs/${json.packId}/export`)).bytes)
  t.notThrows(() => execFileSync('cmp', [bag, again]))
  const verified = await verifyOffline(bag, ...trust)
  t.is(verified.status, 0, verified.stdout + verified.stderr)
  t.regex(verified.stdout, /^VERIFIED[\s\S]*ok {3}bundle[\s\S]*ok {3}findings/)

  const files = await readZip(exported.bytes)
  t.deepEqual(
    [...files.keys()],
    [
      'bag-info.txt',
      'bagit.txt',
      'data/bundle.json',
      'data/checks.json',
      'data/summary.pdf',
      'fetch-list.txt',
      'manifest-sha256.txt',
      'tagmanifest-sha256.txt',
    ],
  )
  const list = files.get('fetch-list.txt')?.toString() ?? ''
  t.true(list.includes(`metadata.note,"'=HYPERLINK(""http://evil.example"")"`))
  t.true(list.includes(`metadata.more,'@SUM(A1)`))
  t.true(list.includes('metadata.minus,-5\r\n'))
  t.true(list.includes(`${json.documents[0].documentId},sha256,${json.documents[0].sha256}\r\n`))
  t.regex(files.get('data/summary.pdf')?.toString('latin1') ?? '', /^%PDF-1\.7/)
})

test.serial('a changed finding is detected even if the BagIt manifests match', async (t) => {
  const { json: check } = await exporter.post('/v1/trade/iec/verifications', { iec: 'AAACR5646D' })
  const { json } = await issuePack(exporter, { checks: [check.verificationId] })
  const bundle = await included(exporter, json.packId)
  const { createBundle } = await import('#shared/transparency/provenance/bagit.ts')
  const { writeZip } = await import('#shared/transparency/provenance/zip.ts')
  const bundleOf = (findings: unknown) =>
    writeZip(
      createBundle(
        new Map([
          ['bundle.json', Buffer.from(JSON.stringify(bundle))],
          ['checks.json', Buffer.from(JSON.stringify(findings))],
        ]),
        [],
      ),
    )
  const trust = ['--evidence-keys', await keysFile(), '--key', await logKey()]
  const outcome = async (findings: unknown) =>
    (await verifyOffline(file('made.zip', await bundleOf(findings)), ...trust)).status
  t.is(await outcome([check]), 0)
  t.is(await outcome([]), 1)
  t.is(await outcome([{ ...check, results: [{ ...check.results[0], result: 'MATCH' }] }]), 1)
})
