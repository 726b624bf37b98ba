import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PushTarget } from '#shared/monitoring/pings/push-store.ts'
import { describeError, type Log } from '#shared/platform/process/log.ts'
import { SAFETY_HEADERS } from '../safety-headers.ts'
import type { Reply } from './answers.ts'
import type { PingRequest } from './handler.ts'
import type { ReadBody } from './read-body.ts'

/** Path of push URLs of Uptime Kuma. Imported checks keep these URLs. */
export const PUSH_PREFIX = '/api/push/'

const UNKNOWN = 'Monitor not found or not active.'

interface PushParts {
  find(token: string): Promise<PushTarget | null>
  answer(request: PingRequest, reply: Reply, readBody: ReadBody): void
  log: Pick<Log, 'error'>
}

/**
 * Answers pings in the form of Uptime Kuma (docs/spec/monitoring.md#check-operations) as pings of the check
 * that has the token. A body of the request is ignored.
 */
export function createPushHandler({ find, answer, log }: PushParts) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    request.resume()
    const { method, headers, socket, url = '' } = request
    const reply = jsonReply(response)
    if (method !== 'GET' && method !== 'POST') {
      refuse(reply, 405, 'method not allowed')
      return
    }
    const [path = '', query = ''] = url.slice(PUSH_PREFIX.length).split(/\?(.*)/s)
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(path)) {
      refuse(reply, 404, UNKNOWN)
      return
    }
    const { suffix, body } = readPush(new URLSearchParams(query))
    find(path)
      .then((target) => {
        if (target === null || target.isPaused) refuse(reply, 404, UNKNOWN)
        else answer({ method, headers, socket, url: `/ping/${target.uuid}${suffix}` }, reply, async () => body)
      })
      .catch((error: unknown) => {
        log.error(describeError(error), 'push.failed')
        if (!response.headersSent) refuse(reply, 503, 'try again later')
      })
  }
}

function readPush(query: URLSearchParams): { suffix: string; body: Buffer | null } {
  const [msg, ping] = [query.get('msg') ?? '', query.get('ping') ?? '']
  const text = [...(msg === '' ? [] : [msg]), ...(ping === '' ? [] : [`ping: ${ping} ms`])].join('\n')
  const isUp = (query.get('status') ?? 'up') === 'up'
  return { suffix: isUp ? '' : '/fail', body: text === '' ? null : Buffer.from(text) }
}

function refuse(reply: Reply, status: number, text: string): void {
  reply.writeHead(status, [])
  reply.end(text)
}

/** Sends the answers of the ping handler as JSON. */
function jsonReply(response: ServerResponse): Reply {
  return {
    get destroyed() {
      return response.destroyed
    },
    get headersSent() {
      return response.headersSent
    },
    writeHead(status, headers) {
      const at = headers.indexOf('Retry-After')
      const retryAfter = at === -1 ? {} : { 'Retry-After': headers[at + 1] ?? '' }
      response.statusCode = status
      const sent = { 'Content-Type': 'application/json', ...SAFETY_HEADERS, ...retryAfter }
      response.setHeaders(new Map(Object.entries(sent)))
    },
    end(text = '') {
      response.end(JSON.stringify(response.statusCode < 300 ? { ok: true } : { ok: false, msg: text }))
    },
  }
}
