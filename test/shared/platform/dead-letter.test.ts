import test from 'ava'
import { decodePingBatch, encodePingBatch } from '#shared/contracts/ping-batch.ts'
import { toReplayed } from '#shared/platform/broker/dead-letter.ts'

const STREAM = 'f3b1c6a2-5d4e-4c1b-9a70-2e8d6b7c9f10'
const NEW_STREAM = '0b8f5c1e-3a7d-4e2b-8c94-6d1f2a3b4c5d'

// The evaluator drops a message whose stream position it has stored.
test('a replayed batch of pings begins a new stream in queues of every generation', (t) => {
  const body = encodePingBatch({ stream: STREAM, seq: 17, pings: [] })
  for (const queue of ['pings.0', 'pings.1.0']) {
    const replayed = toReplayed({ queue, messageId: '', type: '', headers: { v: 1 }, body }, NEW_STREAM)
    const batch = replayed && decodePingBatch(replayed.body)
    t.deepEqual([batch?.stream, batch?.seq], [NEW_STREAM, 1], queue)
  }
})
