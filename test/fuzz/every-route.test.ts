import test, { type ExecutionContext } from 'ava'
import { eventually } from '../support/eventually.ts'
import { exchange } from './exchange.ts'
import { largestRequests } from './largest-input.ts'
import type { FuzzRoute } from './routes.ts'
import { openTarget, type Target } from './target.ts'

/** Maximum time for which a request may block the event loop, in milliseconds of the main thread's processor time. */
const MAX_BLOCK_MS = 100
/** Routes requested as one tenant: some delete data, every key has a rate limit, and an address has a sign-in limit. */
const ROUTES_PER_TENANT = 16

/** Attempts before a slow route fails the test. */
const TRIES = 3

/** The whole test takes minutes on a slow machine. In parts it shows progress. */
const PARTS = 6

let target: Target
let bystander: Buffer
test.before(async () => {
  target = await openTarget()
  bystander = await bystanderOf(target)
})
test.after.always(() => target?.[Symbol.asyncDispose]())

for (let part = 1; part <= PARTS; part++) {
  test.serial(`no route blocks the event loop for 100 ms with its largest input: ${part} of ${PARTS}`, async (t) => {
    const ofPart = target.routes.filter((_, index) => Math.floor(index / ROUTES_PER_TENANT) % PARTS === part - 1)
    t.true(ofPart.length > 0)
    await assertNoLongBlock(t, ofPart)
  })
}

async function assertNoLongBlock(t: ExecutionContext, routes: readonly FuzzRoute[]): Promise<void> {
  const before = target.processes.ingress?.output().length ?? 0
  let slow = await requestAll(t, target, bystander, routes, before)
  // On a busy machine a route may block the loop once. A slow route blocks it each time, also in a new process.
  for (let tries = 1; slow.length > 0 && tries < TRIES; tries++) {
    const named = new Set(slow.flatMap(({ routes }) => routes.map(withBraces)))
    const again = routes.filter(({ method, path }) => named.has(`${method} ${path}`))
    if (again.length < named.size) break
    await using fresh = await openTarget()
    slow = await requestAll(t, fresh, await bystanderOf(fresh), again)
  }
  t.deepEqual(slow, [])
}

/** The ping of a tenant who sends no other requests. */
async function bystanderOf(openedTarget: Target): Promise<Buffer> {
  const { variables } = await openedTarget.tenant()
  return Buffer.from(`GET /ping/${variables.uuid} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
}

/**
 * Sends requests as large as the routes accept, while a bystander pings.
 * @param ping request of the bystander
 * @param from offset in the log of the process at which these requests begin
 * @returns the blocks of the event loop that were too long
 */
async function requestAll(
  t: ExecutionContext,
  openedTarget: Target,
  ping: Buffer,
  routes: readonly FuzzRoute[],
  from = 0,
): Promise<SlowBlock[]> {
  const unanswered: string[] = []
  const pings: string[] = []
  for (let first = 0; first < routes.length; first += ROUTES_PER_TENANT) {
    const tenant = await openedTarget.tenant()
    for (const route of routes.slice(first, first + ROUTES_PER_TENANT)) {
      for (const { label, bytes } of largestRequests(route, tenant)) {
        const answering = exchange(openedTarget.httpPort, bytes, true)
        pings.push((await exchange(openedTarget.httpPort, ping, true)).answer.slice(9, 12))
        const { answer, isAnswered } = await answering
        if (!isAnswered || /^HTTP\/1\.1 5(?!03)/.test(answer)) unanswered.push(`${label}: ${answer.slice(0, 40)}`)
      }
    }
  }
  t.deepEqual(unanswered, [])
  t.deepEqual([...new Set(pings)], ['200'])
  // The monitor logs a block at its next poll, which precedes this response.
  await eventually('the process to answer once more', async () => {
    return (await exchange(openedTarget.httpPort, ping, true)).answer.includes(' 200 ')
  })
  return eventLoopBlocks(openedTarget.processes.ingress?.output().slice(from) ?? '')
}

interface SlowBlock {
  cpuMs: number
  routes: string[]
}

/** Returns the blocks that the product logged. Only processor time of the main thread counts, not a busy machine. */
function eventLoopBlocks(log: string): SlowBlock[] {
  return log
    .split('\n')
    .filter((line) => line.includes('event-loop.blocked'))
    .map((line): SlowBlock => JSON.parse(line))
    .filter(({ cpuMs, routes }) => routes.length > 0 && cpuMs > MAX_BLOCK_MS)
    .map(({ cpuMs, routes }) => ({ cpuMs, routes }))
}

/** Returns a route with braces. The monitor logs some routes with colons, as their router has them. */
function withBraces(route: string): string {
  return route.replace(/:(\w+)/g, '{$1}')
}
