import test from 'ava'
import { openListenerProblems, openLoopDelay } from '../../ingress/health.ts'
import { eventually } from '../support/eventually.ts'
import { openProduct } from '../support/product.ts'
import { send } from '../support/send.ts'

/** Holds up the event loop. */
function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('the lateness of the loop is remembered for a while, and reading does not reset it', async (t) => {
  using loop = openLoopDelay(60_000)
  await eventually('the first measure', async () => loop.worstMs() > 0)
  block(300)
  await eventually('the measure to be taken', async () => loop.worstMs() >= 250)
  for (let requested = 0; requested < 100; requested++) t.true(loop.worstMs() >= 250)
})

test('a measured delay expires', async (t) => {
  using loop = openLoopDelay(500)
  await eventually('the first measure', async () => loop.worstMs() > 0)
  block(2_000)
  await eventually('the measure to be taken', async () => loop.worstMs() >= 1_500)
  await eventually('it to be forgotten', async () => loop.worstMs() < 1_500)
  t.pass()
})

test('a listener on a late loop is not ready, and stays so while probes continue', async (t) => {
  await using app = await openProduct({ listener: 'http', workers: [] })
  using listener = openListenerProblems(app.deps, 60_000)
  app.deps.readiness.add(listener.problems)
  block(2_300)
  await eventually('the process to be unready', async () => (await send(app.url, '/readyz')).status === 503)
  for (let requested = 0; requested < 5; requested++) {
    const answer = await send(app.url, '/readyz')
    t.deepEqual([answer.status, answer.text], [503, '{"ready":false}'])
  }
  t.regex((await app.deps.readiness.problems()).join(), /event loop: was \d+ ms late/)
})

test('the public port does not disclose the reason of a failure', async (t) => {
  await using app = await openProduct({ listener: 'http', workers: [] })
  app.deps.readiness.add(() => ['broker: connect ECONNREFUSED 192.0.2.1:5672'])
  const answer = await send(app.url, '/readyz')
  t.deepEqual([answer.status, answer.text], [503, '{"ready":false}'])
})
