import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

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
