import { UnavailableError } from '#shared/errors.ts'
import { createByteBudget } from '../byte-budget.ts'

/** Shorter bodies, so all by default, are not counted: the limit of connections bounds them. */
export const UNCOUNTED_BYTES = 16_384
/** Bytes of longer bodies that this process holds while it reads them. */
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024

/** A long body that is being read. */
export interface LongBody {
  /** Counts more bytes. Returns false if the body was abandoned. */
  grow(bytes: number): boolean
  /** Stops counting. */
  end(): void
}

export interface LongBodies {
  /** @param abandon called when the body must release its bytes; it is not counted afterwards */
  begin(abandon: (error: UnavailableError) => void): LongBody
}

/**
 * Counts the bytes of long ping bodies. Above the total it abandons the body that began first: slow senders hold their
 * bytes longest, and the pings of others must be accepted meanwhile.
 */
export function createLongBodies(maxBytes = MAX_BUFFERED_BYTES): LongBodies {
  const budget = createByteBudget({ total: maxBytes, perHolder: maxBytes })
  /** in the order in which they began */
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
