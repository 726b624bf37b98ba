import { deadLetterQueueOf } from '../../contracts/define-message.ts'
import { type PingGeneration, queuesOf } from '../../contracts/ping-generations.ts'
import { workQueues } from '../../contracts/topology.ts'
import { describeError, type Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import type { Broker } from './broker.ts'

export interface QueueWatch extends AsyncDisposable {
  problems(): string[]
}

const EVERY_MS = 10_000

/** A queue of this process's workers without a consumer in two readings of 10 s is a problem. */
export function openQueueWatch(
  deps: { broker: Broker; log: Log; metrics: Metrics },
  generations: () => readonly PingGeneration[],
  isOurs: (queue: string) => boolean,
): QueueWatch {
  const { broker, log, metrics } = deps
  let lonely: string[] = []
  let isClosing = false
  let timer: NodeJS.Timeout | null = null
  let looking = look([])

  async function look(lonelyBefore: readonly string[]): Promise<void> {
    let found: string[] = []
    try {
      found = await findLonely()
      lonely = found.filter((queue) => lonelyBefore.includes(queue))
    } catch (error) {
      log.debug(describeError(error), 'queues.not-inspected')
    }
    if (isClosing) return
    timer = setTimeout(() => {
      looking = look(found)
    }, EVERY_MS)
    timer.unref()
  }

  async function findLonely(): Promise<string[]> {
    const queues = workQueues(generations().flatMap(queuesOf))
    const found = await broker.inspect([...queues, ...queues.map(deadLetterQueueOf)])
    return queues.filter((queue) => {
      const state = found.get(queue)
      if (!state) return false
      metrics.queueMessages.set({ queue }, state.messages)
      metrics.queueConsumers.set({ queue }, state.consumers)
      metrics.deadLetterMessages.set({ queue }, found.get(deadLetterQueueOf(queue))?.messages ?? 0)
      return state.consumers === 0 && isOurs(queue)
    })
  }

  return {
    problems: () => lonely.map((queue) => `broker: no consumer takes from ${queue}`),
    async [Symbol.asyncDispose]() {
      isClosing = true
      if (timer) clearTimeout(timer)
      await looking
    },
  }
}
