import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type HttpRequest, NoAnswerError } from '#shared/risk/registries/connector.ts'

interface RecordedRequest {
  method: string
  url: URL
  headers: IncomingMessage['headers']
  body: string
}

export type Answer = { status: number; body: string } | 'HANG' | 'RESET'

/** Starts an HTTP server on loopback that records requests and sends prepared answers; the last answer repeats. */
export async function recordingGateway(answers: Answer[]) {
  const requests: RecordedRequest[] = []
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      requests.push({
        method: request.method ?? '',
        url: new URL(request.url ?? '/', 'http://gateway'),
        headers: request.headers,
        body,
      })
      reply(request, response, answers[Math.min(requests.length, answers.length) - 1])
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server on a TCP port has an address object, not the name of a pipe.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/gw`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function reply(request: IncomingMessage, response: ServerResponse, answer: Answer | undefined): void {
  if (answer === 'HANG') return
  if (answer === 'RESET' || !answer) {
    request.socket.destroy()
    return
  }
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
}

/** A plain client for tests; the product passes a client that also restricts the targets. */
export const fetchRequest: HttpRequest = async ({ method, url, headers, body, signal }) => {
  const response = await fetch(url, {
    method,
    headers,
    signal,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  }).catch((error: unknown) => {
    throw new NoAnswerError('connection', { cause: error })
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: Object.fromEntries(response.headers), body: bytes }
}

export function ok(data: object, asOf: string | null = '2026-11-20T23:00:00+05:30'): Answer {
  return { status: 200, body: JSON.stringify({ asOf, data }) }
}

export function refused(status: number, code: string): Answer {
  return { status, body: JSON.stringify({ code }) }
}
