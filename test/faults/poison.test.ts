import { randomUUID } from 'node:crypto'
import test from 'ava'
import { encodePingBatch, PING_BATCH_VERSION } from '#shared/contracts/ping-batch.ts'
import { openDeadLetterQueues } from '#shared/platform/broker/dead-letter-queue.ts'
import { nowMicros } from '#shared/time.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { openProduct, type Product } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { backlogEmpty } from './ledger.ts'

const MESSAGES = 60
const POISON = 30

/** One ping per message, all in one queue, as an ingress would send them. @returns the message ids */
async function putPings(product: Product, checkId: number, ridOf: (index: number) => string): Promise<string[]> {
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const stream = randomUUID()
  const ids: string[] = []
  for (let index = 0; index < MESSAGES; index++) {
    const ping = {
      checkId,
      kind: 'success' as const,
      exitStatus: null,
      receivedAt: nowMicros(),
      scheme: 'http',
      remoteAddr: null,
      method: 'GET',
      ua: '',
      rid: ridOf(index),
      body: null,
    }
    const messageId = `${stream}:${index + 1}`
    const body = encodePingBatch({ stream, seq: index + 1, pings: [ping] })
    probe.channel.sendToQueue('pings.0', body, {
      persistent: true,
      messageId,
      type: 'ping.batch',
      headers: { v: PING_BATCH_VERSION },
    })
    ids.push(messageId)
  }
  await probe.channel.waitForConfirms()
  return ids
}

test.serial('a message that causes database errors is dead-lettered alone and can be replayed', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '1' } })
  const project = await product.project()
  const { deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  const poison = randomUUID()
  await product.db.raw(`
    CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.rid = '${poison}' THEN RAISE EXCEPTION 'poison' USING ERRCODE = '22023'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER refuse_poison BEFORE INSERT ON pings FOR EACH ROW EXECUTE FUNCTION refuse_poison();
  `)
  const ids = await putPings(product, check.id, (index) => (index === POISON ? poison : randomUUID()))
  await product.workers(['ping-evaluator'])
  await backlogEmpty(product)
  const countOf = async () => Number((await product.db('checks').first('n_pings'))?.n_pings)
  t.is(await countOf(), MESSAGES - 1)

  await using deadLetters = await openDeadLetterQueues(product.config.amqpUrl)
  const found = await deadLetters.each(
    'pings.0',
    10,
    () => 'keep',
    async () => {},
  )
  t.deepEqual(
    found.map(({ message }) => message.messageId),
    [ids[POISON]],
  )
  t.like(found[0]?.message.headers, {
    'x-signalbox-reason': 'FAILED',
    'x-signalbox-queue': 'pings.0',
    'x-signalbox-failures': 3,
    'x-signalbox-first-error': 'error 22023',
    'x-signalbox-last-error': 'error 22023',
  })

  await product.db.raw('DROP TRIGGER refuse_poison ON pings')
  await deadLetters.each(
    'pings.0',
    10,
    () => 'replay',
    async () => {},
  )
  await backlogEmpty(product)
  t.is(await countOf(), MESSAGES, 'the replayed ping is counted')
  t.is(await deadLetters.depth('pings.0'), 0)
})

test.serial('a message that kills its process is dead-lettered without other messages in flight', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '1' } })
  const project = await product.project()
  const { deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  const rids = Array.from({ length: MESSAGES }, () => randomUUID())
  const ids = await putPings(product, check.id, (index) => rids[index] ?? '')
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const dead = 'pings.0.dead'
  // The first message crashes its consumer while all others are in flight.
  let deaths = 0
  while ((await probe.depth(dead)) === 0) {
    const dying = product.spawn('workers', ['ping-evaluator'], { CRASH_AT: 'before-commit' })
    // The process crashes at the next message, after it has settled the first.
    await dying.exited
    deaths += 1
    if (deaths > 12) break
  }
  t.true(deaths > 3, `it was dead-lettered after ${deaths} crashes`)
  await product.workers(['ping-evaluator'])
  await backlogEmpty(product)
  const messages = await probe.take(dead, 1)
  t.deepEqual(
    messages.map(({ properties }) => [properties.messageId, properties.headers?.['x-signalbox-reason']]),
    [[ids[0], 'CRASHED']],
  )
  const counted = await product.db('pings').pluck('rid').orderBy('n')
  t.deepEqual(counted, rids.slice(1), 'all the others are counted, in their order')
})
