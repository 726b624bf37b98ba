import { Writable } from 'node:stream'
import test from 'ava'
import pino from 'pino'
import { createMetrics } from '#shared/platform/process/metrics.ts'
import { monitorEventLoop } from '../../ingress/event-loop-monitor.ts'
import { eventually } from '../support/eventually.ts'

/** Returns an event loop monitor of this process with the lines that it logs. */
function openMonitor() {
  const lines: { ms: number; routes: string[] }[] = []
  const sink = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(line.toString()))
      done()
    },
  })
  const metrics = createMetrics()
  return { lines, metrics, monitor: monitorEventLoop({ log: pino({ level: 'warn' }, sink), metrics }) }
}

function blockLoop(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test.serial('a block of more than 100 ms is counted and logged with its route', async (t) => {
  const { lines, metrics, monitor } = openMonitor()
  using _ = monitor
  const leave = monitor.enter('GET /checks/:check/pings/:n')
  blockLoop(300)
  // A response that ends as soon as the loop is free still counts as the cause of the delay.
  leave()
  const line = await eventually('the block to be logged', () => lines.find(({ ms }) => ms >= 200))
  t.like(line, { msg: 'event-loop.blocked', level: 40, routes: ['GET /checks/:check/pings/:n'] })
  t.regex(
    await metrics.eventLoopBlocks.get().then((metric) => JSON.stringify(metric.values)),
    /"route":"GET \/checks\/:check\/pings\/:n"/,
  )
})

test.serial('a block with several routes names them in the log and counts them in the metric', async (t) => {
  const { lines, metrics, monitor } = openMonitor()
  using _ = monitor
  const leaves = ['GET /a', 'POST /b'].map((route) => monitor.enter(route))
  blockLoop(300)
  for (const leave of leaves) leave()
  const line = await eventually('the block to be logged', () => lines.find(({ ms }) => ms >= 200))
  t.deepEqual(line.routes, ['GET /a', 'POST /b'])
  t.regex(JSON.stringify((await metrics.eventLoopBlocks.get()).values), /"route":"2 routes"/)
})
