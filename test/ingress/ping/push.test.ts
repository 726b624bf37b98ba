import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { UnavailableError } from '#shared/errors.ts'
import { answerLogged, answerRefused } from '../../../ingress/ping/answers.ts'
import { createPushHandler } from '../../../ingress/ping/push.ts'
import { send } from '../../support/send.ts'

test('a push becomes a ping, and its answer is JSON', async (t) => {
  const pings: unknown[] = []
  const logged: unknown[] = []
  const handler = createPushHandler({
    async find(token) {
      if (token === 'away') throw new UnavailableError('the database is away')
      return token === 'unknown' ? null : { uuid: `uuid-of-${token}`, isPaused: token === 'paused' }
    },
    answer({ method, url }, reply, readBody) {
      readBody().then((body) => {
        pings.push([method, url, body?.toString() ?? null])
        if (url?.includes('limited')) answerRefused(reply, 429, 'rate limited', { retryAfterSeconds: 60 })
        else answerLogged(reply, 200, 'OK', 0)
      }, t.fail)
    },
    log: { error: (...entry: unknown[]) => void logged.push(entry) },
  })
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // listening on TCP
  const push = async (path: string, method = 'GET', body?: string) => {
    const answer = await send(`http://127.0.0.1:${port}`, `/api/push/${path}`, { method, ...(body && { body }) })
    return { ...answer, json: JSON.parse(answer.text) }
  }
  t.like(await push('abc'), { status: 200, json: { ok: true } })
  t.like(await push('abc?status=up&msg=OK&ping='), { status: 200, json: { ok: true } })
  t.like(await push('abc?status=down&msg=a%20%26%20b&ping=17', 'POST', 'ignored'), { status: 200 })
  t.like(await push('abc?status='), { status: 200 })
  t.deepEqual(pings.splice(0), [
    ['GET', '/ping/uuid-of-abc', null],
    ['GET', '/ping/uuid-of-abc', 'OK'],
    ['POST', '/ping/uuid-of-abc/fail', 'a & b\nping: 17 ms'],
    ['GET', '/ping/uuid-of-abc/fail', null],
  ])
  const limited = await push('limited')
  t.like(limited, { status: 429, json: { ok: false, msg: 'rate limited' } })
  t.is(limited.headers['retry-after'], '60')
  pings.length = 0
  const unknown = { ok: false, msg: 'Monitor not found or not active.' }
  for (const path of ['unknown', 'paused', '', 'a/b', '%', 'x'.repeat(65)]) {
    t.like(await push(path), { status: 404, json: unknown }, path)
  }
  t.like(await push('abc', 'DELETE'), { status: 405 })
  t.like(await push('away'), { status: 503, json: { ok: false, msg: 'try again later' } })
  t.deepEqual([pings, logged.length], [[], 1])
  server.close()
})
