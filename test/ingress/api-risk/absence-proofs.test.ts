import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { commitmentOf } from '#shared/risk/evidence/commitment.ts'
import { beginEpoch } from '#shared/risk/first-financing/keys-store.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { verifyCommand } from '#shared/transparency/anchoring/verify-cli.ts'
import { snapshotKey } from '#shared/transparency/provenance/absence.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { act, blindFingerprints, check, eventsOf, receivable, register } from './financing-support.ts'

const ABSENCE = '/v1/first-financing/absence-proofs'
const SNAPSHOTS = '/v1/first-financing/snapshots'

let product: HttpProduct
let base = ''
let owner: ApiClient
let other: ApiClient
const folder = mkdtempSync(join(tmpdir(), 'absence-'))

test.before(async () => {
  product = await sharedProduct({ workers: ['financing-registrar', 'anchor', 'sweeper'] })
  base = product.url
  owner = await openClient(product, base)
  other = await openClient(product, base)
})
test.after.always(async () => {
  rmSync(folder, { recursive: true, force: true })
})

/** Moves the snapshots an hour into the past and waits for the next one. */
async function nextSnapshot(client: ApiClient): Promise<string> {
  const before = await client.get(`${SNAPSHOTS}/latest`)
  await product.db.raw(
    `UPDATE financing_snapshots SET evaluated_at = evaluated_at - interval '61 minutes', created_at = created_at - interval '61 minutes'`,
  )
  return await eventually(
    'the next snapshot',
    async () => {
      const { json } = await client.get(`${SNAPSHOTS}/latest`)
      return json.snapshotId !== before.json.snapshotId && json.snapshotId
    },
    90_000,
  )
}

const file = (name: string, content: unknown) => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

async function proofFile(txId: string): Promise<string> {
  const anchor = await eventually('the log to include it', async () => {
    const { json } = await send(`${base}/v1/anchors/${txId}`)
    return Array.isArray(json.proof) && json
  })
  return file(`${txId}.json`, anchor)
}

async function verify(...args: string[]) {
  const key = (await send(`${base}/v1/transparency/sandbox/log-key`)).text.trim()
  return await verifyCommand([...args, '--key', key])
}

test.serial('a proof of absence verifies offline and reveals no other registration', async (t) => {
  const ask = () => owner.post(ABSENCE, { receivable: receivable() })
  let answer = await ask()
  let units = 1
  // A key at an edge of the tree has only one neighbour.
  for (; answer.json.left === null || answer.json.right === null; units++) answer = await ask()
  const { status, json: proof, text } = answer
  t.is(status, 200, text)
  t.is(proof.snapshot.eventType, 'first_financing.snapshot')
  t.is(proof.snapshot.anchor.payloadSha256, payloadSha256(proof.snapshot))
  t.is(proof.snapshot.size % 256, 0)
  t.deepEqual((await other.get(`${SNAPSHOTS}/latest`)).json, proof.snapshot, 'all see the same snapshot')
  t.deepEqual((await other.get(`${SNAPSHOTS}/${proof.snapshot.snapshotId}`)).json, proof.snapshot)
  t.deepEqual((await owner.get(`${ABSENCE}/${proof.absenceProofId}`)).json, proof)
  const anchor = await proofFile(proof.snapshot.anchor.txId)
  const tried = async (name: string, changed: object) =>
    await verify(file(`${name}.json`, { ...proof, ...changed }), '--proof', anchor)
  const whole = await tried('whole', {})
  t.is(whole.status, 0, whole.stdout + whole.stderr)
  t.regex(whole.stdout, /^VERIFIED[\s\S]*ok {3}absence/)
  t.is((await tried('one-side', { left: null })).status, 1)
  t.is((await tried('moved', { right: { ...proof.right, index: proof.right.index + 1 } })).status, 1)
  const [left, right] = [proof.left, proof.right].map(({ key }) => Buffer.from(key, 'hex'))
  const isOutside = (key: Buffer) => left !== undefined && right !== undefined && (key < left || key > right)
  const fingerprint = ['00', '01', '02']
    .map((byte) => byte.repeat(32))
    .find((text) => isOutside(snapshotKey(Buffer.from(text, 'hex'))))
  t.is((await tried('other', { fingerprint })).status, 1)
  t.is((await tried('size', { snapshot: { ...proof.snapshot, size: proof.snapshot.size + 256 } })).status, 1)
  t.is((await tried('malformed', { fingerprint: 'x' })).status, 2)
  const usage = (await owner.get('/v1/usage')).json.usage
  t.like(usage, [{ family: 'first-financing', units }])
})

