import { z } from 'zod'

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
