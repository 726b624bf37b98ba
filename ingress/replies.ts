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

/** How long the rest of a body is waited for behind the last answer of a connection, in milliseconds. */
const LINGER_MS = 2_000

/**
 * Behind the last answer of a connection Node closes it at once, also while the body of the request still comes. The
 * system answers the rest of it by a reset, and whoever has not read our answer by then never gets it: a refusal that
 * names the field would look like a broken network. Here the rest is read and thrown away first, for two seconds at most.
 * @param ending told when this begins: what comes behind the body is no request any more
 */
export function lingerBehind(request: IncomingMessage, ending: () => void): void {
  const { socket } = request
  const close = () => Socket.prototype.destroySoon.call(socket)
  // What Node calls behind the last answer of a connection, and we behind the answer to a body that was cut.
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
