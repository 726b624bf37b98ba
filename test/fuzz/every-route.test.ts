import test, { type ExecutionContext } from 'ava'
import { eventually } from '../support/eventually.ts'
import { exchange } from './exchange.ts'
import { largestRequests } from './largest-input.ts'
import type { FuzzRoute } from './routes.ts'
import { openTarget, type Target } from './target.ts'

/** The longest turn of the event loop that a request may cause, in milliseconds of the main thread's own time. */
const MAX_BLOCK_MS = 100
/** Routes requested as one tenant: some delete data, every key has a rate limit, and an address has a sign-in limit. */
const ROUTES_PER_TENANT = 16

/** Attempts before a slow route fails the test. */
const TRIES = 3

/** All of it takes a slow machine minutes, in which the run is to see that it gets on. */
const PARTS = 6

let target: Target
let bystander: Buffer
test.before(async () => {
  target = await openTarget()
  bystander = await bystanderOf(target)
})
test.after.always(() => target?.[Symbol.asyncDispose]())

for (let part = 1; part <= PARTS; part++) {
  test.serial(
    `the largest input of every route holds the event loop for less than 100 ms, and others ping meanwhile: ${part} of ${PARTS}`,
    async (t) => {
      const ofPart = target.routes.filter((_, index) => Math.floor(index / ROUTES_PER_TENANT) % PARTS === part - 1)
      t.true(ofPart.length > 0)
      await queriesWithoutRegistering(t, ofPart)
    },
  )
}

async function queriesWithoutRegistering(t: ExecutionContext, routes: readonly FuzzRoute[]): Promise<void> {
  const before = target.processes.ingress?.output().length ?? 0
  let slow = await requestAll(t, target, bystander, routes, before)
  // A machine that others slow down counts more than the work took. A route that holds the loop does so each time, also in
  // a process that has just begun.
  for (let tries = 1; slow.length > 0 && tries < TRIES; tries++) {
    const named = new Set(slow.flatMap(({ routes }) => routes.map(inBraces)))
    const again = routes.filter(({ method, path }) => named.has(`${method} ${path}`))
    if (again.length < named.size) break
    await using fresh = await openTarget()
    slow = await requestAll(t, fresh, await bystanderOf(fresh), again)
  }
  t.deepEqual(slow, [])
}

/** The ping of a tenant who sends no other requests. */
async function bystanderOf(requested: Target): Promise<Buffer> {
  const { variables } = await requested.tenant()
  return Buffer.from(`GET /ping/${variables.uuid} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
}

/**
 * Sends requests as large as the routes accept, while a bystander pings.
 * @param ping the bystander's
 * @param from first turn of these routes in the list of turns that the process has written
 * @returns the turns that took too long
 */
async function requestAll(
  t: ExecutionContext,
  requested: Target,
  ping: Buffer,
  routes: readonly FuzzRoute[],
  from = 0,
): Promise<SlowBlock[]> {
  const unanswered: string[] = []
  const pings: string[] = []
  for (let first = 0; first < routes.length; first += ROUTES_PER_TENANT) {
    const tenant = await requested.tenant()
    for (const route of routes.slice(first, first + ROUTES_PER_TENANT)) {
      for (const { label, bytes } of largestRequests(route, tenant)) {
        const answering = exchange(requested.httpPort, bytes, true)
        pings.push((await exchange(requested.httpPort, ping, true)).answer.slice(9, 12))
        const { answer, isAnswered } = await answering
        if (!isAnswered || /^HTTP\/1\.1 5(?!03)/.test(answer)) unanswered.push(`${label}: ${answer.slice(0, 40)}`)
      }
    }
  }
  t.deepEqual(unanswered, [])
  t.deepEqual([...new Set(pings)], ['200'])
  // The watch logs a turn at its next look, so what came before this answer is in the log.
  await eventually('the process to answer once more', async () => {
    return (await exchange(requested.httpPort, ping, true)).answer.includes(' 200 ')
  })
  return eventLoopBlocks(requested.processes.ingress?.output().slice(from) ?? '')
}

interface SlowBlock {
  cpuMs: number
  routes: string[]
}

/** Turns with requests that took the main thread's own time, by the watch in the product; a busy machine makes none. */
function eventLoopBlocks(log: string): SlowBlock[] {
  return log
    .split('\n')
    .filter((line) => line.includes('event-loop.blocked'))
    .map((line): SlowBlock => JSON.parse(line))
    .filter(({ cpuMs, routes }) => routes.length > 0 && cpuMs > MAX_BLOCK_MS)
    .map(({ cpuMs, routes }) => ({ cpuMs, routes }))
}

/** A route as this file names it: the watch names some as their router does, with colons. */
function inBraces(route: string): string {
  return route.replace(/:(\w+)/g, '{$1}')
}
