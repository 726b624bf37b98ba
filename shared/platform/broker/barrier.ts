import { randomUUID } from 'node:crypto'
import { BARRIER_TYPE } from '../../contracts/ingress-messages.ts'
import { pingQueue } from '../../contracts/ping-batch.ts'
import { type PingGeneration, queuesOf, queuesOfCheck } from '../../contracts/ping-generations.ts'
import type { Metrics } from '../process/metrics.ts'
import type { Broker } from './broker.ts'

const READ_TIMEOUT_MS = 500

export interface Barriers {
  /** Waits at most 500 ms for earlier pings. Returns 0, or the milliseconds after a timeout. */
  pass(checkIds: readonly number[] | 'all'): Promise<number>
  answering(queues: readonly number[], timeoutMs: number): Promise<Set<number>>
}

interface Waiting {
  promise: Promise<boolean>
  answer: () => void
}

/** Callers in one iteration of the event loop share a barrier. */
export function createBarriers(
  broker: Pick<Broker, 'ask'>,
  options: { generations: () => readonly PingGeneration[]; metrics: Metrics },
): Barriers {
  const { generations, metrics } = options
  const waiting = new Map<string, Waiting>()
  let thisTick = new Map<number, Promise<boolean>>()

  const answers = broker.ask((correlationId) => waiting.get(correlationId)?.answer())

  function send(queue: number, timeoutMs: number): Promise<boolean> {
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
    answers.ask({ exchange: '', routingKey: pingQueue(queue), body: EMPTY, type: BARRIER_TYPE, correlationId: id })
    return promise
  }

  function shared(queue: number): Promise<boolean> {
    const known = thisTick.get(queue)
    if (known) return known
    if (thisTick.size === 0) setImmediate(() => (thisTick = new Map()))
    const promise = send(queue, READ_TIMEOUT_MS)
    thisTick.set(queue, promise)
    return promise
  }

  return {
    async pass(checkIds) {
      const live = generations()
      const concerned =
        checkIds === 'all' ? live.flatMap(queuesOf) : checkIds.flatMap((checkId) => queuesOfCheck(live, checkId))
      const answers = await Promise.all([...new Set(concerned)].map(shared))
      return answers.every((isAnswered) => isAnswered) ? 0 : READ_TIMEOUT_MS
    },
    async answering(queues, timeoutMs) {
      const answers = await Promise.all(queues.map((queue) => send(queue, timeoutMs)))
      return new Set(queues.filter((_, index) => answers[index]))
    },
  }
}

const EMPTY = Buffer.alloc(0)
