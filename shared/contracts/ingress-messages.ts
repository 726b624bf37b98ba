import { z } from 'zod'

/**
 * A barrier is a small message with a reply address, published to a shard's queue after the pings accepted before. The
 * evaluator replies when all earlier messages are applied. It has no body, needs no confirm and may be lost, because
 * its sender has a timeout.
 */
export const BARRIER_TYPE = 'barrier'

const changeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('check'), uuid: z.uuid(), projectId: z.int() }),
  z.object({ kind: z.literal('project'), projectId: z.int() }),
])

/** Announces a committed change, so that every ingress process drops its cached copy. Idempotent. */
export type CacheChange = z.infer<typeof changeSchema>

/** @returns null if it is not an announcement of this version */
export function parseCacheChange(content: Buffer): CacheChange | null {
  try {
    return changeSchema.safeParse(JSON.parse(content.toString('utf8'))).data ?? null
  } catch {
    return null
  }
}

/** Beyond this number of ids the list is omitted and all open pages reload. */
export const MAX_LISTED = 500

const liveChangeSchema = z.union([
  z.object({ all: z.literal(true) }),
  z.object({ checks: z.array(z.int()), channels: z.array(z.int()) }),
])

/** Announces committed changes of checks and of deliveries of their integrations, by id. */
export type LiveChange = z.infer<typeof liveChangeSchema>

/** @returns null if it is not an announcement of this version */
export function parseLiveChange(content: Buffer): LiveChange | null {
  try {
    return liveChangeSchema.safeParse(JSON.parse(content.toString('utf8'))).data ?? null
  } catch {
    return null
  }
}
