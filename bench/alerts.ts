import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { insertIntegration } from '#shared/monitoring/integrations/store.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { median } from './load.ts'
import { costPerItem, openProcessorTime } from './processor-time.ts'
import { addChecks, type BenchStack, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

interface Options {
  rounds: number
  flips: number
  alerts: number
}

/** Results of one round. Costs are microseconds of processor time per item, by process. */
interface Round {
  seconds: number
  costs: number[]
}

/**
 * Measures flips that the alerter processes without notifications, and alerts to one webhook host each, from their
 * creation to the arrival of the last one.
 */
export async function benchAlerts({ rounds, flips, alerts }: Options): Promise<Row[]> {
  const processed: Round[] = []
  const sent = new Map<number, Round[]>()
  for (let round = 0; round < rounds; round++) {
    processed.push(await measureFlips(flips))
    for (const answerMs of [5, 200]) sent.set(answerMs, [...(sent.get(answerMs) ?? []), await alert(alerts, answerMs)])
  }
  return [
    row(`${flips} flips without integrations`, flips, processed, { limit: '4000/s', goal: '10000/s' }),
    row(`${alerts} alerts to a host that answers in 5 ms`, alerts, sent.get(5) ?? [], { limit: '8 s', goal: '4 s' }),
    row(`${alerts}, in 200 ms`, alerts, sent.get(200) ?? [], { limit: '30 s', goal: '20 s' }),
  ]
}

function row(name: string, items: number, rounds: readonly Round[], bounds: { limit: string; goal: string }): Row {
  const seconds = median(rounds.map((round) => round.seconds))
  const costs = [0, 1, 2].map((stage) => median(rounds.map((round) => round.costs[stage] ?? Number.NaN)))
  return {
    name,
    seconds: seconds.toFixed(2),
    'per second': Math.round(items / seconds),
    ...bounds,
    'CPU us each': Math.round(costs.reduce((sum, cost) => sum + cost, 0)),
    'workers/database/broker': costs.map(Math.round).join('/'),
  }
}

/** Creates the flips before the alerter starts, so that its start is not measured. */
async function measureFlips(count: number): Promise<Round> {
  await using stack = await openBenchStack()
  await addChecks(stack.db, count)
  await stack.db.raw(
    `INSERT INTO flips (check_id, at, from_status, to_status, reason) SELECT id, now(), 'up', 'down', 'timeout' FROM checks`,
  )
  const measured = await measure(stack, ['alerter', 'sweeper'], count, async () => {
    await until(async () => (await waiting(stack.db)) === 0)
  })
  const { rows } = await stack.db.raw<{ rows: { seconds: number; first: number }[] }>(
    `SELECT extract(epoch FROM max(processed_at) - min(processed_at))::float AS seconds,
            count(*) FILTER (WHERE processed_at = (SELECT min(processed_at) FROM flips))::int AS first FROM flips`,
  )
  const { seconds = Number.NaN, first = 0 } = rows[0] ?? {}
  // Omits one page at either end, because the last transaction is not complete when it begins.
  return { seconds: (seconds * count) / (count - first), costs: measured.costs }
}

async function alert(count: number, answerMs: number): Promise<Round> {
  await using receiver = await openReceiver(answerMs, count)
  await using stack = await openBenchStack()
  await addChecks(stack.db, count)
  await addWebhook(stack, receiver.url)
  const { costs } = await measure(stack, ['ping-evaluator', 'sweeper', 'alerter', 'notifier'], count, async () => {
    await stack.db.raw(`UPDATE checks SET status = 'up', alert_after = now() - interval '1 minute'`)
    await receiver.complete
    await until(async () => {
      const { rows } = await stack.db.raw<{ rows: { n: number }[] }>(
        `SELECT count(*)::int AS n FROM notifications WHERE state = 'delivered'`,
      )
      return rows[0]?.n === count
    })
  })
  const { rows } = await stack.db.raw<{ rows: { at: number }[] }>(
    'SELECT extract(epoch FROM min(created_at))::float * 1000 AS at FROM notifications',
  )
  return { seconds: ((await receiver.complete) - (rows[0]?.at ?? Number.NaN)) / 1000, costs }
}

async function measure(
  stack: BenchStack,
  workers: readonly string[],
  items: number,
  work: () => Promise<void>,
): Promise<{ costs: number[] }> {
  const child = await stack.workers(...workers)
  const time = await openProcessorTime(stack.db, { ingress: [], evaluator: [child.pid ?? 0] })
  const before = await time.read()
  await work()
  const cost = costPerItem(before, await time.read(), items)
  return { costs: [cost.evaluator, cost.database, cost.broker].map((each) => each ?? Number.NaN) }
}

/** `complete` is the time of the last expected alert, in milliseconds since 1970. */
export async function openReceiver(answerMs: number, count: number) {
  const seen = new Set<string>()
  const complete = Promise.withResolvers<number>()
  const server = createServer((request, response) => {
    request.resume()
    seen.add(String(request.headers['x-signalbox-notification']))
    if (seen.size === count) complete.resolve(Date.now())
    setTimeout(() => response.end('ok'), answerMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Listening on TCP always returns an AddressInfo.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    complete: complete.promise,
    messages: () => seen.size,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** @param body body of the message that a check is down */
export async function addWebhook({ db, env }: BenchStack, url: string, body = '$NAME is $STATUS'): Promise<void> {
  const config = {
    url_down: url,
    method_down: 'POST',
    body_down: body,
    headers_down: {},
    url_up: '',
    method_up: 'POST',
    body_up: '',
    headers_up: {},
  }
  const sealedConfig = createSecrets(env.SECRET_KEY ?? '').seal('integration', JSON.stringify(config))
  const project = await db('projects').first('id')
  const { id } = await insertIntegration(db, { projectId: project.id, kind: 'webhook', name: 'bench', sealedConfig })
  await db.raw('INSERT INTO check_integrations (check_id, integration_id) SELECT id, ? FROM checks', [id])
}

async function waiting(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    'SELECT count(*)::int AS n FROM flips WHERE processed_at IS NULL',
  )
  return rows[0]?.n ?? 0
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const started = performance.now(); !(await isTrue()); ) {
    if (performance.now() - started > 240_000) throw new Error('it did not come to its end within four minutes')
    await sleep(50)
  }
}
