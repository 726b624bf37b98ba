import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { signatureLine } from '#shared/transparency/anchoring/note.ts'
import {
  formatVerifierKey,
  type NoteKey,
  signerFromSeed,
  WITNESS_KEY,
} from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy } from '#shared/transparency/anchoring/policy.ts'
import { parseProofBundle } from '#shared/transparency/anchoring/proof-bundle.ts'
import { verifyAnchored } from '#shared/transparency/anchoring/verify.ts'
import {
  decideCosigning,
  SIZE_CONTENT_TYPE,
  type WitnessedTree,
} from '#shared/transparency/anchoring/witness-protocol.ts'
import { findLogKey } from '#shared/transparency/log-keys/store.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { demoRequest, openClient, send } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'

/** Opens an independent witness, which follows any log and remembers the tree that it cosigned last. */
async function openWitness(name: string, logKey: () => NoteKey | undefined) {
  const sink = await openHttpSink()
  const signer = signerFromSeed(name, WITNESS_KEY, randomBytes(32))
  let latest: WitnessedTree | undefined
  sink.respond = ({ path, body }) => {
    const key = logKey()
    if (path !== '/add-checkpoint' || !key) return { status: 404 }
    const decision = decideCosigning(
      body.toString('utf8'),
      () => [key],
      () => latest,
    )
    if (decision.outcome === 'refuse') return { status: decision.status }
    if (decision.outcome === 'conflict') {
      return { status: 409, headers: { 'content-type': SIZE_CONTENT_TYPE }, body: `${decision.size}\n` }
    }
    latest = decision.checkpoint
    return { status: 200, body: signatureLine(decision.text, signer, Math.floor(Date.now() / 1000)) }
  }
  return { sink, key: signer.key }
}

test('cosignatures of more than half of the witnesses make anchors WITNESSED', async (t) => {
  let logKey: NoteKey | undefined
  const witnesses = await Promise.all(['w.one', 'w.two', 'w.three'].map((name) => openWitness(name, () => logKey)))
  const [, , broken] = witnesses
  if (broken) broken.sink.respond = () => ({ status: 500 })
  await using product = await openProduct({
    env: {
      CHECKPOINT_DIR: await mkdtemp(join(tmpdir(), 'checkpoints-')),
      WITNESS_URLS: witnesses.map(({ sink }) => sink.url).join(','),
      WITNESS_KEYS: witnesses.map(({ key }) => formatVerifierKey(key)).join(','),
    },
  })
  const { base } = await product.ingress()
  await product.workers(['pack-composer', 'anchor'])
  const client = await openClient(product, base)
  // The policy creates the key, so that witnesses can know it before the first entry.
  t.is((await send(`${base}/v1/transparency/sandbox/policy`)).status, 200)
  logKey = await findLogKey(product.db, 'SANDBOX')
  if (!logKey) throw new Error('the log has no key')
  for (const round of [1, 2]) {
    const { json: pack } = await client.post('/v1/po/risk-signals', demoRequest)
    const anchor = await eventually(`the quorum of round ${round}`, async () => {
      const { json } = await send(`${base}/v1/anchors/${pack.anchor.txId}`)
      return json.state === 'WITNESSED' ? json : undefined
    })
    const trusted = witnesses.map(({ key }) => ({ key }))
    const strict = flatPolicy([{ key: logKey }], trusted, 2)
    t.is(verifyAnchored(pack, parseProofBundle(anchor), strict).result, 'VERIFIED')
    const all = flatPolicy([{ key: logKey }], trusted, 3)
    t.is(verifyAnchored(pack, parseProofBundle(anchor), all).result, 'FAILED')
  }
  const policy = await send(`${base}/v1/transparency/sandbox/policy`)
  t.regex(policy.text, /^group witnesses 2 w\.one w\.two w\.three$/m)
  for (const { sink } of witnesses) await sink[Symbol.asyncDispose]()
})

test('a checkpoint submitted to a calendar stays INCLUDED without an attestation', async (t) => {
  await using calendar = await openHttpSink()
  calendar.respond = () => ({ status: 503 })
  await using product = await openProduct({
    env: {
      CHECKPOINT_DIR: await mkdtemp(join(tmpdir(), 'checkpoints-')),
      OTS_CALENDAR_URLS: calendar.url,
    },
  })
  const { base } = await product.ingress()
  const client = await openClient(product, base)
  await product.workers(['pack-composer', 'anchor'])
  const { json: pack } = await client.post('/v1/po/risk-signals', demoRequest)
  const state = async () => (await send(`${base}/v1/anchors/${pack.anchor.txId}`)).json.state
  await eventually('the pack to be in a checkpoint', async () => (await state()) === 'INCLUDED')
  // An earlier request may contain only the evidence key, which is anchored first.
  const includedAt = Date.now()
  const request = await calendar.waitFor(
    ({ path, receivedAt }) => path === '/digest' && receivedAt > includedAt,
    100_000,
  )
  t.is(request.method, 'POST')
  t.is(request.body.length, 32)
  t.is(await state(), 'INCLUDED')
})
