import { randomUUID } from 'node:crypto'
import { type LoadResult, median, runLoad } from './load.ts'
import { openToken } from './packs.ts'
import { costPerItem, openProcessorTime } from './processor-time.ts'
import { openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

interface Options {
  seconds: number
  rounds: number
}

const PARTIES = '"supplierGstin":"29AAACR5678D1Z5","buyerGstin":"27AAACB1234C1ZF"'
const VERIFICATION =
  '{"gstin":"29AAACR5678D1Z5","cin":"U28999MH2015PTC123456","legalName":"Synthetic Components Private Limited"}'

/**
 * Measures the evidence families in the sandbox: the latency of a business verification and of a receivable check, and
 * checks per second of one registrar with many concurrent requests. Each has its processor time: 500 checks per second
 * need less than 2,000 us each.
 */
export async function benchFamilies({ seconds, rounds }: Options): Promise<Row[]> {
  await using stack = await openBenchStack({
    PLATFORM_RATE_LIMIT_PER_MINUTE: '0',
    FINANCING_CHECKS_PER_DAY: '0',
    FINANCING_ELEMENTS_PER_DAY: '0',
  })
  const { port } = await stack.ingress()
  const registrar = await stack.workers('financing-registrar')
  await stack.workers('kyb-verifier')
  const token = await openToken(stack, port, ['kyb', 'first-financing'])
  const check = (n: number) =>
    post(
      '/v1/first-financing/checks',
      token,
      `{${PARTIES},"documentType":"INV","documentNumber":"B/${n}","documentDate":"2026-05-01","totalInr":${1_000 + n}}`,
    )
  const verify = () => post('/v1/kyb/verifications', token, VERIFICATION)
  const load = (connections: number, request: (n: number) => string) =>
    runLoad({ ports: [port], connections, seconds, request })
  const time = await openProcessorTime(stack.db, { ingress: [], evaluator: [registrar.pid ?? 0] })
  const sides: { verification: LoadResult; one: LoadResult; many: LoadResult; registrarUs: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    const verification = await load(1, verify)
    const one = await load(1, check)
    const before = await time.read()
    const many = await load(64, check)
    const registrarUs = costPerItem(before, await time.read(), many.answered).evaluator ?? Number.NaN
    // The first round warms up the processes.
    if (round > 0) sides.push({ verification, one, many, registrarUs })
  }
  return [
    row(
      'verification of a business, 1 connection',
      'p50 25 ms',
      sides.map(({ verification }) => verification),
    ),
    row(
      'check of a receivable, 1 connection',
      'p50 10 ms',
      sides.map(({ one }) => one),
    ),
    {
      ...row(
        'checks, 64 connections, one registrar',
        '500/s',
        sides.map(({ many }) => many),
      ),
      'registrar us': Math.round(median(sides.map(({ registrarUs }) => registrarUs))),
    },
  ]
}

function row(name: string, limit: string, loads: readonly LoadResult[]): Row {
  const of = (pick: (load: LoadResult) => number) => median(loads.map(pick))
  return {
    name,
    limit,
    'registrar us': '',
    '1/s': Math.round(of(({ perSecond }) => perSecond)),
    'p50 ms': of(({ p50Ms }) => p50Ms).toFixed(1),
    'p99 ms': of(({ p99Ms }) => p99Ms).toFixed(1),
    errors: loads.reduce((sum, { refused, broken }) => sum + refused + broken, 0),
  }
}

/** @param body ASCII */
export function post(path: string, token: string, body: string): string {
  const headers = [
    `Authorization: Bearer ${token}`,
    `x-idempotency-key: ${randomUUID()}`,
    'Prefer: wait=25',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`
}
