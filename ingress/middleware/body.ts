import type { IncomingMessage, ServerResponse } from 'node:http'
import { UnavailableError } from '#shared/errors.ts'
import { addressBucket } from '#shared/platform/http/remote-addr.ts'
import { type ByteBudget, createByteBudget, grownSize } from '../slots.ts'
import {
  AbortedRequestError,
  PayloadTooLargeError,
  RequestTimeoutError,
  UnsupportedMediaTypeError,
} from './request-safety.ts'

/** docs/spec/monitoring.md#validation; also for `/v1`. */
const MAX_BODY_BYTES = 2_621_440
/** Maximum bytes of bodies, and of the values parsed from them, in this process; above it 503. */
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024
const MAX_BUFFERED_PER_ADDRESS = 32 * 1024 * 1024
/** Approximate memory of a parsed value. */
const BYTES_PER_VALUE = 128
/** A body must arrive within this time, plus one millisecond for each 128 bytes received. */
const BODY_MS = 10_000
const BYTES_PER_MS = 128

const processBudget = createByteBudget({ total: MAX_BUFFERED_BYTES, perHolder: MAX_BUFFERED_PER_ADDRESS })
const accounts = new WeakMap<IncomingMessage, Account>()

class Account {
  readonly #budget: ByteBudget
  readonly #address: string
  #bytes = 0
  #isClosed = false

  constructor(budget: ByteBudget, address: string) {
    this.#budget = budget
    this.#address = address
  }

  take(bytes: number): void {
    if (this.#isClosed) return
    if (!this.#budget.take(this.#address, bytes)) {
      throw new UnavailableError('too many request bodies are in memory, try again later', { retryAfterSeconds: 1 })
    }
    this.#bytes += bytes
  }

  release(): void {
    this.#budget.take(this.#address, -this.#bytes)
    this.#bytes = 0
  }

  /** Stops counting, because after the response nothing would release the bytes. */
  close(): void {
    this.release()
    this.#isClosed = true
  }
}

/** Counts the body of a request until the response ends. Without this call it counts until it is read. */
export function countBody(
  request: IncomingMessage,
  response: ServerResponse,
  address: string,
  budget = processBudget,
): void {
  if (!hasBody(request)) return
  const account = new Account(budget, addressBucket(address))
  accounts.set(request, account)
  response.once('close', () => {
    account.close()
    // A paused body would block the requests behind it.
    request.resume()
  })
}

/** @throws UnavailableError above the budget of the process */
export function limitValues(request: IncomingMessage, count: number): void {
  accounts.get(request)?.take(count * BYTES_PER_VALUE)
}

/** GET and HEAD may have a body too. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** @throws as `openBody` and its methods */
export async function readBody(request: IncomingMessage, limit = MAX_BODY_BYTES): Promise<Buffer> {
  return await openBody(request, limit).all()
}

/** A body read in two steps: its beginning, which identifies the caller, and the rest. */
export interface IncomingBody {
  readonly isWhole: boolean
  /**
   * Reads until this many bytes have arrived, or all. Returns all bytes read so far.
   * @throws PayloadTooLargeError; the connection closes after the response
   * @throws AbortedRequestError, RequestTimeoutError, and UnavailableError above the budget of the process
   */
  upTo(bytes: number): Promise<Buffer>
  all(): Promise<Buffer>
}

/**
 * Opens the body of a request without reading it.
 * @param withinMs timeout in milliseconds; the length of the body extends it
 * @throws PayloadTooLargeError if the announced length is too long
 * @throws UnsupportedMediaTypeError for a compressed body
 */
export function openBody(request: IncomingMessage, limit = MAX_BODY_BYTES, withinMs = BODY_MS): IncomingBody {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new UnsupportedMediaTypeError('compressed bodies are not supported')
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  return new Body(request, limit, withinMs)
}

class Body implements IncomingBody {
  readonly #request: IncomingMessage
  readonly #limit: number
  readonly #account: Account
  readonly #dueAt: number
  #buffer: Buffer = Buffer.alloc(0)
  #length = 0
  #isWhole = false

  constructor(request: IncomingMessage, limit: number, withinMs: number) {
    this.#request = request
    this.#limit = limit
    this.#dueAt = performance.now() + withinMs
    this.#account = accounts.get(request) ?? accountOfReading(request)
  }

  get isWhole(): boolean {
    return this.#isWhole
  }

  async upTo(bytes: number): Promise<Buffer> {
    if (!this.#isWhole && this.#length < bytes) await this.#read(bytes)
    return this.#buffer.subarray(0, this.#length)
  }

  async all(): Promise<Buffer> {
    return await this.upTo(Number.POSITIVE_INFINITY)
  }

  async #read(wanted: number): Promise<void> {
    const request = this.#request
    if (request.destroyed) throw new AbortedRequestError('the request ended early')
    return await new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer)
        request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
        act()
      }
      const fail = (error: unknown) => {
        this.#account.release()
        this.#buffer = Buffer.alloc(0)
        settle(() => reject(error))
      }
      const onData = (chunk: Buffer) => {
        try {
          this.#append(chunk)
        } catch (error) {
          fail(error)
          return
        }
        if (this.#length < wanted) return
        request.pause()
        settle(resolve)
      }
      const onEnd = () => {
        this.#isWhole = true
        settle(resolve)
      }
      const onClose = () => fail(new AbortedRequestError('the request ended early'))
      const late = () => {
        const left = this.#timeLeft()
        if (left <= 0) fail(new RequestTimeoutError('the body did not arrive in time'))
        else timer = setTimeout(late, left)
      }
      let timer = setTimeout(late, this.#timeLeft())
      request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
      request.resume()
    })
  }

  #timeLeft(): number {
    return this.#dueAt + this.#length / BYTES_PER_MS - performance.now()
  }

  #append(chunk: Buffer): void {
    const length = this.#length + chunk.length
    if (length > this.#limit) throw tooLarge(this.#limit)
    const size = grownSize(this.#buffer.length, length, this.#limit)
    if (size > this.#buffer.length) {
      this.#account.take(size - this.#buffer.length)
      const larger = Buffer.allocUnsafeSlow(size)
      this.#buffer.copy(larger, 0, 0, this.#length)
      this.#buffer = larger
    }
    this.#length += chunk.copy(this.#buffer, this.#length)
  }
}

function accountOfReading(request: IncomingMessage): Account {
  const account = new Account(processBudget, addressBucket(request.socket.remoteAddress ?? ''))
  request.once('close', () => account.close())
  return account
}

function tooLarge(limit: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`the body is longer than ${limit} bytes`)
}
