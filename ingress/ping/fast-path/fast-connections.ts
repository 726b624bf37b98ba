import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Reply } from '../answers.ts'
import type { PingRequest } from '../handler.ts'
import { type PingAddresses, parseFastRequest, pingAddresses, type RequestHead } from './fast-request.ts'

/** Longer chunks are left to Node's parser. */
const MAX_BYTES = 4096
/** An idle connection stays open for this long after the announced timeout, because a request may be on its way. */
const GRACE_MS = 1_000
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

/** The handler must reply before the next request of the connection is read. */
export type FastHandler = (request: PingRequest, reply: Reply) => void

interface Options {
  handle: FastHandler
  /** passes a connection and its unprocessed data to Node's server */
  handOver: (socket: Socket) => void
  /** returns true if responses must close their connection */
  isEnding: () => boolean
  /** path of PUBLIC_URL; requests are accepted with and without it */
  basePath: string
  /** timeout of the first request */
  headersMs: number
  keepAliveMs: number
}

export interface FastConnections {
  serve(socket: Socket): void
  closeIdle(): void
}

/**
 * Serves connections while each request is a plain ping. Node's server would spend most of its time on objects that a
 * ping does not need. At the first other request the connection is passed to Node's server, which then handles it.
 */
export function startFastConnections(options: Options): FastConnections {
  const open = new Set<FastConnection>()
  const shared: Shared = { head: null, addresses: pingAddresses(options.basePath) }
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

interface Shared {
  /** head of the newest request of any connection, because similar clients send equal headers */
  head: RequestHead | null
  addresses: PingAddresses
}

/** Handles one request at a time; data that arrives meanwhile is read afterwards. */
class FastConnection implements Reply {
  readonly #socket: Socket
  readonly #options: Options
  readonly #shared: Shared
  readonly #onGone: () => void
  // Bound once, so that the listeners can be removed.
  readonly #onData = this.#take.bind(this)
  readonly #onEnd = this.#finish.bind(this)
  readonly #onTimeout = this.#closeIfWaitingForRequest.bind(this)
  readonly #onDrain = this.#resume.bind(this)
  #head: RequestHead | null = null
  #isHeadRequested = false
  #isWaiting = false
  #isFirst = true
  /** data that arrived while a request had no response */
  #buffered: Buffer | null = null
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
    const canWriteMore = socket.write(
      `${head}Connection: ${keep}\r\n\r\n${this.#isHeadRequested ? '' : text}`,
      'latin1',
    )
    if (isLast) {
      this.#close()
      return
    }
    if (this.#isFirst) {
      this.#isFirst = false
      socket.setTimeout(this.#options.keepAliveMs + GRACE_MS)
    }
    // Stop reading requests while the client does not read responses.
    if (!canWriteMore) {
      socket.pause()
      socket.once('drain', this.#onDrain)
    } else if (this.#buffered) this.#resume()
  }

  closeIfIdle(): void {
    if (!this.#isWaiting) this.#close()
  }

  /** Closes the connection after the written data is sent, and ignores data that still arrives. */
  #close(): void {
    this.#socket.off('data', this.#onData).resume().destroySoon()
  }

  #resume(): void {
    const buffered = this.#buffered
    this.#buffered = null
    this.#socket.resume()
    if (buffered) this.#take(buffered)
  }

  #take(chunk: Buffer): void {
    if (this.#isWaiting) {
      this.#buffered = this.#buffered ? Buffer.concat([this.#buffered, chunk]) : chunk
      this.#socket.pause()
      return
    }
    const { head: newest, addresses } = this.#shared
    const request =
      chunk.length > MAX_BYTES ? null : parseFastRequest(chunk.toString('latin1'), this.#head ?? newest, addresses)
    if (!request) {
      this.#handOver(chunk)
      return
    }
    const { method, url, head } = request
    this.#head = head
    this.#shared.head = head
    this.#isHeadRequested = method === 'HEAD'
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

  #closeIfWaitingForRequest(): void {
    if (this.#isWaiting) return
    if (this.#isFirst) this.#socket.write(TIMED_OUT)
    this.#close()
  }
}

let dateAt = 0
let date = ''
let last = { status: 0, headers: [] as readonly string[], at: 0, text: '' }

/** Returns the status line and headers up to `Date`, cached for one second. */
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
