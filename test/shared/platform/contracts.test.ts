import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { deadLetterQueueOf, queueOf } from '#shared/contracts/define-message.ts'
import { messages } from '#shared/contracts/messages.ts'
import { queueDeclarations } from '#shared/contracts/topology.ts'
import { workers } from '../../../workers/registry.ts'
import { root } from '../../support/imports.ts'
import { loadWorkers } from '../../support/named-workers.ts'

const names = workers.map(({ name }) => name)

for (const message of messages) {
  test(`${message.name} is consumed by workers that exist`, (t) => {
    t.true(message.consumers.length > 0)
    for (const consumer of message.consumers) t.true(names.includes(consumer), `${consumer} is in the registry`)
  })
}

test('no two messages and no two workers share a name', (t) => {
  t.is(new Set(messages.map(({ name }) => name)).size, messages.length)
  t.is(new Set(names).size, names.length)
})

test('every worker is in the registry, so that what tests start by name is what the product starts', async (t) => {
  const folders = readdirSync(join(root, 'workers')).filter((name) =>
    existsSync(join(root, 'workers', name, `${name}.ts`)),
  )
  const missing = (await loadWorkers(folders)).filter((worker) => !workers.includes(worker))
  t.deepEqual(missing, [])
  t.deepEqual(folders.toSorted(), names.toSorted(), 'each is where it is looked for')
})

test('every queue of work has limits, refuses when it is full, and has a dead-letter queue', (t) => {
  const queues = queueDeclarations(3)
  const wanted = messages.flatMap((message) => message.consumers.map((consumer) => queueOf(message, consumer)))
  for (const name of [...wanted, 'pings.0', 'pings.1', 'pings.2']) {
    const queue = queues.find((each) => each.name === name)
    t.like(queue?.arguments, { 'x-queue-type': 'quorum', 'x-overflow': 'reject-publish' }, name)
    t.true(Number(queue?.arguments['x-max-length']) > 0, name)
    t.true(Number(queue?.arguments['x-delivery-limit']) > 0, name)
    t.is(queue?.arguments['x-dead-letter-routing-key'], deadLetterQueueOf(name))
    t.true(queues.some((each) => each.name === deadLetterQueueOf(name)))
    t.is(queue?.arguments['x-single-active-consumer'], name.startsWith('pings.') ? true : undefined, name)
  }
})
