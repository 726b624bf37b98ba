import { type IncomingHttpHeaders, request } from 'node:http'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  text: string
}

export interface Sending {
  method?: string
  headers?: Readonly<Record<string, string | readonly string[]>>
  body?: string | Buffer
}

/** Sends one request exactly as given: no normalised path, no followed redirect, a new connection. */
export async function send(base: string, path: string, sending: Sending = {}): Promise<Answer> {
  const { hostname, port } = new URL(base)
  return await new Promise((resolve, reject) => {
    const outgoing = request(
      // The types of Node require mutable arrays of header values, which Node does not change.
      {
        hostname,
        port,
        path,
        method: sending.method ?? 'GET',
        headers: { ...sending.headers } as Record<string, string>,
        agent: false,
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks)
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, text: bytes.toString() })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(sending.body)
  })
}

/** The body of an answer as JSON. */
export function jsonOf(answer: Answer): unknown {
  return JSON.parse(answer.text)
}
