import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { connect } from 'amqplib'
import type { Knex } from 'knex'
import { EVENTS_EXCHANGE, queueDeclarations } from '#shared/contracts/topology.ts'
import { deliveryDue } from '#shared/contracts/worker-messages.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { insertEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { formatSecret } from '#shared/webhooks/signature.ts'
import { median } from './load.ts'
import { type BenchStack, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

interface Options {
  deliveries: number
  rounds: number
}

const ENDPOINTS = 64
const HANGING = 50
const OTHERS = 150
const BODY = JSON.stringify({ event: 'risk_signals.pack_ready', padding: 'x'.repeat(400) })

/**
 * Alternately measures the requests per second of one webhook-deliverer and of a plain loop of got. Then measures the
 * delivery times of other endpoints while a quarter of all endpoints hang.
 */
export async function benchDeliveries({ deliveries, rounds }: Options): Promise<Row[]> {
  const rates: { got: number; ours: number }[] = []
  for (let round = 0; round < rounds; round++) {
    await using receiver = await openReceiver()
    const gotRate = await receiver.rateOf(deliveries, () => gotLoop(`${receiver.url}/got`, deliveries))
    await using stack = await openBenchStack()
    const ids = await addEndpoints(
      stack,
      Array.from({ length: ENDPOINTS }, (_, n) => `${receiver.url}/${n}`),
    )
    await addDeliveries(stack.db, ids, deliveries / ENDPOINTS)
    await publishDue(stack, repeated(ids, deliveries / ENDPOINTS))
    const ours = await receiver.rateOf(deliveries, async () => {
      await stack.workers('webhook-deliverer')
    })
    rates.push({ got: gotRate, ours })
  }
  const p99s: number[] = []
  for (let round = 0; round < rounds; round++) p99s.push(await whileSomeHang())
  const medianOf = (pick: (rate: { got: number; ours: number }) => number) => median(rates.map(pick))
  return [
    {
      name: `one process, ${ENDPOINTS} endpoints`,
      'deliveries/s': Math.round(medianOf(({ ours }) => ours)),
      'got/s': Math.round(medianOf(({ got }) => got)),
      ratio: medianOf(({ ours, got }) => ours / got).toFixed(2),
      limit: '0.60',
      goal: '0.85',
      'p99 ms': '',
    },
    {
      name: `${OTHERS} endpoints beside ${HANGING} that hang`,
      'deliveries/s': '',
      'got/s': '',
      ratio: '',
      limit: '',
      goal: '',
      'p99 ms': Math.round(median(p99s)),
    },
  ]
}

/** @returns 99th percentile of the time from message to arrival, at endpoints that answer */
async function whileSomeHang(): Promise<number> {
  await using stack = await openBenchStack()
  // Opened last, so that it closes first: a deliverer that stops waits for its hanging requests.
  await using receiver = await openReceiver()
  const hanging = await addEndpoints(stack, repeated([`${receiver.url}/hang`], HANGING))
  const others = await addEndpoints(stack, repeated([`${receiver.url}/ok`], OTHERS))
  await stack.workers('webhook-deliverer')
  await addDeliveries(stack.db, hanging, 20)
  await publishDue(stack, repeated(hanging, 20))
  await receiver.arrived(({ hung }) => hung >= HANGING)
  const latencies: number[] = []
  for (let burst = 0; burst < 5; burst++) {
    await addDeliveries(stack.db, others, 1)
    const before = receiver.times.length
    const startedAt = performance.now()
    await publishDue(stack, others)
    await receiver.arrived(({ answered }) => answered >= before + OTHERS)
    latencies.push(...receiver.times.slice(before).map((at) => at - startedAt))
  }
  latencies.sort((a, b) => a - b)
  return latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN
}

interface Receiver extends AsyncDisposable {
  url: string
  times: number[]
  arrived(isComplete: (seen: { answered: number; hung: number }) => boolean): Promise<void>
  /** requests per second between the first and the last of `count` requests that `start` causes */
  rateOf(count: number, start: () => Promise<unknown>): Promise<number>
}

async function openReceiver(): Promise<Receiver> {
  const times: number[] = []
  let hung = 0
  let wake = () => {}
  const server = createServer((request, response) => {
    request.resume()
    if (request.url === '/hang') hung += 1
    else {
      times.push(performance.now())
      response.end('ok')
    }
    wake()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Listening on TCP always returns an AddressInfo.
  const { port } = server.address() as AddressInfo
  const arrived: Receiver['arrived'] = (isComplete) =>
    new Promise((resolve) => {
      wake = () => {
        if (isComplete({ answered: times.length, hung })) resolve()
      }
      wake()
    })
  return {
    url: `http://127.0.0.1:${port}`,
    times,
    arrived,
    async rateOf(count, start) {
      const first = times.length
      const started = start()
      await arrived(({ answered }) => answered >= first + count)
      await started
      return (count - 1) / (((times[first + count - 1] ?? 0) - (times[first] ?? 0)) / 1000)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function gotLoop(url: string, count: number): Promise<void> {
  const file = fileURLToPath(new URL('got-loop.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', file, url, String(count), '64', BODY], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  await once(child, 'exit')
}

async function addEndpoints(stack: BenchStack, urls: readonly string[]): Promise<string[]> {
  const secrets = createSecrets(stack.env.SECRET_KEY ?? '')
  const [organisation] = await stack.db('organisations').insert({ name: 'bench' }).returning(['id'])
  const ids: string[] = []
  for (const url of urls) {
    const id = randomUUID()
    const sealedSecret = secrets.seal('webhook-secret', formatSecret(randomBytes(32)))
    const owner = { organisationId: Number(organisation?.id), env: 'PRODUCTION' as const }
    await insertEndpoint(stack.db, {
      id,
      ...owner,
      url,
      description: '',
      eventTypes: ['*'],
      ordered: false,
      sealedSecret,
    })
    ids.push(id)
  }
  return ids
}

async function addDeliveries(db: Knex, endpointIds: readonly string[], each: number): Promise<void> {
  await db.raw(
    `WITH made AS (
       SELECT gen_random_uuid() AS id, e.id AS endpoint_id, e.organisation_id FROM webhook_endpoints e, generate_series(1, ?)
       WHERE e.id = ANY(?::uuid[])),
     stored AS (
       INSERT INTO events (id, organisation_id, env, type, deal_id, body, occurred_at)
       SELECT id, organisation_id, 'PRODUCTION', 'risk_signals.pack_ready', 'deal', ?, now() FROM made RETURNING id)
     INSERT INTO webhook_deliveries (id, endpoint_id, event_id, state, next_attempt_at, queued_until, created_at)
     SELECT gen_random_uuid(), made.endpoint_id, stored.id, 'PENDING', now(), now() + interval '1 hour', now()
     FROM made JOIN stored USING (id)`,
    [each, [...endpointIds], BODY],
  )
}

async function publishDue(stack: BenchStack, endpointIds: readonly string[]): Promise<void> {
  const connection = await connect(stack.env.AMQP_URL ?? '')
  const channel = await connection.createConfirmChannel()
  await channel.assertExchange(EVENTS_EXCHANGE, 'direct', { durable: true })
  for (const queue of queueDeclarations(4)) {
    await channel.assertQueue(queue.name, { durable: true, arguments: queue.arguments })
    if (queue.boundTo) await channel.bindQueue(queue.name, EVENTS_EXCHANGE, queue.boundTo)
  }
  for (const endpointId of endpointIds) {
    channel.publish(EVENTS_EXCHANGE, deliveryDue.name, Buffer.from(JSON.stringify({ endpointId })), {
      persistent: true,
      messageId: randomUUID(),
      headers: { v: deliveryDue.version },
    })
  }
  await channel.waitForConfirms()
  await connection.close()
}

function repeated<T>(items: readonly T[], times: number): T[] {
  return Array.from({ length: times }, () => items).flat()
}
