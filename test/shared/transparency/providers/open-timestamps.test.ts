import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import type { AdapterRequest, CheckpointReceipt } from '#shared/transparency/anchoring/checkpoint-adapter.ts'
import { createOpenTimestamps } from '#shared/transparency/providers/open-timestamps.ts'
import {
  apply,
  formatDetached,
  formatTimestamp,
  type Operation,
  parseDetached,
  parseTimestamp,
  type Timestamp,
} from '#shared/transparency/providers/open-timestamps-format.ts'
import { merkleVectors } from '../anchoring/vectors.ts'

const checkpoint = merkleVectors.signedNotes.checkpoint.body
const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest()
const digest = sha256(checkpoint)

/** A calendar that records requests; it aggregates with a prefix and attests after a block is mined. */
class Calendar implements AsyncDisposable {
  readonly requested: { method: string; path: string; body: Buffer }[] = []
  readonly commitments = new Map<string, Buffer>()
  height: number | undefined
  failing: { status: number; body: Uint8Array } | undefined
  readonly #server: Server
  url = ''

  constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const path = request.url ?? ''
      const body = Buffer.concat(chunks)
      this.requested.push({ method: request.method ?? '', path, body })
      if (this.failing) response.writeHead(this.failing.status).end(this.failing.body)
      else if (path === '/digest') response.end(this.#take(body))
      else this.#tell(path.slice('/timestamp/'.length), (status, answer) => response.writeHead(status).end(answer))
    })
  }

  async start(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    // A server on a port has an address object.
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  #take(message: Uint8Array): Uint8Array {
    const promised = grow(message, operations('00112233'), (end) => ({
      message: end,
      attestations: [{ kind: 'pending', uri: this.url }],
      branches: [],
    }))
    const commitment = sha256(Buffer.concat([Buffer.from('00112233', 'hex'), message]))
    this.commitments.set(commitment.toString('hex'), commitment)
    return formatTimestamp(promised)
  }

  #tell(commitment: string, answer: (status: number, body: Uint8Array | string) => void): void {
    const known = this.commitments.get(commitment)
    const { height } = this
    if (known === undefined || height === undefined) {
      answer(404, 'Pending confirmation in Bitcoin blockchain')
      return
    }
    const mined = grow(known, operations('aabb'), (end) => ({
      message: end,
      attestations: [{ kind: 'bitcoin', height }],
      branches: [],
    }))
    answer(200, formatTimestamp(mined))
  }

  /** The Merkle root of the block that contains the digest. */
  get blockRoot(): Buffer {
    const commitment = sha256(Buffer.concat([Buffer.from('00112233', 'hex'), digest]))
    return sha256(Buffer.concat([Buffer.from('aabb', 'hex'), commitment]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

function operations(prefix: string): Operation[] {
  return [{ kind: 'prepend', argument: Buffer.from(prefix, 'hex') }, { kind: 'sha256' }]
}

function grow(message: Uint8Array, [first, ...rest]: Operation[], end: (message: Uint8Array) => Timestamp): Timestamp {
  if (first === undefined) return end(message)
  return { message, attestations: [], branches: [{ operation: first, to: grow(apply(first, message), rest, end) }] }
}

const request: AdapterRequest = async ({ method, url, headers, body }) => {
  const response = await fetch(url, { method, headers: { ...headers }, body: body ? Uint8Array.from(body) : null })
  return { status: response.status, body: new Uint8Array(await response.arrayBuffer()), truncated: false }
}
const minedAt = new Date('2026-11-21T11:00:00Z')

test('a submitted checkpoint is upgraded once mined and verifies by its block', async (t) => {
  await using calendar = await new Calendar().start()
  const readBlock = async (height: number) =>
    height === 900_001 ? { merkleRoot: calendar.blockRoot, minedAt } : undefined
  const adapter = createOpenTimestamps({ calendars: [calendar.url], request, readBlock })
  const receipt = await adapter.submit(checkpoint)
  t.deepEqual(calendar.requested, [{ method: 'POST', path: '/digest', body: digest }])
  t.is(receipt.state, 'SUBMITTED')
  t.deepEqual(await adapter.poll(receipt), receipt)
  t.like(await adapter.verify(receipt, checkpoint), { result: 'PENDING' })

  calendar.height = 900_001
  const mined = await adapter.poll(receipt)
  t.is(mined.state, 'EXTERNAL')
  t.deepEqual(await adapter.verify(mined, checkpoint), {
    result: 'ATTESTED',
    detail: 'in Bitcoin block 900001',
    at: minedAt,
  })
  const requested = calendar.requested.length
  t.deepEqual(await adapter.poll(mined), mined)
  t.is(calendar.requested.length, requested)
})

test('a receipt fails for another checkpoint or block', async (t) => {
  await using calendar = await new Calendar().start()
  calendar.height = 7
  const options = { calendars: [calendar.url], request }
  const adapter = createOpenTimestamps(options)
  const mined = await adapter.poll(await adapter.submit(checkpoint))
  t.like(await adapter.verify(mined, checkpoint.replace('8', '9')), { result: 'FAILED' })
  t.like(await adapter.verify(mined, checkpoint), { result: 'PENDING' })
  for (const block of [undefined, { merkleRoot: Buffer.alloc(32), minedAt }]) {
    const strict = createOpenTimestamps({ ...options, readBlock: async () => block })
    t.like(await strict.verify(mined, checkpoint), { result: 'FAILED' })
  }
})

test('the next calendar is used after a failure; if all fail, the error is temporary', async (t) => {
  await using broken = await new Calendar().start()
  await using calendar = await new Calendar().start()
  broken.failing = { status: 503, body: Buffer.from('later') }
  const adapter = createOpenTimestamps({ calendars: [broken.url, calendar.url], request })
  const receipt = await adapter.submit(checkpoint)
  t.is(broken.requested.length, 1)
  t.is(calendar.requested.length, 1)
  for (const failing of [
    { status: 500, body: Buffer.from('') },
    { status: 200, body: Buffer.from('<html>hello') },
    { status: 200, body: Buffer.from('f1'.repeat(5000), 'hex') },
  ]) {
    broken.failing = failing
    calendar.failing = failing
    await t.throwsAsync(() => adapter.submit(checkpoint), { code: 'UPSTREAM_UNAVAILABLE' })
  }
  calendar.failing = { status: 500, body: Buffer.from('') }
  await t.throwsAsync(() => adapter.poll(receipt), { code: 'UPSTREAM_UNAVAILABLE' })
})

test('a calendar that only a receipt names is never contacted', async (t) => {
  await using stranger = await new Calendar().start()
  await using calendar = await new Calendar().start()
  const lured = await createOpenTimestamps({ calendars: [stranger.url], request }).submit(checkpoint)
  stranger.requested.length = 0
  const adapter = createOpenTimestamps({ calendars: [calendar.url], request })
  t.is((await adapter.poll(lured)).state, 'SUBMITTED')
  t.deepEqual([...stranger.requested, ...calendar.requested], [])
})

test('malformed timestamp proofs are refused', async (t) => {
  const adapter = createOpenTimestamps({ calendars: [], request })
  const good = Buffer.from(formatDetached(parseTimestamp(pending('http://c.example'), digest)))
  const bad = (proof: Uint8Array): CheckpointReceipt => ({
    network: 'opentimestamps',
    state: 'SUBMITTED',
    proof: Buffer.from(proof).toString('base64'),
  })
  for (const proof of [
    Buffer.alloc(0),
    good.subarray(0, 40),
    good.subarray(0, -1),
    Buffer.concat([good, Buffer.of(0)]),
    Buffer.concat([good.subarray(0, 65), Buffer.alloc(1_000, 0x08)]),
    Buffer.concat([
      good.subarray(0, 65),
      Buffer.from(`f0a01f${'00'.repeat(4000)}`, 'hex'),
      Buffer.from('ff08'.repeat(9000), 'hex'),
    ]),
    Buffer.concat([good.subarray(0, 65), Buffer.from('f0ffffffffff7f', 'hex')]),
    Buffer.concat([good.subarray(0, 65), Buffer.from('f000', 'hex')]),
    Buffer.concat([good.subarray(0, 65), Buffer.from('67', 'hex')]),
    Buffer.concat([good.subarray(0, 65), pending('http://a b/')]),
    Buffer.concat([good.subarray(0, 65), pending('javascript:alert(1)')]),
  ])
    await t.throwsAsync(() => adapter.verify(bad(proof), checkpoint), { code: 'RECEIPT_MALFORMED' })
  await t.throwsAsync(() => adapter.poll({ ...bad(good), network: 'other' }), { code: 'RECEIPT_MALFORMED' })
  await t.throwsAsync(() => adapter.poll({ ...bad(good), proof: '!' }), { code: 'RECEIPT_MALFORMED' })
  t.is((await adapter.poll(bad(good))).state, 'SUBMITTED')
})

test('an unknown attestation is preserved', (t) => {
  const unknown = Buffer.concat([
    Buffer.from('00', 'hex'),
    Buffer.from('0102030405060708', 'hex'),
    Buffer.from('03aabbcc', 'hex'),
  ])
  t.deepEqual(Buffer.from(formatTimestamp(parseTimestamp(unknown, digest))), unknown)
})

test('the reference library reads our timestamp proofs and writes equal bytes', async (t) => {
  const python = ['/usr/bin/python3', 'python3'].find(
    (program) => spawnSync(program, ['-c', 'import opentimestamps']).status === 0,
  )
  if (python === undefined) {
    t.log('NOT CHECKED: the Python package opentimestamps is not on this machine (Debian python3-opentimestamps)')
    t.pass()
    return
  }
  await using calendar = await new Calendar().start()
  const adapter = createOpenTimestamps({ calendars: [calendar.url], request })
  const submitted = await adapter.submit(checkpoint)
  calendar.height = 900_001
  const mined = await adapter.poll(submitted)
  const forked = formatDetached({
    ...parseDetached(Buffer.from(submitted.proof, 'base64')),
    attestations: [{ kind: 'bitcoin', height: 300 }],
  })
  const input = [submitted.proof, mined.proof, Buffer.from(forked).toString('base64')].join('\n')
  const check = new URL('open-timestamps-check.py', import.meta.url).pathname
  const { stdout, stderr } = spawnSync(python, [check], { input, encoding: 'utf8' })
  t.is(stderr, '')
  const commitment = sha256(Buffer.concat([Buffer.from('00112233', 'hex'), digest])).toString('hex')
  const [first, second, third] = stdout.split('\n')
  const hex = digest.toString('hex')
  t.is(first, `${hex} PendingAttestation ${commitment} ${calendar.url} True`)
  t.is(second, `${hex} BitcoinBlockHeaderAttestation ${calendar.blockRoot.toString('hex')} 900001 True`)
  t.is(third, `${hex} BitcoinBlockHeaderAttestation ${hex} 300|PendingAttestation ${commitment} ${calendar.url} True`)
})

/** Returns a single pending attestation, encoded by hand. */
function pending(uri: string): Buffer {
  const text = Buffer.from(uri)
  return Buffer.concat([Buffer.from('0083dfe30d2ef90c8e', 'hex'), Buffer.of(text.length + 1, text.length), text])
}
