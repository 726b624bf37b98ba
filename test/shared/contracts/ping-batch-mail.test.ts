import test from 'ava'
import {
  type AcceptedPing,
  decodePingBatch,
  encodePingBatch,
  MalformedBatchError,
} from '#shared/contracts/ping-batch.ts'

const request: AcceptedPing = {
  checkId: 7,
  kind: 'success',
  exitStatus: null,
  receivedAt: 1_700_000_000_000_000,
  scheme: 'http',
  remoteAddr: null,
  method: 'GET',
  ua: 'curl',
  rid: null,
  body: null,
}
const stored: AcceptedPing = {
  ...request,
  scheme: 'email',
  method: '',
  mail: { text: null, storedBody: '0f1a2b3c-4d5e-4f60-8a7b-9c0d1e2f3a4b', subject: 'large' },
}
const carried: AcceptedPing = {
  ...request,
  scheme: 'email',
  body: Buffer.from('Subject: a\r\n\r\n'),
  mail: { text: { subject: 'a', pieces: ['', 'b'] }, storedBody: null },
}
const head = { stream: '0f1a2b3c-4d5e-4f60-8a7b-9c0d1e2f3a4b', seq: 1 }

test('requests and mails are read as they were written', (t) => {
  const batch = { ...head, pings: [request, stored, carried] }
  t.deepEqual(decodePingBatch(encodePingBatch(batch)), batch)
})

test('a request takes no more room than before mails existed, and a mail only adds at the end', (t) => {
  const { pings } = JSON.parse(encodePingBatch({ ...head, pings: [request, carried] }).toString())
  t.deepEqual(
    pings.map((fields: unknown[]) => fields.length),
    [10, 11],
  )
})

test('a mail part of another shape is refused', (t) => {
  const message = JSON.parse(encodePingBatch({ ...head, pings: [carried] }).toString())
  for (const mail of ['x', [], [null], [null, 'no uuid'], [['a', 1], null], [{}, null]]) {
    message.pings[0][10] = mail
    t.throws(() => decodePingBatch(Buffer.from(JSON.stringify(message))), { instanceOf: MalformedBatchError })
  }
})
