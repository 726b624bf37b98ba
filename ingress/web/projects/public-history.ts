import type { Knex } from 'knex'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { listShownChecks, type ShownCheck } from '#shared/monitoring/checks/shown-store.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { type DownDay, downDays } from '#shared/monitoring/pages/down-days.ts'
import { listFlipsOfChecks } from '#shared/monitoring/pages/status-history-store.ts'
import type { StatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { mapInTurns } from '#shared/platform/process/turns.ts'
import type { Micros } from '#shared/time.ts'

/** A page for people; more would be a list. */
const MAX_SHOWN = 200

/** What a status page shows of its checks. */
export interface PublicHistory {
  /** when it was read */
  now: Micros
  shown: { check: ShownCheck; status: ShownStatus; days: DownDay[] }[]
}

/** @param days how many days back, today included */
export async function readPublicHistory(
  page: StatusPage,
  days: number,
  deps: { db: Knex; now(): Micros },
): Promise<PublicHistory> {
  const now = deps.now()
  const all = await listShownChecks(deps.db, page.projectId)
  const checks = all.filter((check) => isShown(page, check)).slice(0, MAX_SHOWN)
  const flips = await listFlipsOfChecks(
    deps.db,
    checks.map(({ id }) => id),
  )
  const shown = await mapInTurns(checks, (check) => ({
    check,
    status: shownStatus(check, now, nextOccurrence),
    days: downDays(flips.get(check.id) ?? [], days, now),
  }))
  return { now, shown }
}

function isShown(page: StatusPage, check: ShownCheck): boolean {
  const wanted = splitTags(page.tags)
  const tags = new Set(splitTags(check.tags))
  return wanted.length === 0 || wanted.some((tag) => tags.has(tag))
}
