import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Replies } from '#shared/jobs/operations/work.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'

export function createReplies(broker: Broker): Replies {
  const replyTo = `replies.${randomUUID()}`
  const waiting = new Map<string, Set<(reply: Buffer) => void>>()
  broker.consume({
    queue: replyTo,
    prefetch: 1000,
    noAck: true,
    declare: (channel) => channel.assertQueue(replyTo, { exclusive: true, autoDelete: true, durable: false }),
    onDelivery({ message }) {
      const id = String(message.properties.correlationId)
      for (const wake of waiting.get(id) ?? []) wake(message.content)
    },
  })
  return {
    replyTo,
    wait(id, timeoutMs) {
      const { promise, resolve } = Promise.withResolvers<Buffer | null>()
      const wakers = waiting.get(id) ?? new Set()
      waiting.set(id, wakers)
      const wake = (reply: Buffer | null) => {
        clearTimeout(timer)
        wakers.delete(wake)
        if (wakers.size === 0) waiting.delete(id)
        resolve(reply)
      }
      const timer = setTimeout(wake, timeoutMs, null)
      wakers.add(wake)
      return promise
    },
  }
}

/** Maximum time in milliseconds to read the rest of a body after the last response of a connection. */
const LINGER_MS = 2_000

/**
 * Reads and discards the rest of a body after the last response of a connection. Node would close at once, the kernel
 * would send a reset, and the client would lose the response: a refusal would look like a network error.
 * @param ending called at the start: data after the body is not a request
 */
export function discardRestOfBody(request: IncomingMessage, ending: () => void): void {
  const { socket } = request
  const close = () => Socket.prototype.destroySoon.call(socket)
  // Node calls this after the last response of a connection, and we call it after the response to a truncated body.
  socket.destroySoon = () => {
    if (request.complete || socket.destroyed) return close()
    ending()
    socket.end()
    const timer = setTimeout(close, LINGER_MS)
    request
      .once('end', close)
      .once('close', () => clearTimeout(timer))
      .resume()
  }
}
