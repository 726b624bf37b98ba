import type { IncomingMessage, ServerResponse } from 'node:http'
import { UnavailableError } from '#shared/errors.ts'
import { hasBody } from '../middleware/body.ts'
import { createByteBudget, grownSize } from '../slots.ts'

/** Answers a request with a longer body at once, and closes its connection. */
const BODY_HARD_CAP = 1024 * 1024

interface PingBody {
  body: Buffer | null
  /** true if the client was still sending */
  isCut: boolean
  /** set if the body was abandoned */
  error?: UnavailableError
}

/**
 * Returns the first bytes of a body, up to the limit; null for an empty body.
 * @throws Error if the client disconnects before the end
 * @throws UnavailableError if newer bodies need the memory
 */
export type ReadBody = () => Promise<Buffer | null>

/** @param bodies counts long bodies */
export function bodyReader(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  bodies: LongBodies,
): ReadBody | null {
  if (!hasBody(request)) return null
  return async () => {
    const { body, isCut, error } = await readPingBody(request, limit, bodies)
    if (isCut) {
      // The rest of the body would be parsed as the next request.
      response.shouldKeepAlive = false
      response.once('finish', () => request.socket.destroySoon())
    }
    if (error) throw error
    return body
  }
}

/**
 * Reads a body up to the hard cap and keeps only its beginning.
 * @throws Error if the client disconnects before the end
 */
function readPingBody(request: IncomingMessage, limit: number, bodies: LongBodies): Promise<PingBody> {
  // One buffer, because each chunk costs about a hundred bytes and the sender decides how small chunks are.
  let kept: Buffer = Buffer.alloc(0)
  let keptBytes = 0
  let seenBytes = 0
  let long: LongBody | undefined
  return new Promise((resolve, reject) => {
    const stop = () => {
      long?.end()
      request.removeAllListeners('data')
    }
    const abandon = (error: UnavailableError) => {
      stop()
      request.pause()
      kept = Buffer.alloc(0)
      resolve({ body: null, isCut: true, error })
    }
    const fail = (error: Error) => {
      stop()
      reject(error)
    }
    const finish = (isCut: boolean) => {
      stop()
      const body = keptBytes === kept.length ? kept : Buffer.from(kept.subarray(0, keptBytes))
      resolve({ body: keptBytes === 0 ? null : body, isCut })
    }
    request.on('data', (chunk: Buffer) => {
      seenBytes += chunk.length
      if (keptBytes < limit) {
        const part = chunk.subarray(0, limit - keptBytes)
        const size = grownSize(kept.length, keptBytes + part.length, limit)
        if (size > kept.length) {
          if (size > UNCOUNTED_BYTES) long ??= bodies.begin(abandon)
          if (long?.grow(size - kept.length) === false) return
          kept = Buffer.concat([kept], size)
        }
        keptBytes += part.copy(kept, keptBytes)
      }
      if (seenBytes > BODY_HARD_CAP) {
        request.pause()
        finish(true)
      }
    })
    request.once('end', () => finish(false))
    request.once('error', fail)
    request.once('aborted', () => fail(new Error('the client went away')))
  })
}

/** Shorter buffers are not counted, as the limit of connections bounds them. The default PING_BODY_LIMIT is lower. */
const UNCOUNTED_BYTES = 16_384
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024

interface LongBody {
  /** returns false if the body was abandoned */
  grow(bytes: number): boolean
  end(): void
}

export interface LongBodies {
  /** @param abandon called when the body must release its bytes; it is not counted afterwards */
  begin(abandon: (error: UnavailableError) => void): LongBody
}

/**
 * Limits the memory of long ping bodies. Above the total it abandons the body that began first, because slow senders
 * hold their bytes longest.
 */
export function createLongBodies(maxBytes = MAX_BUFFERED_BYTES): LongBodies {
  const budget = createByteBudget({ total: maxBytes, perHolder: maxBytes })
  const reading = new Map<LongBody, (error: UnavailableError) => void>()
  return {
    begin(abandon) {
      let held = 0
      const body: LongBody = {
        grow(bytes) {
          while (reading.has(body)) {
            if (budget.take(null, bytes)) {
              held += bytes
              return true
            }
            const [oldest] = reading
            oldest?.[0].end()
            oldest?.[1](new UnavailableError('too many ping bodies are in memory', { retryAfterSeconds: 1 }))
          }
          return false
        },
        end() {
          if (!reading.delete(body)) return
          budget.take(null, -held)
          held = 0
        },
      }
      reading.set(body, abandon)
      return body
    },
  }
}
