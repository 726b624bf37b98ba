import type { Knex } from 'knex'
import { deadLetterQueueOf } from '../../contracts/define-message.ts'
import { pingQueue } from '../../contracts/ping-batch.ts'
import { type PingGeneration, queuesOf } from '../../contracts/ping-generations.ts'
import { workQueues } from '../../contracts/topology.ts'
import { shardsInUse } from '../database/ping-shards.ts'
import { describeError, type Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import type { Broker } from './broker.ts'

/** Looks at what the queues hold, and at who takes it. */
export interface QueueWatch extends AsyncDisposable {
  /** Queues of this process's workers, and ping queues of any number of shards, that nobody takes from. */
  problems(): string[]
}

const EVERY_MS = 10_000

/**
 * Looks at every queue from time to time, for the metrics; of those that `isOurs` names, a lack of consumers that two
 * looks in a row found is a problem. Ping queues beyond those in use, left by a larger number, matter as long as they
 * hold messages.
 * @param generations what this process knows of the ping queues
 */
export function openQueueWatch(
  deps: { broker: Broker; db: Knex; log: Log; metrics: Metrics },
  generations: () => readonly PingGeneration[],
  isOurs: (queue: string) => boolean,
): QueueWatch {
  const { broker, db, log, metrics } = deps
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
      log.debug(describeError(error), 'queues.not-looked-at')
    }
    if (isClosing) return
    timer = setTimeout(() => {
      looking = look(found)
    }, EVERY_MS)
    timer.unref()
  }

  async function findLonely(): Promise<string[]> {
    const live = generations().flatMap(queuesOf)
    const most = (await shardsInUse(db))?.most ?? 0
    const retired = Array.from({ length: most }, (_, shard) => shard)
      .filter((shard) => !live.includes(shard))
      .map(pingQueue)
    const queues = [...workQueues(live), ...retired]
    const found = await broker.inspect([...queues, ...queues.map(deadLetterQueueOf)])
    return queues.filter((queue) => {
      const state = found.get(queue)
      if (!state) return false
      metrics.queueMessages.set({ queue }, state.messages)
      metrics.queueConsumers.set({ queue }, state.consumers)
      metrics.deadLetterMessages.set({ queue }, found.get(deadLetterQueueOf(queue))?.messages ?? 0)
      if (state.consumers > 0) return false
      return retired.includes(queue) ? state.messages > 0 : isOurs(queue)
    })
  }

  return {
    problems: () => lonely.map((queue) => `broker: nobody takes from ${queue}`),
    async [Symbol.asyncDispose]() {
      isClosing = true
      if (timer) clearTimeout(timer)
      await looking
    },
  }
}
