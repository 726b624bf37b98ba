import { deadLetterQueueOf } from '#shared/contracts/define-message.ts'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { type PingGeneration, queuesOf } from '#shared/contracts/ping-generations.ts'
import { outlivedGenerations, retiredGenerations, retireGeneration } from '#shared/platform/database/ping-shards.ts'
import type { WorkerDeps } from '../../define-worker.ts'
import type { Sweep } from '../sweep.ts'

const BARRIER_TIMEOUT_MS = 2_000

/**
 * Gives up the queues of a generation that nobody can send to any more (docs/adr/0038), once they are empty and nothing
 * that was given up lies beside them; deletes them after every process has heard of it.
 */
export const outlivedQueues: Sweep = {
  name: 'outlived-queues',
  everySeconds: 10,
  async run({ deps, barriers }) {
    for (const one of await outlivedGenerations(deps.reserveDb)) {
      const queues = queuesOf(one)
      if ((await barriers.answering(queues, BARRIER_TIMEOUT_MS)).size < queues.length) continue
      if (await isEmpty(deps, one)) await retireGeneration(deps.reserveDb, one.generation)
    }
    for (const one of await retiredGenerations(deps.reserveDb)) await deleteQueues(deps, one)
  },
}

async function isEmpty({ broker }: WorkerDeps, one: PingGeneration): Promise<boolean> {
  const names = namesOf(one)
  const found = await broker.inspect(names)
  return names.every((name) => (found.get(name)?.messages ?? 0) === 0)
}

async function deleteQueues({ broker, log }: WorkerDeps, one: Pick<PingGeneration, 'generation' | 'shards'>) {
  const names = namesOf(one)
  const found = await broker.inspect(names)
  // What holds something after all is left for a person: doctor names it.
  const empty = names.filter((name) => found.get(name)?.messages === 0)
  if (empty.length === 0) return
  await broker.remove(empty)
  log.info({ queues: empty }, 'pings.queues-deleted')
}

function namesOf(one: Pick<PingGeneration, 'generation' | 'shards'>): string[] {
  return queuesOf(one)
    .map(pingQueue)
    .flatMap((name) => [name, deadLetterQueueOf(name)])
}
