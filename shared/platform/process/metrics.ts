import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Seconds; from a confirm on an idle machine to a deadline that passed. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export type Metrics = ReturnType<typeof createMetrics>

/** Every metric of a process. Labels are names of routes, queues and kinds: never a tenant, an address or an id. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames, registers })
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers })
  return {
    registry,
    httpRequests: histogram(
      'signalbox_http_request_seconds',
      'Time to answer a request.',
      ['route', 'method', 'status'],
      LATENCY_BUCKETS,
    ),
    pingsAccepted: counter('signalbox_pings_accepted_total', 'Pings answered after the broker confirmed them.'),
    pingsRefused: counter(
      'signalbox_pings_refused_total',
      'Pings not logged, by the status of the answer; limited: beyond the rate limit of their check.',
      ['status'],
    ),
    pingBatchSize: histogram(
      'signalbox_ping_batch_size',
      'Pings per message.',
      [],
      [1, 2, 5, 10, 20, 50, 100, 200, 500],
    ),
    pingsApplied: counter('signalbox_pings_applied_total', 'Pings recorded by the evaluator.'),
    pingsDropped: counter('signalbox_pings_dropped_total', 'Pings whose check was deleted meanwhile.'),
    evaluatorBatch: histogram(
      'signalbox_evaluator_batch_seconds',
      'Time of one transaction of the ping evaluator.',
      [],
      LATENCY_BUCKETS,
    ),
    brokerConnected: gauge('signalbox_broker_connected', '1 while connected.', ['connection']),
    brokerBlocked: gauge('signalbox_broker_blocked', '1 while the broker refuses to take messages.'),
    confirmSeconds: histogram('signalbox_confirm_seconds', 'Time from publish to confirm.', [], LATENCY_BUCKETS),
    unconfirmed: gauge('signalbox_unconfirmed_publishes', 'Messages published and not yet confirmed.'),
    returned: counter('signalbox_returned_publishes_total', 'Messages that no queue took.'),
    redelivered: counter('signalbox_redeliveries_total', 'Messages handed out again by the broker.', ['queue']),
    deadLetters: counter('signalbox_dead_letters_total', 'Messages given up.', ['queue', 'reason']),
    handled: histogram('signalbox_message_seconds', 'Time to handle a message.', ['queue', 'outcome'], LATENCY_BUCKETS),
    outboxAge: gauge('signalbox_outbox_oldest_seconds', 'Age of the oldest message not yet published.'),
    outboxRows: gauge('signalbox_outbox_rows', 'Messages not yet published.'),
    sweepLag: gauge('signalbox_sweep_lag_seconds', 'Time since the last complete sweep.'),
    clockOffset: gauge('signalbox_clock_offset_seconds', 'The database clock minus ours.'),
    unsweptShards: gauge('signalbox_unswept_shards', 'Ping shards that did not answer the last barrier.'),
    flips: counter('signalbox_flips_total', 'Changes of status stored.', ['to']),
    notificationAge: gauge('signalbox_notification_oldest_seconds', 'Age of the oldest notification that is due.'),
    notifications: counter('signalbox_notification_attempts_total', 'Attempts to notify.', ['kind', 'outcome']),
    deadLetterDepth: gauge('signalbox_dead_letter_messages', 'Messages waiting in dead-letter queues.', ['queue']),
    queueDepth: gauge('signalbox_queue_messages', 'Messages ready in a queue.', ['queue']),
    poolInUse: gauge('signalbox_pool_connections_in_use', 'Database connections lent out.'),
    poolWaiting: gauge('signalbox_pool_waiting', 'Requests waiting for a database connection.'),
    barrierSeconds: histogram('signalbox_barrier_seconds', 'Time for a barrier to pass.', ['outcome'], LATENCY_BUCKETS),
  }
}

/**
 * Serves `/metrics`, `/livez` and `/readyz` on a port of their own, which is not for the public: also for processes
 * without another door. Port 0 picks a free one. @param problems why the process cannot work now; empty when it can
 */
export async function serveMetrics(
  metrics: Metrics,
  options: { port: number; host: string },
  problems: () => Promise<string[]>,
): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, text: string) =>
      response.writeHead(status, { 'Content-Type': type }).end(text)
    const fail = () => answer(500, 'text/plain', 'internal error')
    if (request.url === '/metrics') {
      metrics.registry.metrics().then((text) => answer(200, metrics.registry.contentType, text), fail)
    } else if (request.url === '/livez') {
      answer(200, 'text/plain', 'OK')
    } else if (request.url === '/readyz') {
      problems().then((reasons) => {
        const isReady = reasons.length === 0
        answer(isReady ? 200 : 503, 'application/json', JSON.stringify({ ready: isReady, reasons }))
      }, fail)
    } else {
      answer(404, 'text/plain', 'not found')
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
