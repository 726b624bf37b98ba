import test from 'ava'
import { effort } from '../support/effort.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { openProduct, type SpawnedProcess } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { metricIn, scrape } from './fault-metrics.ts'
import { auditPings, Ledger, sendPings } from './ledger.ts'

const PINGS = effort(2_000, 10_000)
const CHECKS = effort(20, 50)
const CONNECTIONS = effort(32, 64)
const EVALUATORS = effort(2, 3)
/** A process is killed each time that this number of further pings is answered. */
const KILL_EVERY = effort(800, 1_600)

interface Evaluator {
  process: SpawnedProcess
  metricsPort: number
}

test.serial('each ping is counted once while evaluators are killed at random', async (t) => {
  await using product = await openProduct()
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: CHECKS }, () => addCheck(deps, project.id)))
  const start = async (): Promise<Evaluator> => {
    const metricsPort = await freePort()
    return { process: product.spawn('workers', ['ping-evaluator'], { METRICS_PORT: String(metricsPort) }), metricsPort }
  }
  const evaluators = await Promise.all(Array.from({ length: EVALUATORS }, start))
  for (const { process } of evaluators) {
    await eventually('an evaluator to be ready', () => process.output().includes('process.ready'))
  }

  const ledger = new Ledger()
  let redeliveries = 0
  let kills = 0
  const observe = async () => {
    const seen = await Promise.all(evaluators.map(({ metricsPort }) => scrape(metricsPort)))
    redeliveries = Math.max(redeliveries, ...seen.map((text) => metricIn(text, 'signalbox_redeliveries_total')))
  }
  const killAtRandom = async () => {
    await observe()
    const index = Math.floor(Math.random() * evaluators.length)
    evaluators[index]?.process.signal('SIGKILL')
    kills += 1
    evaluators[index] = await start()
  }

  let started = 0
  const load = sendPings({
    base: () => base,
    checks: checks.map(({ uuid }) => uuid),
    connections: CONNECTIONS,
    ledger,
    more: () => started++ < PINGS,
  })
  for (let next = KILL_EVERY; next < PINGS; next += KILL_EVERY) {
    await eventually(`${next} pings to be answered`, () => ledger.entries.size >= next)
    await killAtRandom()
  }
  await load
  await observe()
  // A new process finds all messages that are in the queues now.
  for (const { process } of evaluators.splice(0)) process.signal('SIGKILL')
  evaluators.push(await start())

  t.deepEqual(await auditPings(product, ledger), [])
  await observe()
  t.is(ledger.count('accepted'), PINGS, `answers: ${JSON.stringify([...ledger.answers])}`)
  // An evaluator may die without messages in flight; duplicates.test.ts guarantees duplicates.
  t.log(`${kills} processes were killed; at most ${redeliveries} messages were handed out again to one`)
})
