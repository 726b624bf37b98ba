import { z } from 'zod'

/** Replied when all earlier messages of the shard are applied. May be lost, because its sender has a timeout. */
export const BARRIER_TYPE = 'barrier'

const changeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('check'), uuid: z.uuid(), projectId: z.int() }),
  z.object({ kind: z.literal('project'), projectId: z.int() }),
])

/** Every ingress process drops its cached copy. Idempotent. */
export type CacheChange = z.infer<typeof changeSchema>

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
  z.object({ checks: z.array(z.int()), integrations: z.array(z.int()) }),
])

export type LiveChange = z.infer<typeof liveChangeSchema>

export function parseLiveChange(content: Buffer): LiveChange | null {
  try {
    return liveChangeSchema.safeParse(JSON.parse(content.toString('utf8'))).data ?? null
  } catch {
    return null
  }
}
