import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BARRIER_TYPE } from '#shared/contracts/ingress-messages.ts'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { PING_QUEUE_LENGTH } from '#shared/contracts/topology.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'

const CONFIRMED_WITHIN_MS = 5_000
/** After this many unread barriers a proof tests first if the queue has a consumer. */
const MAX_UNREAD = 10

const EMPTY = Buffer.alloc(0)

type ShardProof = (queue: number) => Promise<boolean>

const perBroker = new WeakMap<object, ShardProof>()

/** Returns the proof of this connection. All listeners of a process share it, because their rounds begin together. */
export function shardProofOf(broker: Pick<Broker, 'publish' | 'inspect' | 'problems'>): ShardProof {
  const known = perBroker.get(broker)
  if (known) return known
  const proof = createShardProof(broker)
  perBroker.set(broker, proof)
  return proof
}

/**
 * Proves that the queue of a shard accepts messages. It publishes an empty barrier without a reply address, which the
 * evaluator drops. Without a consumer the state of the queue is the proof, because barriers would pile up.
 */
function createShardProof(broker: Pick<Broker, 'publish' | 'inspect' | 'problems'>): ShardProof {
  const unread = new Map<number, number>()
  const planned = new Map<number, Promise<boolean>>()

  return (shard) => {
    const known = planned.get(shard)
    if (known !== undefined) return known
    // Starts after all calls of this turn, so that the proof is never older than a call that shares it.
    const begun = nextTurn().then(() => {
      planned.delete(shard)
      return prove(shard)
    })
    planned.set(shard, begun)
    return begun
  }

  async function prove(shard: number): Promise<boolean> {
    if ((unread.get(shard) ?? 0) >= MAX_UNREAD) {
      const hasCapacityNow = await hasCapacity(shard)
      if (hasCapacityNow !== null) return hasCapacityNow
    }
    unread.set(shard, (unread.get(shard) ?? 0) + 1)
    const isTaken = await publishBarrier(shard)
    if (!isTaken) unread.set(shard, Math.max(0, (unread.get(shard) ?? 0) - 1))
    return isTaken
  }

  /** @returns if the queue has capacity; null if it has a consumer again */
  async function hasCapacity(shard: number): Promise<boolean | null> {
    const name = pingQueue(shard)
    const state = await broker.inspect([name]).then(
      (found) => found.get(name),
      () => undefined,
    )
    if (state && state.consumers > 0) {
      unread.delete(shard)
      return null
    }
    return state !== undefined && broker.problems().length === 0 && state.messages < PING_QUEUE_LENGTH
  }

  async function publishBarrier(shard: number): Promise<boolean> {
    const message = {
      exchange: '',
      routingKey: pingQueue(shard),
      body: EMPTY,
      messageId: randomUUID(),
      type: BARRIER_TYPE,
    }
    const late = Promise.withResolvers<boolean>()
    const timer = setTimeout(late.resolve, CONFIRMED_WITHIN_MS, false).unref()
    const published = broker.publish(message).then(
      () => true,
      () => false,
    )
    const isTaken = await Promise.race([published, late.promise])
    clearTimeout(timer)
    return isTaken
  }
}
