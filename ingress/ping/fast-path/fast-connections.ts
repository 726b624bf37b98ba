import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Reply } from '../answers.ts'
import type { PingRequest } from '../handler.ts'
import { type RequestHead, readFastRequest } from './fast-request.ts'

/** A piece that is longer is no plain request. */
const MAX_BYTES = 4096
/** An idle connection stays this much longer than its client was told, whose next request may be on its way. */
const GRACE_MS = 1_000
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

/** What becomes of pings that are plain to see. The reply is to be given before the next request of its connection. */
export type FastHandler = (request: PingRequest, reply: Reply) => void

interface Options {
  handle: FastHandler
  /** takes a connection over, with what it has sent since the last answer still to be read */
  handOver: (socket: Socket) => void
  /** whether answers end their connections */
  isEnding: () => boolean
  /** until the first request must have come */
  headersMs: number
  keepAliveMs: number
}

/** Connections that have sent nothing but plain pings so far. */
export interface FastConnections {
  serve(socket: Socket): void
  /** closes those that wait for no answer */
  closeIdle(): void
}

/**
 * Serves connections for as long as each request is a plain ping: for those, Node's own server spends most of its time on
 * objects that nobody looks at. With the first request that is anything else a connection is handed over for good,
 * before anything of that request was acted on.
 */
export function startFastConnections(options: Options): FastConnections {
  const open = new Set<FastConnection>()
  const shared: Shared = { head: null }
  return {
    serve(socket) {
      const connection = new FastConnection(socket, options, shared, () => open.delete(connection))
      open.add(connection)
    },
    closeIdle() {
      for (const connection of open) connection.closeIfIdle()
    },
  }
}

/** What connections have in common. */
interface Shared {
  /** of the request that came last: clients of one kind say the same */
  head: RequestHead | null
}

/** One request at a time: what comes while one waits for its answer is read afterwards. */
class FastConnection implements Reply {
  readonly #socket: Socket
  readonly #options: Options
  readonly #shared: Shared
  readonly #onGone: () => void
  // Bound once, so that they can be taken away; as members that are functions each connection would name all of them.
  readonly #onData = this.#take.bind(this)
  readonly #onEnd = this.#finish.bind(this)
  readonly #onTimeout = this.#giveUp.bind(this)
  readonly #onDrain = this.#goOn.bind(this)
  #head: RequestHead | null = null
  #isHeadAsked = false
  /** a request waits for its answer */
  #isWaiting = false
  #isFirst = true
  /** came while a request waited */
  #held: Buffer | null = null
  #status = 0
  #headers: readonly string[] = []

  constructor(socket: Socket, options: Options, shared: Shared, onGone: () => void) {
    this.#socket = socket
    this.#options = options
    this.#shared = shared
    this.#onGone = onGone
    socket.setTimeout(options.headersMs)
    socket.on('data', this.#onData).on('end', this.#onEnd).on('timeout', this.#onTimeout)
    socket.on('error', ignore).on('close', onGone)
  }

  get destroyed(): boolean {
    return !this.#socket.writable
  }

  get headersSent(): boolean {
    return !this.#isWaiting
  }

  writeHead(status: number, headers: string[]): void {
    this.#status = status
    this.#headers = headers
  }

  end(text = ''): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    const socket = this.#socket
    if (!socket.writable) return
    const isLast = this.#head?.isLast === true || this.#options.isEnding()
    const keep = isLast ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${this.#options.keepAliveMs / 1000}`
    const head = headText(this.#status, this.#headers)
    const isRead = socket.write(`${head}Connection: ${keep}\r\n\r\n${this.#isHeadAsked ? '' : text}`, 'latin1')
    if (isLast) {
      this.#close()
      return
    }
    if (this.#isFirst) {
      this.#isFirst = false
      socket.setTimeout(this.#options.keepAliveMs + GRACE_MS)
    }
    // Who does not read answers is not asked for more requests.
    if (!isRead) {
      socket.pause()
      socket.once('drain', this.#onDrain)
    } else if (this.#held) this.#goOn()
  }

  closeIfIdle(): void {
    if (!this.#isWaiting) this.#close()
  }

  /** Once what is written has gone out. Whatever still comes is no request any more: nobody would be answered. */
  #close(): void {
    this.#socket.off('data', this.#onData).resume().destroySoon()
  }

  #goOn(): void {
    const held = this.#held
    this.#held = null
    this.#socket.resume()
    if (held) this.#take(held)
  }

  #take(chunk: Buffer): void {
    if (this.#isWaiting) {
      this.#held = this.#held ? Buffer.concat([this.#held, chunk]) : chunk
      this.#socket.pause()
      return
    }
    const request =
      chunk.length > MAX_BYTES ? null : readFastRequest(chunk.toString('latin1'), this.#head ?? this.#shared.head)
    if (!request) {
      this.#handOver(chunk)
      return
    }
    const { method, url, head } = request
    this.#head = head
    this.#shared.head = head
    this.#isHeadAsked = method === 'HEAD'
    this.#isWaiting = true
    this.#options.handle({ method, url, headers: head.headers, socket: this.#socket }, this)
  }

  #handOver(chunk: Buffer): void {
    const socket = this.#socket
    this.#onGone()
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onTimeout).off('drain', this.#onDrain)
    socket.off('close', this.#onGone)
    socket.setTimeout(0)
    socket.unshift(chunk)
    this.#options.handOver(socket)
    socket.off('error', ignore)
  }

  #finish(): void {
    this.#socket.end()
  }

  #giveUp(): void {
    if (this.#isWaiting) return
    if (this.#isFirst) this.#socket.write(TIMED_OUT)
    this.#close()
  }
}

let dateAt = 0
let date = ''
let last = { status: 0, headers: [] as readonly string[], at: 0, text: '' }

/** The status line and headers with the date, up to `Connection`. The same array gives the same text for a second. */
function headText(status: number, headers: readonly string[]): string {
  const at = Math.floor(Date.now() / 1000)
  if (last.headers === headers && last.status === status && last.at === at) return last.text
  if (at !== dateAt) {
    dateAt = at
    date = new Date(at * 1000).toUTCString()
  }
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  text += `Date: ${date}\r\n`
  last = { status, headers, at, text }
  return text
}

function ignore(): void {}
