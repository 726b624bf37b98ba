import { hash } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { parseNote } from '#shared/transparency/anchoring/note.ts'
import { createOpenTimestamps } from '#shared/transparency/providers/open-timestamps.ts'
import {
  type Attestation,
  apply,
  formatTimestamp,
  type Operation,
} from '#shared/transparency/providers/open-timestamps-format.ts'
import { submitOutside } from '../../../workers/anchor/submit-outside.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { demoRequest, openClient, send } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'

/** Computes a calendar's answer to a message: appends to it, hashes, and attests the result. */
function timestampOf(message: Uint8Array, attestation: Attestation): { answer: Buffer; commitment: Uint8Array } {
  const append: Operation = { kind: 'append', argument: Buffer.from('00112233', 'hex') }
  const sha: Operation = { kind: 'sha256' }
  const appended = apply(append, message)
  const commitment = apply(sha, appended)
  const end = { message: commitment, attestations: [attestation], branches: [] }
  const middle = { message: appended, attestations: [], branches: [{ operation: sha, to: end }] }
  const start = { message, attestations: [], branches: [{ operation: append, to: middle }] }
  return { answer: Buffer.from(formatTimestamp(start)), commitment }
}

test('a checkpoint is EXTERNAL once a calendar attests it in a block', async (t) => {
  await using calendar = await openHttpSink()
  let isMined = false
  const mined = new Map<string, Buffer>()
  calendar.respond = ({ method, path, body }) => {
    if (method === 'POST' && path === '/digest') {
      const { answer, commitment } = timestampOf(body, { kind: 'pending', uri: calendar.url })
      const upgraded = timestampOf(commitment, { kind: 'bitcoin', height: 900_000 }).answer
      mined.set(`/timestamp/${Buffer.from(commitment).toString('hex')}`, upgraded)
      return { status: 200, body: answer }
    }
    const upgrade = mined.get(path)
    return isMined && upgrade ? { status: 200, body: upgrade } : { status: 404 }
  }
  await using product = await openProduct({ env: { CHECKPOINT_DIR: await mkdtemp(join(tmpdir(), 'checkpoints-')) } })
  const { base } = await product.ingress()
  const { log, db } = await product.workers(['pack-composer', 'anchor'])
  const client = await openClient(product, base)
  const { json: pack } = await client.post('/v1/po/risk-signals', demoRequest)
  const view = async () => (await send(`${base}/v1/anchors/${pack.anchor.txId}`)).json
  const included = await eventually('the anchor to be included', async () => {
    const anchor = await view()
    return anchor.state === 'INCLUDED' ? anchor : undefined
  })

  await using http = createHttpClient({ policy: { allowPrivate: true, plainHttp: 'anywhere' }, userAgent: 'test' })
  const adapter = createOpenTimestamps({ calendars: [calendar.url], request: (request) => http.request(request) })
  const submit = () => submitOutside({ db, log }, 'SANDBOX', adapter)
  await submit()
  const [submitted] = calendar.requests
  t.is(submitted?.method, 'POST')
  t.deepEqual(submitted?.body, hash('sha256', parseNote(included.checkpoint).text, 'buffer'))
  t.is((await view()).state, 'INCLUDED')

  // Not due yet: the calendar is not queried again and does not get the same checkpoint twice.
  await submit()
  t.is(calendar.requests.length, 1)
  const makeDue = () => db.raw("UPDATE log_receipts SET poll_after = now() - interval '1 second'")
  await makeDue()
  await submit()
  t.is(calendar.requests.length, 2)
  t.is((await view()).state, 'INCLUDED')

  isMined = true
  await makeDue()
  await submit()
  t.is(calendar.requests.length, 3)
  t.is((await view()).state, 'EXTERNAL')
  await makeDue()
  await submit()
  t.is(calendar.requests.length, 3)
})
