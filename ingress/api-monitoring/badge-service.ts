import type { BadgeCounts } from '#shared/monitoring/badges/state.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { createShortCache, type ShortCache } from '../middleware/short-cache.ts'

/** What the listener of badges keeps between requests. */
export interface BadgeService {
  /** the key that badge signatures are made with */
  secret: Buffer
  /** by project: what each tag counts, and under null all checks */
  tagCounts: ShortCache<Map<string | null, BadgeCounts>>
  /** by badge key; null when there is no such check */
  ofCheck: ShortCache<{ label: string; counts: BadgeCounts } | null>
}

export function createBadgeService(secrets: Pick<Secrets, 'derive'>): BadgeService {
  return { secret: secrets.derive('badge-signature'), tagCounts: createShortCache(), ofCheck: createShortCache() }
}
