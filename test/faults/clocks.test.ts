import test from 'ava'
import { microsOfSeconds } from '#shared/time.ts'
import { eventually } from '../support/eventually.ts'
import { openProduct, type Product } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'

const HOUR_MS = 3_600_000
/**
 * Deadline eight seconds after the last ping: a stamp that is ten seconds old is past it at once, and a busy machine
 * still pings in time.
 */
const PERIOD = { timeoutSeconds: 7, graceSeconds: 1 }

const statusOf = async ({ db }: Product, id: number) => (await db('checks').where({ id }).first('status'))?.status
const futurePings = async ({ db }: Product) => (await db('pings').whereRaw('at > clock_timestamp()')).length

for (const [said, ...skewsMs] of [
  ['one of which is ten seconds behind', 0, -10_000],
  ['one of which is an hour ahead', 0, HOUR_MS],
  ['one 30 s behind and one 30 s ahead', -30_000, 30_000],
] as const) {
  test(`F19: pings through two listeners, ${said}, move no deadline`, async (t) => {
    await using product = await openProduct()
    const project = await product.project()
    const open = (skewMs: number) => product.ingress({}, { CLOCK_SKEW_MS: String(skewMs) })
    const doors = [await open(skewsMs[0]), await open(skewsMs[1])] as const
    const checks = await Promise.all([1, 2, 3, 4].map(() => addCheck(doors[0].deps, project.id, PERIOD)))
    await product.workers(['ping-evaluator', 'sweeper'])
    const startedAt = performance.now()
    let turn = 0
    // Time for the sweep to find what would be overdue.
    await eventually('eight seconds of pings to pass', async () => {
      turn += 1
      // Two have a listener of their own, whose stamps alone decide; the others change it each time.
      for (const [index, { uuid }] of checks.entries()) {
        const { base } = doors[(index < 2 ? index : turn % 2) === 0 ? 0 : 1]
        t.is((await fetch(`${base}/ping/${uuid}`)).status, 200)
      }
      return performance.now() - startedAt > 8_000
    })
    const flips = await product.db('flips').select('to_status')
    t.deepEqual(
      flips.map((flip) => flip.to_status),
      ['up', 'up', 'up', 'up'],
      'each came up once',
    )
    t.is(await futurePings(product), 0)

    for (const [index, { base, deps }] of doors.entries()) {
      const check = checks[index]
      t.is((await fetch(`${base}/ping/${check?.uuid}/fail`)).status, 200)
      await eventually('the check to be down', async () => (await statusOf(product, check?.id ?? 0)) === 'down')
      const offset = (await deps.metrics.clockOffset.get()).values[0]?.value ?? 0
      t.true(Math.abs(offset + (skewsMs[index] ?? 0) / 1000) < 1, `the gauge shows ${offset}`)
      t.deepEqual(deps.clock.problems(), [], 'its stamps are right all the same')
    }
  })
}

test('F19: a ping that claims to come from the future arrived now, and is counted', async (t) => {
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