test.serial('a registered receivable has a proof of absence only from snapshots before it', async (t) => {
  const invoice = receivable()
  const early = (await owner.post(ABSENCE, { receivable: invoice })).json.snapshot.snapshotId
  await register(other, invoice)
  const late = await nextSnapshot(owner)
  const refused = await owner.post(ABSENCE, { receivable: invoice })
  t.is(refused.status, 409)
  t.like(refused.json.errors[0], { path: 'receivable', code: 'PRESENT' })
  const fingerprints = await blindFingerprints(owner, invoice)
  t.is((await owner.post(ABSENCE, { fingerprints, snapshotId: late })).status, 409)
  const before = await owner.post(ABSENCE, { fingerprints, snapshotId: early })
  t.is(before.status, 200, before.text)
  t.is(before.json.fingerprint, fingerprints[0]?.rf1)
  t.is((await owner.post(ABSENCE, { fingerprints, snapshotId: crypto.randomUUID() })).status, 404)
  await product.db('financing_snapshots').where({ id: early }).update({ keys: null })
  const forgotten = await owner.post(ABSENCE, { fingerprints, snapshotId: early })
  t.like(forgotten.json.errors[0], { path: 'snapshotId', code: 'FORGOTTEN' })
  const stated = await owner.post('/v1/first-financing/checks', { fingerprints, statement: true })
  t.is(stated.json.record.snapshotId, late)
  const { rf1, salt } = stated.json.opening
  t.is(stated.json.record.rf1Commitment, commitmentOf({ name: 'rf1', value: rf1, salt }))
})

test.serial('an unchanged registry creates no new snapshot', async (t) => {
  const latest = (await owner.get(`${SNAPSHOTS}/latest`)).json.snapshotId
  const id = { id: latest }
  await product
    .db('financing_snapshots')
    .where(id)
    .update({ evaluated_at: new Date(Date.now() - 7_200_000) })
  await eventually(
    'the snapshot sweep to run',
    async () =>
      (await product.db('financing_snapshots').where(id).first()).evaluated_at > new Date(Date.now() - 600_000),
    90_000,
  )
  t.is((await owner.get(`${SNAPSHOTS}/latest`)).json.snapshotId, latest)
})

test.serial('two records of a log prove their order offline', async (t) => {
  const first = (await register(owner, receivable())).json.record
  const second = (await register(other, receivable())).json.record
  const bundle = async (name: string, object: { anchor: { txId: string } }) => {
    const path = await proofFile(object.anchor.txId)
    const { default: proof } = await import(path, { with: { type: 'json' } })
    return file(name, { object, proof })
  }
  const [one, two] = [await bundle('first.json', first), await bundle('second.json', second)]
  const right = await verify(one, '--before', two)
  t.is(right.status, 0, right.stdout + right.stderr)
  t.regex(right.stdout, /ok {3}order +entry \d+ precedes entry \d+/)
  const wrong = await verify(two, '--before', one)
  t.is(wrong.status, 1)
  t.regex(wrong.stdout, /FAIL order +ORDER_MISMATCH/)
  const bare = await verify(file('bare.json', first), '--before', two)
  t.is(bare.status, 3, 'without its proof the order stays open')
})

