import { z } from 'zod'

/**
 * A barrier is a tiny message with a reply address, put into a shard's queue behind everything accepted before it.
 * The evaluator answers it once all before it is applied. It has no body, needs no confirm and may be lost: whoever
 * waits for it has a deadline.
 */
export const BARRIER_TYPE = 'barrier'

const changeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('check'), uuid: z.uuid(), projectId: z.int() }),
  z.object({ kind: z.literal('project'), projectId: z.int() }),
])

/**
 * A change that every ingress process must forget its cached copy for, announced after it has committed. Handling it
 * twice is harmless: a forgotten copy is only read again.
 */
export type CacheChange = z.infer<typeof changeSchema>

/** @returns null for what is not an announcement of this version */
export function parseCacheChange(content: Buffer): CacheChange | null {
  try {
    return changeSchema.safeParse(JSON.parse(content.toString('utf8'))).data ?? null
  } catch {
    return null
  }
}

/** More ids than this are not listed: then everybody who watches anything looks again. */
export const MAX_LISTED = 500

const liveChangeSchema = z.union([
  z.object({ all: z.literal(true) }),
  z.object({ checks: z.array(z.int()), channels: z.array(z.int()) }),
])

/** What changed of checks and of what their integrations delivered: ids only, and after the change has committed. */
export type LiveChange = z.infer<typeof liveChangeSchema>

/** @returns null for what is not an announcement of this version */
export function parseLiveChange(content: Buffer): LiveChange | null {
  try {
    return liveChangeSchema.safeParse(JSON.parse(content.toString('utf8'))).data ?? null
  } catch {
    return null
  }
}
