import type { BadgeCounts } from '#shared/monitoring/badges/state.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { createShortCache, type ShortCache } from '../middleware/short-cache.ts'

/** State that badge requests share. */
export interface BadgeService {
  /** key of badge signatures */
  secret: Buffer
  /** counts by tag of a project; the key null counts all checks */
  tagCounts: ShortCache<Map<string | null, BadgeCounts>>
  /** by badge key; null if the check does not exist */
  ofCheck: ShortCache<{ label: string; counts: BadgeCounts } | null>
}

export function createBadgeService(secrets: Pick<Secrets, 'derive'>): BadgeService {
  return { secret: secrets.derive('badge-signature'), tagCounts: createShortCache(), ofCheck: createShortCache() }
}
