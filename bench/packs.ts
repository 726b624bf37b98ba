import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import type { Family } from '#shared/tenancy/oauth/families.ts'
import { createClient } from '../ingress/admin/create-client.ts'
import { get, type LoadResult, median, runLoad } from './load.ts'
import { type BenchStack, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

interface Options {
  seconds: number
  rounds: number
  backlog: number
}

/** With these parties every registry answers and every member of the pack has a value. */
const REQUEST = JSON.stringify({
  mode: 'DEMO',
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: '29AAACR5678D1Z5',
  subcontractorGstin: '24AAFFS4321K1ZA',
  poValue: 1_250_000,
})

/**
 * Measures the rate at which one pack-composer processes a backlog in the sandbox. Then measures the synchronous call
 * with 1 and 32 connections, and compares it with the cheapest authenticated call of the same ingress.
 */
export async function benchPacks({ seconds, rounds, backlog }: Options): Promise<Row[]> {
  await using stack = await openBenchStack({ PLATFORM_RATE_LIMIT_PER_MINUTE: '0' })
  const { port } = await stack.ingress()
  const token = await openToken(stack, port)
  await runLoad({
    ports: [port],
    connections: 32,
    seconds: 60,
    requests: backlog,
    request: () => pack(token, 'respond-async'),
  })
  await stack.workers('pack-composer')
  const composer = await composedPerSecond(stack, backlog)
  const sides: { usage: LoadResult; one: LoadResult; many: LoadResult }[] = []
  for (let round = 0; round <= rounds; round++) {
    const usage = await runLoad({ ports: [port], connections: 32, seconds: seconds / 4, request: () => read(token) })
    const one = await runLoad({ ports: [port], connections: 1, seconds, request: () => pack(token) })
    const many = await runLoad({ ports: [port], connections: 32, seconds, request: () => pack(token) })
    // The first round warms up both processes.
    if (round > 0) sides.push({ usage, one, many })
  }
  return [
    callRow(
      'synchronous, 1 connection',
      sides.map(({ usage, one }) => ({ usage, packs: one })),
      { limit: 'p50 30 ms', goal: 'p50 15 ms' },
    ),
    callRow(
      'synchronous, 32 connections',
      sides.map(({ usage, many }) => ({ usage, packs: many })),
      { limit: 'p99 250 ms', goal: 'p99 120 ms' },
    ),
    {
      name: `one composer, backlog of ${backlog}`,
      'packs/s': Math.round(composer),
      'vs GET usage': '',
      limit: '150/s',
      goal: '400/s',
      'p50 ms': '',
      'p99 ms': '',
      errors: 0,
    },
  ]
}

function callRow(
  name: string,
  sides: readonly { usage: LoadResult; packs: LoadResult }[],
  bounds: { limit: string; goal: string },
): Row {
  const medianOf = (pick: (load: LoadResult) => number) => median(sides.map(({ packs }) => pick(packs)))
  return {
    name,
    'packs/s': Math.round(medianOf(({ perSecond }) => perSecond)),
    'vs GET usage': median(sides.map(({ usage, packs }) => packs.perSecond / usage.perSecond)).toFixed(3),
    ...bounds,
    'p50 ms': medianOf(({ p50Ms }) => p50Ms).toFixed(1),
    'p99 ms': medianOf(({ p99Ms }) => p99Ms).toFixed(1),
    errors: sides.reduce((sum, { packs }) => sum + packs.refused + packs.broken, 0),
  }
}

/** Measures by the database clock, from the first to the last of a backlog. */
async function composedPerSecond({ db }: BenchStack, backlog: number): Promise<number> {
  for (const startedAt = performance.now(); performance.now() - startedAt < 60_000; ) {
    const { rows } = await db.raw<{ rows: { done: number; seconds: number }[] }>(
      `SELECT count(*)::int AS done, extract(epoch FROM max(finished_at) - min(finished_at))::float8 AS seconds
       FROM packs WHERE state = 'READY'`,
    )
    const [row] = rows
    if (row && row.done >= backlog) return row.done / row.seconds
    await sleep(100)
  }
  throw new Error('the backlog was not composed within a minute')
}

/** @returns an access token of a new sandbox client */
export async function openToken(
  stack: BenchStack,
  port: number,
  families: readonly Family[] = ['risk-signals', 'agents'],
): Promise<string> {
  const { clientId, clientSecret } = await createClient(stack.db, createSecrets(stack.env.SECRET_KEY ?? ''), {
    name: 'Bench',
    env: 'SANDBOX',
    families,
    scopes: [],
    hasApiKey: false,
    hasLmsSecret: false,
  })
  const answer = await fetch(`http://127.0.0.1:${port}/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    }),
  })
  const { access_token: token } = z.object({ access_token: z.string() }).parse(await answer.json())
  return token
}

function pack(token: string, prefer = 'wait=25'): string {
  const headers = [
    `Authorization: Bearer ${token}`,
    `x-idempotency-key: ${randomUUID()}`,
    `Prefer: ${prefer}`,
    'Content-Type: application/json',
    `Content-Length: ${REQUEST.length}`,
  ]
  return `POST /v1/po/risk-signals HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.join('\r\n')}\r\n\r\n${REQUEST}`
}

function read(token: string): string {
  return get('/v1/usage', `Authorization: Bearer ${token}\r\n`)
}
