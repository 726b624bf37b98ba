import test from 'ava'
import { DELIVERY_LIMIT, queueDeclarations } from '#shared/contracts/topology.ts'

test('every queue is a quorum queue with its own delivery limit', (t) => {
  for (const { name, arguments: given } of queueDeclarations(4)) {
    t.is(given['x-queue-type'], 'quorum', name)
    const limit = Number(given['x-delivery-limit'])
    // An abandoned message may be read any number of times; the limit must fit the broker's 32-bit field.
    if (name.endsWith('.dead')) t.true(limit >= 1_000_000_000 && limit < 2 ** 31, name)
    else t.is(limit, DELIVERY_LIMIT, name)
  }
})