test.serial('in a new epoch, requests use both keys, and registrations are unique across both', async (t) => {
  const { db } = product
  const secrets = createSecrets(product.config.secretKey)
  const [c, d] = [await openClient(product, base), await openClient(product, base)]
  const [left, taken, byFields] = [receivable(), receivable(), receivable()]
  const { json: named } = await register(d, byFields)
  const leftId = (await register(c, { fingerprints: await blindFingerprints(c, left) })).json.registrationId
  await register(c, { fingerprints: await blindFingerprints(c, taken) })
  const old = await blindFingerprints(c, left)

  t.is(await beginEpoch(db, secrets, 'SANDBOX'), 3)
  t.is(await beginEpoch(db, secrets, 'SANDBOX'), undefined, 'two are live')
  const { json } = await c.get('/v1/first-financing/oprf/key')
  t.deepEqual(
    json.epochs.map(({ epoch, state }: { epoch: number; state: string }) => [epoch, state]),
    [
      [3, 'CURRENT'],
      [2, 'PREVIOUS'],
    ],
  )
  const short = await check(d, { fingerprints: old })
  t.is(short.status, 400)
  t.like(short.json.errors[0], { path: 'fingerprints', code: 'EPOCHS' })
  const both = await blindFingerprints(d, left)
  t.is(both.length, 2)
  t.is((await check(d, { fingerprints: both })).json.status, 'DUPLICATE_REGISTERED', 'the old name is found')
  t.is((await register(d, { fingerprints: both })).status, 409)
  const again = await register(c, { fingerprints: await blindFingerprints(c, taken) })
  t.is(again.status, 200, 'its owner takes it along')
  const epochsOf = (id: string) => db('financing_fingerprints').where({ record_id: id, kind: 'RF1' }).pluck('epoch')
  await eventually(
    'registrations by fields to get fingerprints of the new epoch',
    async () => (await epochsOf(named.registrationId)).includes(3),
    60_000,
  )
  const fresh = receivable()
  await eventually(
    'a new registration to have fingerprints of both epochs',
    async () => {
      const { json: made } = await register(d, { ...fresh, documentNumber: `E/${Math.floor(Math.random() * 1e9)}` })
      const epochs = await db('financing_fingerprints')
        .where({ record_id: made.registrationId, kind: 'RF1' })
        .pluck('epoch')
      return epochs.length === 2 && epochs.includes(3)
    },
    60_000,
  )

  await db('domain_keys')
    .where({ purpose: 'financing-oprf', epoch: 3 })
    .update({ created_at: new Date(Date.now() - 31 * 86_400_000) })
  await eventually(
    'the old epoch to be retired',
    async () => (await c.get('/v1/first-financing/oprf/key')).json.epochs.length === 1,
    90_000,
  )
  const events = await eventsOf(product, c)
  t.is(events.filter((type) => type === 'first_financing.lapsed').length, 1, 'of the abandoned one')
  const now = await blindFingerprints(d, receivable())
  t.is((await check(d, { fingerprints: now })).json.status, 'UNRESOLVED')
  t.is((await check(d, left)).json.status, 'DUPLICATE_REGISTERED', 'by fields the old key still finds it')
  t.is((await check(d, { fingerprints: await blindFingerprints(d, taken) })).json.status, 'DUPLICATE_REGISTERED')
  const hidden = await d.post(ABSENCE, { fingerprints: now })
  t.is(hidden.status, 409)
  t.like(hidden.json.errors[0], { path: 'fingerprints', code: 'UNRESOLVED' }, 'no proof of what cannot be seen')
  const older = await d.post(ABSENCE, { receivable: left })
  t.like(older.json.errors[0], { path: 'receivable', code: 'PRESENT' }, 'though no key of the snapshot is its')
  t.is((await d.post(ABSENCE, { receivable: receivable() })).status, 200, 'by fields, every epoch was searched')
  await act(c, leftId, 'cancel')
  await db('financing_fingerprints').where({ epoch: 2 }).update({ state: 'LAPSED' })
  t.is((await check(d, { fingerprints: now })).json.status, 'CLEAN')
})
