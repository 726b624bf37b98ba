import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import test from 'ava'
import { countBody, openBody } from '../../../ingress/middleware/body.ts'
import { parseInSlices } from '../../../ingress/middleware/form-text.ts'
import { createByteBudget } from '../../../ingress/slots.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, send } from '../../support/send.ts'

const BODY_BYTES = 30_000

test('a byte budget enforces its total and the limit of each holder', (t) => {
  const budget = createByteBudget({ total: 10, perHolder: 6 })
  t.true(budget.take('a', 6))
  t.false(budget.take('a', 1), 'above its share')
  t.false(budget.take('b', 5), 'above the total')
  t.true(budget.take('b', 4), 'the refused bytes were not counted')
  t.false(budget.take(null, 1), 'above the total, without a share')
  t.true(budget.take('a', -6))
  t.true(budget.take('b', -4))
  t.true(budget.take(null, 10), 'null has no limit as a holder')
  t.false(budget.take('a', 1))
})

test('bodies count towards the budget of their address and of all until they are answered', async (t) => {
  const budget = createByteBudget({ total: 100_000, perHolder: 60_000 })
  const held: { request: IncomingMessage; response: ServerResponse }[] = []
  const server = createServer((request, response) => {
    countBody(request, response, String(request.headers['x-from']), budget)
    openBody(request, BODY_BYTES)
      .all()
      .then(
        () => held.push({ request, response }),
        ({ message }: Error) => response.writeHead(503).end(message),
      )
  })
  server.listen(0, '127.0.0.1')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const address = server.address()
  const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const answers: Promise<Answer>[] = []
  const post = async (from: string): Promise<Answer> =>
    await send(base, '/', { method: 'POST', headers: { 'X-From': from }, body: 'x'.repeat(BODY_BYTES) })
  /** Sends a body that is held until the server answers it. */
  const hold = async (from: string) => {
    const count = held.length
    answers.push(post(from))
    await eventually('the body to be held', () => held.length > count)
  }
  const refusal = async (from: string) => {
    const { status, text } = await post(from)
    return [status, text]
  }
  const refused = [503, 'too many request bodies are in memory, try again later']
  await hold('192.0.2.1')
  await hold('192.0.2.1')
  t.deepEqual(await refusal('192.0.2.1'), refused, 'the share of one address')
  await hold('192.0.2.2')
  t.deepEqual(await refusal('192.0.2.3'), refused, 'the total of all addresses')
  const [first, second] = held
  if (!first || !second) throw new Error('no body is held')
  // Parsing takes 128 bytes for each value of a step in advance.
  const values = Buffer.from(JSON.stringify({ x: Array(5_000).fill(1) }))
  await t.throwsAsync(parseInSlices(second.request, values, {}), { message: /too many request bodies/ })
  first.response.end('answered')
  await answers[0]
  await eventually('the bytes to be free', () => {
    const isFree = budget.take('192.0.2.3', BODY_BYTES)
    if (isFree) budget.take('192.0.2.3', -BODY_BYTES)
    return isFree
  })
  await hold('192.0.2.3')
  for (const { response } of held) response.end()
  t.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [200, 200, 200, 200],
  )
})
