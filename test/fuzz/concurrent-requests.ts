import { connect } from 'node:net'

/** Maximum time until a response is complete. */
const WHOLE_MS = 120_000

/**
 * Sends the same request on `times` connections at once, and reads all responses. Of an event stream it reads only the
 * beginning.
 * @returns the status line and headers of each response; empty without a response
 */
export async function sendConcurrently(port: number, bytes: Buffer, times: number): Promise<string[]> {
  return await Promise.all(Array.from({ length: times }, () => headOf(port, bytes)))
}

async function headOf(port: number, bytes: Buffer): Promise<string> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let head = ''
    socket.setTimeout(WHOLE_MS, () => socket.destroy())
    socket.on('error', () => undefined) // a reset without an answer shows as an empty one
    socket.on('data', (chunk: Buffer) => {
      if (head.includes('\r\n\r\n')) return
      head += chunk.toString('latin1')
      if (head.includes('\r\n\r\n') && /^content-type: text\/event-stream/im.test(head)) socket.destroy()
    })
    socket.once('close', () => resolve(head.split('\r\n\r\n', 1)[0] ?? ''))
    socket.write(bytes)
  })
}

/** Returns true if a client can act on the answer: no server error, or a 503 with Retry-After. */
export function isAcceptable(head: string): boolean {
  const status = Number(head.slice(9, 12))
  if (status === 503) return /^retry-after: \d+/im.test(head)
  return status >= 200 && status < 500
}
