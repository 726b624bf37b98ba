import type { Micros } from '../time.ts'
import { shardOf } from './ping-batch.ts'

/**
 * The ping queues under one number of shards (docs/adr/0007). A change of the number creates a generation with separate
 * queues; those of the former one are consumed until no listener can send to them.
 */
export interface PingGeneration {
  /** counted from 0, never used twice */
  generation: number
  shards: number
  /** from then on pings go here, by the clock that all processes share */
  opensAt: Micros
  /** nothing of those who follow the change is left in it: what comes after it may be taken */
  isDrained: boolean
}

/** A generation has at most so many shards. */
export const MAX_SHARDS = 64
/** The position of a stream keeps the number of its queue in two bytes. */
export const LAST_GENERATION = 511

/** The number of a queue, unique among all generations: what `pingQueue` names. */
export function queueNumber({ generation }: Pick<PingGeneration, 'generation'>, shard: number): number {
  return generation * MAX_SHARDS + shard
}

/** Numbers of the queues of a generation, by shard. */
export function queuesOf(one: Pick<PingGeneration, 'generation' | 'shards'>): number[] {
  return Array.from({ length: one.shards }, (_, shard) => queueNumber(one, shard))
}

/** Shards of the newest generation; one where none is known. @param live oldest first */
export function shardsNow(live: readonly PingGeneration[]): number {
  return live.at(-1)?.shards ?? 1
}

/** Where pings go that arrive now: the newest generation that is open. @param live oldest first */
export function openGeneration(live: readonly PingGeneration[], now: Micros): PingGeneration | null {
  return live.findLast(({ opensAt }) => opensAt <= now) ?? live[0] ?? null
}

/**
 * Numbers of the queues that may be taken from. Those of a generation only once the ones before it are drained, so that
 * the pings of a check are applied in their order. @param live oldest first
 */
export function queuesToTake(live: readonly PingGeneration[]): number[] {
  const blocked = live.findIndex(({ isDrained }) => !isDrained)
  return (blocked === -1 ? live : live.slice(0, blocked + 1)).flatMap(queuesOf)
}

/** The queues that may hold pings of a check: one of each generation. */
export function queuesOfCheck(live: readonly PingGeneration[], checkId: number): number[] {
  return live.map((one) => queueNumber(one, shardOf(checkId, one.shards)))
}

/**
 * Shards of the newest generation of whose checks no queue of any generation holds anything unknown. Two numbers of
 * shards put a check into shard s of the one and r of the other only where both are the same modulo what divides both.
 * @param live oldest first
 * @param answered numbers of the queues that answered
 */
export function settledShards(live: readonly PingGeneration[], answered: ReadonlySet<number>): number[] {
  const newest = live.at(-1)
  if (!newest) return []
  const mayHold = (one: PingGeneration, shard: number) => {
    const divisor = greatestCommonDivisor(one.shards, newest.shards)
    return queuesOf(one).filter((_, other) => other % divisor === shard % divisor)
  }
  return Array.from({ length: newest.shards }, (_, shard) => shard).filter((shard) =>
    live.every((one) => mayHold(one, shard).every((queue) => answered.has(queue))),
  )
}

/**
 * A proof about shards as a mask that means the same under another number of them, wherever that is a multiple: bit b
 * speaks for shard b modulo their number.
 */
export function maskOfShards(proven: readonly boolean[]): bigint {
  let mask = 0n
  for (let bit = 0; bit < MAX_SHARDS; bit++) if (proven[bit % proven.length]) mask |= 1n << BigInt(bit)
  return mask
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other)
}
