import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'

/** Blocks the event loop of a process for seconds, so that timers of the sweep are missed. */
const BLOCKING = 'setInterval(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500), 3000)'

// The default is our own timer; node-cron serves other expressions.
for (const interval of ['* * * * * *', '*/1 * * * * *'])
  test(`blocked workers with the interval ${interval} write log lines that are one JSON object each`, async (t) => {
    await using product = await openProduct()
    const workers = product.spawn('workers', [], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BLOCKING)}`,
      SWEEP_INTERVAL: interval,
    })
    const output = await eventually('a missed timer', () => {
      const written = workers.output()
      return /missed/.test(written) && written.endsWith('\n') ? written : undefined
    })
    const lines = output.trimEnd().split('\n')
    t.true(lines.length > 1)
    for (const line of lines) t.notThrows(() => JSON.parse(line), line)
  })
