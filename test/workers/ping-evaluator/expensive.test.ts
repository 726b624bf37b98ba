import test from 'ava'
import type { AcceptedPing } from '#shared/contracts/ping-batch.ts'
import type { Delivery } from '#shared/platform/broker/consumer.ts'
import type { Problems } from '#shared/platform/process/open-platform.ts'
import { groupsOf } from '../../../workers/ping-evaluator/arrivals.ts'
import { evaluate } from '../../../workers/ping-evaluator/evaluate.ts'
import { aCheck } from '../../shared/monitoring/checks/factory.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { aPing } from './open-applier.ts'

/** They lie only in hours that the clocks skip. The API refuses them; rows may have been stored earlier. */
const NEVER = ['02:15', '02:20', '02:25', '02:30'].map((time) => `Sun *-3-25..31 ${time}`).join('\n')
const ZONES = ['Europe/Paris', 'Europe/Rome', 'Europe/Madrid', 'Europe/Berlin', 'Europe/Vienna', 'Europe/Oslo']

test('an evaluation of expensive schedules yields to the event loop', async (t) => {
  const ids = Array.from({ length: 100 }, (_, index) => index + 1)
  const checks = new Map(ids.map((id) => [id, aCheck({ id, kind: 'oncalendar', schedule: 'daily' })]))
  let isFree = false
  setImmediate(() => (isFree = true))
  const seen: boolean[] = []
  const expensive = () => {
    const until = performance.now() + 1
    while (performance.now() < until);
    seen.push(isFree)
    return null
  }
  const { pings, slices } = await evaluate(
    checks,
    ids.map((id) => aPing(id)),
    expensive,
  )
  t.is(pings.length, ids.length)
  t.is(seen.at(-1), true)
  t.true(slices > 2, `${slices}`)
})

test('groups of messages shrink while pings are expensive, and none is left out', (t) => {
  const delivery: Pick<Delivery, 'isSettled'> = { isSettled: false }
  const pings: AcceptedPing[] = Array.from({ length: 10 }, () => aPing(1))
  // Only the pings of a message are read.
  const taken = Array.from({ length: 9 }, (_, seq) => ({
    shard: 0,
    delivery: delivery as Delivery,
    batch: { stream: 'a', seq, pings },
  }))
  let maxPings = 40
  const sizes: number[] = []
  for (const group of groupsOf(taken, () => maxPings)) {
    sizes.push(group.length)
    maxPings = Math.ceil(maxPings / 8)
  }
  t.deepEqual(sizes, [4, 1, 1, 1, 1, 1])
})

test('checks with schedules that never occur delay no others and lose no ping', async (t) => {
  const app = await sharedProduct()
  const [expensive, other] = [await addProject(app.deps), await addProject(app.deps)]
  const checks = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      addCheck(app.deps, expensive.project.id, {
        kind: 'oncalendar',
        schedule: NEVER,
        tz: ZONES[index % ZONES.length] ?? 'UTC',
      }),
    ),
  )
  const victim = await addCheck(app.deps, other.project.id)
  const ping = async (path: string) => t.is((await fetch(`${app.url}/ping/${path}`)).status, 200)
  for (let round = 0; round < 10; round++) await Promise.all(checks.map(({ uuid }) => ping(uuid)))
  await ping(`${victim.uuid}/fail`)
  const stored = async (id: number) => await app.db('checks').where({ id }).first('status', 'n_pings')
  await eventually('the other check to be down', async () => (await stored(victim.id))?.status === 'down', 20_000)
  for (const { id } of checks) {
    await eventually('all pings to be applied', async () => Number((await stored(id))?.n_pings) === 10)
  }
})

test('a blocked evaluator is not ready, and its metric counts from the receipt of the ping', async (t) => {
  await using product = await openProduct()
  const { base, deps } = await product.ingress()
  const project = await product.project()
  const check = await addCheck(deps, project.id)
  const problems: Problems[] = []
  const named = async () => (await Promise.all(problems.map((each) => each()))).flat()
  const ageOf = async (metrics: typeof deps.metrics) => (await metrics.unappliedAge.get()).values[0]?.value ?? 0
  const metrics = await product.db.transaction(async (tx) => {
    await tx('checks').where({ id: check.id }).forUpdate().first('id')
    t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
    const accepted = performance.now()
    const readiness = { add: (each: Problems) => void problems.push(each) }
    const evaluator = await product.workers(['ping-evaluator'], { readiness })
    await eventually('the ping to be received', async () => (await ageOf(evaluator.metrics)) > 0)
    const sinceAccepted = (performance.now() - accepted) / 1000
    t.true((await ageOf(evaluator.metrics)) > sinceAccepted - 0.1, 'the start of the process does not hide its age')
    await eventually('the reason', async () =>
      (await named()).some((text) => /^pings: the oldest unapplied ping has waited for \d+ s/.test(text)),
    )
    return evaluator.metrics
  })
  await eventually('the ping to be applied', async () => (await ageOf(metrics)) === 0)
  t.deepEqual(
    (await named()).filter((text) => text.startsWith('pings:')),
    [],
  )
})
