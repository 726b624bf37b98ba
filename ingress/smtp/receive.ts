import type { Readable } from 'node:stream'
import { createByteBudget } from '../slots.ts'

export type Received =
  | { outcome: 'whole'; raw: Buffer; release(): void }
  /** larger than the limit; read to its end and dropped, as with `no-room` */
  | { outcome: 'too-large' }
  | { outcome: 'no-room' }

const FIRST_BYTES = 16 * 1024

/**
 * Reads mails into memory, counted until `release`. Each mail grows in one buffer, because the sender decides how small
 * the chunks are.
 */
export function createMailReceiver(limits: { maxBytes: number; bufferBytes: number; bufferPerSender: number }) {
  const budget = createByteBudget({ total: limits.bufferBytes, perHolder: limits.bufferPerSender })

  /**
   * @param sender null for a sender without a limit
   * @throws Error if the sender disconnects before the end
   */
  return function receive(stream: Readable, sender: string | null): Promise<Received> {
    let buffer: Buffer = Buffer.alloc(0)
    let length = 0
    let dropped: 'too-large' | 'no-room' | null = null

    function drop(reason: 'too-large' | 'no-room' | null): void {
      budget.take(sender, -buffer.length)
      buffer = Buffer.alloc(0)
      dropped = reason
    }

    function append(chunk: Buffer): void {
      if (dropped !== null) return
      if (length + chunk.length > limits.maxBytes) {
        drop('too-large')
        return
      }
      if (length + chunk.length > buffer.length) {
        const size = Math.min(limits.maxBytes, Math.max(FIRST_BYTES, buffer.length * 2, length + chunk.length))
        if (!budget.take(sender, size - buffer.length)) {
          drop('no-room')
          return
        }
        const larger = Buffer.allocUnsafeSlow(size)
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      length += chunk.copy(buffer, length)
    }

    return new Promise((resolve, reject) => {
      stream.on('data', append)
      stream.once('end', () => {
        if (dropped === null) resolve({ outcome: 'whole', raw: buffer.subarray(0, length), release: () => drop(null) })
        else resolve({ outcome: dropped })
      })
      stream.once('error', (error) => {
        drop(null)
        reject(error)
      })
    })
  }
}
