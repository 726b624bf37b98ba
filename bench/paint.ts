import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openBrowser } from '../test/support/browser.ts'
import { median } from './load.ts'
import { signIn } from './pages.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

const CHECKS = 60
const WARM_UP = 30

/**
 * Measures the largest contentful paint of the list of checks in Chromium with an empty cache, compared with the same
 * bytes from memory: the difference is the time of the service.
 */
export async function benchPaint({ rounds }: { rounds: number }): Promise<Row[]> {
  await using stack = await openBenchStack()
  const { db } = stack
  await addChecks(db, CHECKS)
  await db.raw(HISTORY)
  const project = await db('projects').first('uuid')
  const cookie = await signIn(stack)
  await stack.workers('ping-evaluator')
  const { port } = await stack.ingress()
  const path = `/projects/${project?.uuid}/checks`
  await using copy = await openCopy(`http://127.0.0.1:${port}`, cookie)
  // Warms up the server, so that its code is compiled.
  for (let n = 0; n < WARM_UP; n++)
    await (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { cookie } })).text()
  const sides: { list: number; copy: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const list = await paintOf(`http://127.0.0.1:${port}${path}`, cookie)
    sides.push({ list, copy: await paintOf(`http://127.0.0.1:${copy.port}${path}`, cookie) })
  }
  return [
    {
      name: `the list of ${CHECKS} checks`,
      'paint ms': median(sides.map(({ list }) => list)).toFixed(0),
      'from memory ms': median(sides.map((side) => side.copy)).toFixed(0),
      ratio: median(sides.map((side) => side.list / side.copy)).toFixed(2),
      limit: '300 ms; 1.5',
    },
  ]
}

async function openCopy(origin: string, cookie: string): Promise<AsyncDisposable & { port: number }> {
  const kept = new Map<string, Promise<{ type: string; bytes: Buffer }>>()
  const read = async (path: string) => {
    const answer = await fetch(origin + path, { headers: { cookie } })
    return { type: answer.headers.get('content-type') ?? '', bytes: Buffer.from(await answer.arrayBuffer()) }
  }
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/'
    // An event stream does not end, so it is not cached.
    if (path.includes('/events')) return void response.writeHead(204).end()
    const answer = kept.get(path) ?? read(path)
    kept.set(path, answer)
    const { type, bytes } = await answer
    response.writeHead(200, { 'content-type': type }).end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server on a port, not on a pipe, has an AddressInfo.
  const { port } = server.address() as AddressInfo
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * The browser is already running, so its start is not measured.
 * @returns milliseconds until the largest contentful paint in a new profile
 */
async function paintOf(url: string, cookie: string): Promise<number> {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 900 } })
  const [name = '', value = ''] = cookie.split('=')
  await browser.context.addCookies([{ name, value, url }])
  const page = await browser.context.newPage()
  await page.goto('data:text/html,<p>started', { waitUntil: 'networkidle' })
  await page.goto(url, { waitUntil: 'load' })
  return await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        // An anonymous function, because the TypeScript loader adds a helper call for its name, and the page lacks it.
        new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0)).observe({
          type: 'largest-contentful-paint',
          buffered: true,
        })
      }),
  )
}

const HISTORY = `
  UPDATE checks SET status = CASE WHEN id % 10 = 0 THEN 'down' ELSE 'up' END, tags = 'team-' || id % 6 || ' prod',
    n_pings = 10, last_ping = now(), alert_after = CASE WHEN id % 10 = 0 THEN NULL ELSE now() + interval '25 hours' END`
