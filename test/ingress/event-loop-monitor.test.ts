import { Writable } from 'node:stream'
import test from 'ava'
import pino from 'pino'
import { createMetrics } from '#shared/platform/process/metrics.ts'
import { monitorEventLoop } from '../../ingress/event-loop-monitor.ts'
import { eventually } from '../support/eventually.ts'

/** A watch of the turns of this process, and the lines that it logs. */
function watched() {
  const lines: { ms: number; routes: string[] }[] = []
  const sink = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(line.toString()))
      done()
    },
  })
  const metrics = createMetrics()
  return { lines, metrics, watch: monitorEventLoop({ log: pino({ level: 'warn' }, sink), metrics }) }
}

function hold(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test.serial('a turn of more than 100 ms is counted and logged with the route that was being answered', async (t) => {
  const { lines, metrics, watch } = watched()
  using _ = watch
  const leave = watch.enter('GET /checks/:check/pings/:n')
  hold(300)
  // A response that ends as soon as the loop is free still counts as the cause of the delay.
  leave()
  const line = await eventually('the slow turn to be logged', () => lines.find(({ ms }) => ms >= 200))
  t.like(line, { msg: 'event-loop.blocked', level: 40, routes: ['GET /checks/:check/pings/:n'] })
  t.regex(
    await metrics.eventLoopBlocks.get().then((metric) => JSON.stringify(metric.values)),
    /"route":"GET \/checks\/:check\/pings\/:n"/,
  )
})

test.serial(
  'a slow turn with several routes under way names them in the log and their number in the metric',
  async (t) => {
    const { lines, metrics, watch } = watched()
    using _ = watch
    const leaves = ['GET /a', 'POST /b'].map((route) => watch.enter(route))
    hold(300)
    for (const leave of leaves) leave()
    const line = await eventually('the slow turn to be logged', () => lines.find(({ ms }) => ms >= 200))
    t.deepEqual(line.routes, ['GET /a', 'POST /b'])
    t.regex(JSON.stringify((await metrics.eventLoopBlocks.get()).values), /"route":"2 routes"/)
  },
)
