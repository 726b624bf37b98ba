import test from 'ava'
import { microsOfSeconds } from '#shared/time.ts'
import { eventually } from '../support/eventually.ts'
import { openProduct, type Product } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'

const HOUR_MS = 3_600_000
/**
 * The deadline is eight seconds after the last ping: a timestamp ten seconds in the past would be overdue at once, and a
 * busy machine still pings in time.
 */
const PERIOD = { timeoutSeconds: 7, graceSeconds: 1 }

const statusOf = async ({ db }: Product, id: number) => (await db('checks').where({ id }).first('status'))?.status
const futurePings = async ({ db }: Product) => (await db('pings').whereRaw('at > clock_timestamp()')).length

/** Clocks of the listeners, and the pairs of listeners that take the pings of a check alternately. */
const SKEWS_MS = [0, -10_000, HOUR_MS, -30_000, 30_000]
const PAIRS = [
  [0, 1],
  [0, 2],
  [3, 4],
] as const

test.serial('pings through two listeners with wrong clocks do not change a deadline', async (t) => {
  await using product = await openProduct()
  const project = await product.project()
  const listeners = await Promise.all(SKEWS_MS.map((skewMs) => product.ingress({}, { CLOCK_SKEW_MS: String(skewMs) })))
  const [first] = listeners
  if (!first) throw new Error('no listener')
  const baseOf = (index: number) => listeners[index]?.base ?? ''
  const add = () => addCheck(first.deps, project.id, PERIOD)
  // Only one listener, whose clock alone decides, takes the pings of each of these.
  const own = await Promise.all(SKEWS_MS.map(add))
  const shared = await Promise.all(PAIRS.map(add))
  await product.workers(['ping-evaluator', 'sweeper'])
  const startedAt = performance.now()
  let round = 0
  const ping = async (base: string, uuid: string) => t.is((await fetch(`${base}/ping/${uuid}`)).status, 200)
  // The sweep needs this time to find a check that would be overdue.
  await eventually('eight seconds of pings to pass', async () => {
    round += 1
    for (const [index, { uuid }] of own.entries()) await ping(baseOf(index), uuid)
    for (const [index, { uuid }] of shared.entries())
      await ping(baseOf(PAIRS[index]?.[round % 2 === 0 ? 0 : 1] ?? 0), uuid)
    return performance.now() - startedAt > 8_000
  })
  const flips = await product.db('flips').select('to_status')
  t.deepEqual(
    flips.map((flip) => flip.to_status),
    [...own, ...shared].map(() => 'up'),
    'each came up once',
  )
  t.is(await futurePings(product), 0)

  for (const [index, { base, deps }] of listeners.entries()) {
    const check = own[index]
    t.is((await fetch(`${base}/ping/${check?.uuid}/fail`)).status, 200)
    await eventually('the check to be down', async () => (await statusOf(product, check?.id ?? 0)) === 'down')
    const offset = (await deps.metrics.clockOffset.get()).values[0]?.value ?? 0
    t.true(Math.abs(offset + (SKEWS_MS[index] ?? 0) / 1000) < 1, `the gauge shows ${offset}`)
    t.deepEqual(deps.clock.problems(), [], 'its timestamps are still correct')
  }
})

test.serial('a ping with a future arrival time gets the current time and is counted', async (t) => {
  await using product = await openProduct()
  const project = await product.project()
  const right = await product.ingress()
  const ahead = await product.ingress({ now: () => right.deps.now() + microsOfSeconds(3600) })
  const check = await addCheck(right.deps, project.id)
  const { metrics } = await product.workers(['ping-evaluator'])
  t.is((await fetch(`${ahead.base}/ping/${check.uuid}`)).status, 200)
  await eventually('the check to be up', async () => (await statusOf(product, check.id)) === 'up')
  t.is(await futurePings(product), 0)
  t.is((await metrics.pingsRestamped.get()).values[0]?.value, 1)
  t.is((await fetch(`${right.base}/ping/${check.uuid}/fail`)).status, 200)
  await eventually('the check to be down', async () => (await statusOf(product, check.id)) === 'down')
})
