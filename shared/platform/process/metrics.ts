import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ConnectionCap } from '../http/connection-cap.ts'
import { productVersion } from './version.ts'

/** Seconds: from a confirm on an idle machine to a missed deadline. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Interval at which `nodejs_eventloop_lag_*` is measured, and so its least value. The default of 10 wakes an idle process
 * a hundred times a second.
 */
const LAG_INTERVAL_MS = 100

/** Gauges of the Node runtime whose names end like counters: monitoring tools would treat them as counters. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total']

export type Metrics = ReturnType<typeof createMetrics>

/** Labels are names of routes, queues and kinds: never a tenant, an address or an id. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_INTERVAL_MS })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const { counter, gauge, liveGauge, histogram } = makersOf(registry)
  return {
    registry,
    httpRequests: histogram(
      'signalbox_http_request_seconds',
      'Time to answer a request.',
      ['route', 'method', 'status'],
      LATENCY_BUCKETS,
    ),
    eventLoopBlocks: histogram(
      'signalbox_event_loop_block_seconds',
      'Time for which the event loop was blocked, if more than 100 ms; route: the only one in progress, or their number.',
      ['route'],
      [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ),
    threadTasks: histogram(
      'signalbox_thread_task_seconds',
      'Time of a task beside the event loop; outcome: done, failed, too slow, too large, too busy.',
      ['task', 'outcome'],
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
    pingsRestamped: counter(
      'signalbox_pings_restamped_total',
      'Pings whose stated arrival lay over 2 s in the future: the clock of a listener is wrong.',
    ),
    pingsDropped: counter('signalbox_pings_dropped_total', 'Pings whose check was deleted meanwhile.'),
    evaluatorBatch: histogram(
      'signalbox_evaluator_batch_seconds',
      'Time of one transaction of the ping evaluator.',
      [],
      LATENCY_BUCKETS,
    ),
    brokerConnected: gauge('signalbox_broker_connected', '1 while connected.', ['connection']),
    consuming: liveGauge('signalbox_consuming', '1 while the broker hands out messages of the queue to us.', ['queue']),
    unappliedAge: liveGauge(
      'signalbox_unapplied_ping_seconds',
      'Age of the oldest unapplied ping in hand since it was received.',
    ),
    brokerBlocked: gauge('signalbox_broker_blocked', '1 while the broker refuses to take messages.'),
    confirmSeconds: histogram('signalbox_confirm_seconds', 'Time from publish to confirm.', [], LATENCY_BUCKETS),
    unconfirmed: gauge('signalbox_unconfirmed_publishes', 'Messages published and not yet confirmed.'),
    returned: counter('signalbox_returned_publishes_total', 'Messages that no queue took.'),
    redelivered: counter('signalbox_redeliveries_total', 'Messages handed out again by the broker.', ['queue']),
    deadLetters: counter('signalbox_dead_letters_total', 'Messages given up.', ['queue', 'reason']),
    queueMessages: gauge('signalbox_queue_messages', 'Messages ready in a queue.', ['queue']),
    queueConsumers: gauge('signalbox_queue_consumers', 'Consumers of a queue.', ['queue']),
    deadLetterMessages: gauge('signalbox_dead_letter_messages', 'Messages that a queue gave up.', ['queue']),
    waiting: gauge(
      'signalbox_messages_waiting',
      'Messages in flight that wait for the end of a fault that is not theirs.',
      ['queue'],
    ),
    handled: histogram('signalbox_message_seconds', 'Time to handle a message.', ['queue', 'outcome'], LATENCY_BUCKETS),
    outboxAge: gauge('signalbox_outbox_oldest_seconds', 'Age of the oldest message not yet published.'),
    outboxRows: gauge('signalbox_outbox_rows', 'Messages not yet published.'),
    ...alertMetrics({ counter, gauge }),
    ...serverMetrics({ gauge }),
    sweepLag: liveGauge('signalbox_sweep_lag_seconds', 'Time since each sweep last came to its end.', ['sweep']),
    clockOffset: liveGauge('signalbox_clock_offset_seconds', 'The database clock minus that of the machine.'),
    heartbeatAge: liveGauge(
      'signalbox_heartbeat_age_seconds',
      'Time since this process last showed that it is there.',
      ['kind'],
    ),
    gapOpen: gauge('signalbox_gap_open', '1 while a listener is unavailable.', ['listener']),
    gapSeconds: counter('signalbox_gap_seconds_total', 'Time of coverage gaps.', ['listener', 'cause']),
    checksDeadlineExtended: counter('signalbox_deadline_extensions_total', 'Extended deadlines of checks.'),
    sweepStalled: gauge(
      'signalbox_sweep_stalled_seconds',
      'Time by which unanswered pings hold back the sweep of deadlines.',
    ),
    unsweptShards: gauge('signalbox_unswept_shards', 'Ping shards that did not answer the last barrier.'),
    flips: counter('signalbox_flips_total', 'Changes of status stored.', ['to']),
    notificationAge: gauge('signalbox_notification_oldest_seconds', 'Age of the oldest notification that is due.'),
    notifications: counter('signalbox_notification_attempts_total', 'Attempts to notify.', ['kind', 'outcome']),
    poolInUse: liveGauge('signalbox_pool_connections_in_use', 'Database connections lent out.', ['pool']),
    poolWaiting: liveGauge('signalbox_pool_waiting', 'Requests waiting for a database connection.', ['pool']),
    barrierSeconds: histogram('signalbox_barrier_seconds', 'Time for a barrier to pass.', ['outcome'], LATENCY_BUCKETS),
  }
}

function makersOf(registry: Registry) {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames, registers })
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const liveGauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) => {
    const reads: ((gauge: Gauge<L>) => void)[] = []
    const collect = function (this: Gauge<L>) {
      for (const read of reads) read(this)
    }
    const made = new Gauge({ name, help, labelNames, registers, collect })
    return Object.assign(made, { read: (read: (gauge: Gauge<L>) => void) => void reads.push(read) })
  }
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers })
  return { counter, gauge, liveGauge, histogram }
}

/** A separate private port also serves processes without another listener. Port 0 picks a free one. */
export async function serveMetrics(
  metrics: Metrics,
  options: { port: number; host: string; connections: ConnectionCap },
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
  server.on('connection', (socket) => {
    if (!options.connections.admit(socket)) socket.destroy()
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

function alertMetrics({ counter, gauge }: Pick<ReturnType<typeof makersOf>, 'counter' | 'gauge'>) {
  return {
    personalNotifications: counter(
      'signalbox_personal_notifications_total',
      'Attempts to notify a person of incidents; a message may include several notifications.',
      ['kind', 'outcome'],
    ),
    alertDecisions: counter(
      'signalbox_alert_decisions_total',
      'Decisions about notifications of a check, by outcome and reason.',
      ['outcome', 'reason'],
    ),
    incidentsOpen: gauge('signalbox_incidents_open', 'Incidents that are not resolved; counted every five minutes.', [
      'state',
    ]),
    incidentsExhausted: gauge(
      'signalbox_incidents_exhausted',
      'Alerting incidents without a further notification; counted every five minutes.',
    ),
    schedulesUncovered: gauge(
      'signalbox_schedules_uncovered',
      'On-call schedules without a person now; counted every 30 seconds.',
    ),
    openRuns: gauge('signalbox_open_runs', 'Runs of watched checks that have not ended; counted every minute.'),
    statementAge: gauge('signalbox_statement_age_seconds', 'For how long the oldest day has waited to be stated.'),
    alertsOldestDue: gauge('signalbox_alerts_oldest_due_seconds', 'For how long an incident has been due.'),
    unprocessedFlips: gauge(
      'signalbox_unprocessed_flips',
      'Changes of status that the alerter has not processed yet; counted up to 1,000.',
    ),
  }
}

function serverMetrics({ gauge }: Pick<ReturnType<typeof makersOf>, 'gauge'>) {
  const info = gauge('signalbox_process_info', 'Always 1; which version of the product this process is.', ['version'])
  info.set({ version: productVersion() }, 1)
  return {
    brokerNodes: gauge(
      'signalbox_broker_nodes',
      'Nodes of the broker: known, running, partitioned, with an alarm. Only with AMQP_ADMIN_URL.',
      ['state'],
    ),
    queueMembers: gauge(
      'signalbox_queue_members_online',
      'Members of a durable queue that take part. Only with AMQP_ADMIN_URL.',
      ['queue'],
    ),
    standbys: gauge('signalbox_database_standbys', 'Servers that stream from the database.'),
    syncStandbys: gauge(
      'signalbox_database_sync_standbys',
      'Of them, those that a commit may wait for: all of them, or none where commits do not wait.',
    ),
    syncStandbysWanted: gauge('signalbox_database_sync_standbys_wanted', 'DATABASE_SYNC_STANDBYS.'),
  }
}
