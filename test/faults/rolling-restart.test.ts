import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { openProduct, type SpawnedProcess } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

interface Backend {
  base: string
  isReady: boolean
  /** in monotonic milliseconds */
  evaluatedAt: number
  process: SpawnedProcess
}

test.serial('a rolling restart under load resets no connection and refuses no ping', async (t) => {
  await using product = await openProduct({ env: { ...LONG_LOG } })
  const project = await product.project()
  const deps = { db: product.db, secrets: createSecrets(product.config.secretKey) }
  const checks = await Promise.all(Array.from({ length: 10 }, () => addCheck(deps, project.id)))
  const start = async (): Promise<Backend> => {
    const port = await freePort()
    const process = product.spawn('ingress', [], { PORT: String(port) })
    return { base: `http://127.0.0.1:${port}`, isReady: false, evaluatedAt: 0, process }
  }
  const backends = [await start(), await start()]
  await product.workers(['ping-evaluator'])

  // Works like a load balancer: checks readiness, and sends nothing to listeners that are not ready.
  let isOver = false
  const balancer = async (_: unknown, index: number) => {
    while (!isOver) {
      const backend = backends[index]
      const isReady = await fetch(`${backend?.base}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (backend) Object.assign(backend, { isReady, evaluatedAt: performance.now() })
      await sleep(200)
    }
  }
  const balancing = Promise.all(backends.map(balancer))
  const allReady = () => eventually('all listeners to be ready', () => backends.every(({ isReady }) => isReady))
  await allReady()

  const ledger = new Ledger()
  let next = 0
  const load = sendPings({
    // A draining listener continues for three seconds, so the known state must be younger.
    base: () =>
      eventually('a listener that reported ready', () => {
        const ready = backends.filter(({ isReady, evaluatedAt }) => isReady && performance.now() - evaluatedAt < 1_500)
        return ready[next++ % ready.length]?.base
      }),
    checks: checks.map(({ uuid }) => uuid),
    connections: 6,
    ledger,
    ...STEADILY,
    more: () => !isOver && ledger.entries.size < 90_000,
  })
  const [old, fresh] = [backends[0], await start()]
  const before = ledger.count('accepted')
  await eventually('pings to be accepted', () => ledger.count('accepted') > before + 100)
  t.is(await old?.process.stop(), 0)
  backends[0] = fresh
  await allReady()
  isOver = true
  await load
  await balancing
  t.deepEqual([...ledger.answers.keys()], ['200'])
  t.deepEqual(await auditPings(product, ledger), [])
})
