import { z } from 'zod'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { nextPing, shownStatus } from '#shared/monitoring/checks/status.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { toIsoSeconds, toSeconds } from '#shared/time.ts'
import type { ToolCall } from '../tool.ts'
import { UntrustedSchema, untrusted } from '../untrusted.ts'

/** A check as agents are shown it: what people wrote is marked, and nothing that pings carried is there. */
export const CheckSchema = z.object({
  checkId: z.string(),
  name: UntrustedSchema,
  tags: UntrustedSchema,
  description: UntrustedSchema,
  slug: UntrustedSchema,
  status: z.enum(['new', 'up', 'grace', 'down', 'paused']),
  started: z.boolean(),
  lastPing: z.string().nullable(),
  nextPing: z.string().nullable(),
  lastDurationSeconds: z.number().nullable(),
  pings: z.int(),
  timeoutSeconds: z.int().nullable(),
  schedule: z.string().nullable(),
  timeZone: z.string().nullable(),
  graceSeconds: z.int(),
})

const OWNER = 'owner of the check'

export function checkForAgents(check: Check, { deps }: Pick<ToolCall, 'deps'>): z.infer<typeof CheckSchema> {
  const due = nextPing(check, nextOccurrence)
  const isSimple = check.kind === 'simple'
  return {
    checkId: check.uuid,
    name: untrusted(OWNER, check.name),
    tags: untrusted(OWNER, check.tags),
    description: untrusted(OWNER, check.desc),
    slug: untrusted(OWNER, check.slug),
    status: shownStatus(check, deps.now(), nextOccurrence),
    started: check.lastStart !== null,
    lastPing: check.lastPing === null ? null : toIsoSeconds(check.lastPing),
    nextPing: due === null ? null : toIsoSeconds(due),
    lastDurationSeconds: check.lastDuration === null ? null : toSeconds(check.lastDuration),
    pings: check.nPings,
    timeoutSeconds: isSimple ? check.timeoutSeconds : null,
    schedule: isSimple ? null : check.schedule,
    timeZone: isSimple ? null : check.tz,
    graceSeconds: check.graceSeconds,
  }
}
