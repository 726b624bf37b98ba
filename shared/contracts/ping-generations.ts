import type { Micros } from '../time.ts'
import { shardOf } from './ping-batch.ts'

/**
 * A change of the shard count creates a generation with separate queues (docs/adr/0007). Those of the former one are
 * consumed until no listener can send to them.
 */
export interface PingGeneration {
  /** counted from 0, never reused */
  generation: number
  shards: number
  /** start time by the database clock; from then on listeners publish to it */
  opensAt: Micros
  /** no ping of a process that knows the next generation is left, so the next one may be consumed */
  isDrained: boolean
}

export const MAX_SHARDS = 64
/** The position of a stream stores the queue number in two bytes. */
export const LAST_GENERATION = 511

export function queueNumber({ generation }: Pick<PingGeneration, 'generation'>, shard: number): number {
  return generation * MAX_SHARDS + shard
}

export function queuesOf(one: Pick<PingGeneration, 'generation' | 'shards'>): number[] {
  return Array.from({ length: one.shards }, (_, shard) => queueNumber(one, shard))
}

export function shardsNow(live: readonly PingGeneration[]): number {
  return live.at(-1)?.shards ?? 1
}

/** Listeners publish to the newest open one; `live` is oldest first. */
export function openGeneration(live: readonly PingGeneration[], now: Micros): PingGeneration | null {
  return live.findLast(({ opensAt }) => opensAt <= now) ?? live[0] ?? null
}

/** Includes a generation after all earlier ones are drained, so that pings of a check are applied in order. */
export function queuesToTake(live: readonly PingGeneration[]): number[] {
  const blocked = live.findIndex(({ isDrained }) => !isDrained)
  return (blocked === -1 ? live : live.slice(0, blocked + 1)).flatMap(queuesOf)
}

export function queuesOfCheck(live: readonly PingGeneration[], checkId: number): number[] {
  return live.map((one) => queueNumber(one, shardOf(checkId, one.shards)))
}

/**
 * Returns the newest shards without unapplied pings in any generation. With two shard counts, a check is in shard s
 * of one and r of the other only if s and r are equal modulo their greatest common divisor.
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

/** Bit b covers shard b modulo their number, so the mask keeps its meaning under a multiple of the shard count. */
export function maskOfShards(proven: readonly boolean[]): bigint {
  let mask = 0n
  for (let bit = 0; bit < MAX_SHARDS; bit++) if (proven[bit % proven.length]) mask |= 1n << BigInt(bit)
  return mask
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other)
}
