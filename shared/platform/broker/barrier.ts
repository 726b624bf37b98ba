import { randomUUID } from 'node:crypto'
import { BARRIER_TYPE } from '../../contracts/barrier.ts'
import { pingQueue, shardOf } from '../../contracts/ping-batch.ts'
import type { Metrics } from '../process/metrics.ts'
import type { Broker } from './broker.ts'

/** Longest wait of a read for the pings before it (design: read your writes). */
const READ_TIMEOUT_MS = 500

export interface Barriers {
  /**
   * Waits until everything accepted before is applied, at most 500 ms.
   * @param checkIds the checks that will be read; `all` for lists
   * @returns milliseconds waited in vain when it timed out, 0 otherwise
   */
  pass(checkIds: readonly number[] | 'all'): Promise<number>
  /** Sends a barrier to every shard. @returns the shards that answered in time */
  sweepable(timeoutMs: number): Promise<number[]>
}

interface Waiting {
  promise: Promise<boolean>
  answer: () => void
}

/** Sends barriers and collects the answers. Barriers of one event-loop turn are shared. */
export function createBarriers(broker: Broker, options: { shards: number; metrics: Metrics }): Barriers {
  const { shards, metrics } = options
  const waiting = new Map<string, Waiting>()
  /** barriers of this turn, not sent yet: later callers of the same turn wait for the same one */
  let thisTurn = new Map<number, Promise<boolean>>()

  const answers = broker.ask((correlationId) => waiting.get(correlationId)?.answer())

  function send(shard: number, timeoutMs: number): Promise<boolean> {
    const id = randomUUID()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const stop = metrics.barrierSeconds.startTimer()
    const end = (isAnswered: boolean) => {
      if (!waiting.delete(id)) return
      clearTimeout(timer)
      stop({ outcome: isAnswered ? 'passed' : 'timeout' })
      resolve(isAnswered)
    }
    const timer = setTimeout(() => end(false), timeoutMs)
    waiting.set(id, { promise, answer: () => end(true) })
    answers.ask({ exchange: '', routingKey: pingQueue(shard), body: EMPTY, type: BARRIER_TYPE, correlationId: id })
    return promise
  }

  function shared(shard: number): Promise<boolean> {
    const known = thisTurn.get(shard)
    if (known) return known
    if (thisTurn.size === 0) setImmediate(() => (thisTurn = new Map()))
    const promise = send(shard, READ_TIMEOUT_MS)
    thisTurn.set(shard, promise)
    return promise
  }

  return {
    async pass(checkIds) {
      const concerned =
        checkIds === 'all' ? allShards(shards) : [...new Set(checkIds.map((checkId) => shardOf(checkId, shards)))]
      const answers = await Promise.all(concerned.map(shared))
      return answers.every((isAnswered) => isAnswered) ? 0 : READ_TIMEOUT_MS
    },
    async sweepable(timeoutMs) {
      const answers = await Promise.all(allShards(shards).map((shard) => send(shard, timeoutMs)))
      return allShards(shards).filter((shard) => answers[shard])
    },
  }
}

const EMPTY = Buffer.alloc(0)

function allShards(shards: number): number[] {
  return Array.from({ length: shards }, (_, shard) => shard)
}
