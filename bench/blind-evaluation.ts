import { ristretto255_oprf } from '@noble/curves/ed25519.js'
import { post } from './families.ts'
import { type LoadResult, median, runLoad } from './load.ts'
import { openToken } from './packs.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

const CHECKS = 200
const PING_CONNECTIONS = 8
const BATCH_CONNECTIONS = 2
const ELEMENTS = 64

/**
 * Measures pings alone, and while 64 blinded elements at a time are evaluated, through one listener. A worker does the
 * arithmetic, so the 99th percentile of pings does not change (docs/spec/evidence-families.md#blind-mode-and-epochs),
 * unless worker and listener share processors.
 */
export async function benchBlindEvaluation({ seconds, rounds }: { seconds: number; rounds: number }): Promise<Row[]> {
  await using stack = await openBenchStack({
    PLATFORM_RATE_LIMIT_PER_MINUTE: '0',
    PING_RATE_LIMIT_PER_MINUTE: '0',
    FINANCING_ELEMENTS_PER_DAY: '0',
  })
  const { port } = await stack.ingress()
  await stack.workers('ping-evaluator')
  await stack.workers('financing-registrar')
  const uuids = await addChecks(stack.db, CHECKS)
  const token = await openToken(stack, port, ['first-financing'])
  const epoch = await currentEpoch(port, token)
  const blinded = Array.from({ length: ELEMENTS }, (_, n) => {
    const { blinded: element } = ristretto255_oprf.voprf.blind(Buffer.from(`bench ${n}`))
    return Buffer.from(element).toString('hex')
  })
  const body = JSON.stringify({ epoch, blinded })
  const ping = (n: number) => `GET /ping/${uuids[n % uuids.length]} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
  const pings = () => runLoad({ ports: [port], connections: PING_CONNECTIONS, seconds, request: ping })
  const batches = () =>
    runLoad({
      ports: [port],
      connections: BATCH_CONNECTIONS,
      seconds,
      request: () => post('/v1/first-financing/oprf/evaluate', token, body),
    })
  const alone: LoadResult[] = []
  const beside: LoadResult[] = []
  const evaluated: LoadResult[] = []
  for (let round = 0; round <= rounds; round++) {
    const quiet = await pings()
    const [busy, batch] = await Promise.all([pings(), batches()])
    // The first round warms up the processes.
    if (round === 0) continue
    alone.push(quiet)
    beside.push(busy)
    evaluated.push(batch)
  }
  return [
    row('pings, alone', '', alone),
    row('pings, while batches are evaluated', 'p99 as alone', beside),
    row(`batches of ${ELEMENTS} elements`, '', evaluated),
  ]
}

async function currentEpoch(port: number, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`http://127.0.0.1:${port}/v1/first-financing/oprf/key`, { headers })
  const { epochs } = (await answer.json()) as { epochs: { epoch: number }[] }
  const [current] = epochs
  if (!current) throw new Error('no epoch is live')
  return current.epoch
}

function row(name: string, limit: string, loads: readonly LoadResult[]): Row {
  const of = (pick: (load: LoadResult) => number) => median(loads.map(pick))
  return {
    name,
    limit,
    '1/s': Math.round(of(({ perSecond }) => perSecond)),
    'p50 ms': of(({ p50Ms }) => p50Ms).toFixed(1),
    'p99 ms': of(({ p99Ms }) => p99Ms).toFixed(1),
    errors: loads.reduce((sum, { refused, broken }) => sum + refused + broken, 0),
  }
}
