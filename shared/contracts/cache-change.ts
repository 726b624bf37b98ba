import { z } from 'zod'

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
