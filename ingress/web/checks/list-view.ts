import { listChannels, type StoredChannel } from '#shared/monitoring/channels/store.ts'
import {
  type CheckFilter,
  formatCursor,
  type ListSummary,
  parseListQuery,
  summarise,
} from '#shared/monitoring/pages/check-list.ts'
import { groupChecks, type ListedCheck, listCheckPage, shownAt } from '#shared/monitoring/pages/check-list-store.ts'
import { listSavedFilters, type SavedFilter } from '#shared/monitoring/pages/saved-filter-store.ts'
import { type CheckFlip, listFlipsOfChecks } from '#shared/monitoring/pages/status-history-store.ts'
import { findReachedLimit } from '#shared/monitoring/projects/quota-store.ts'
import { type ListedKey, listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { type TimedWindow, timedWindows } from '#shared/monitoring/windows/spans.ts'
import { windowsOf } from '#shared/monitoring/windows/window-store.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { paged } from '../../paging.ts'
import type { Context } from '../frame/context.ts'
import type { ProjectWorkspace } from '../frame/workspace.ts'

/** Days that the bar of a row shows. */
export const LIST_DAYS = 30

/** What the list of a project shows, and what of it was asked for. */
export interface ListView {
  now: Micros
  summary: ListSummary
  filter: CheckFilter
  sort: ReturnType<typeof parseListQuery>['sort']
  checks: readonly ListedCheck[]
  /** cursor of the next page; null on the last */
  next: string | null
  /** of the checks shown, by their ids */
  flips: ReadonlyMap<number, CheckFlip[]>
  /** with their times in the days that are shown */
  windows: readonly TimedWindow[]
  channels: readonly StoredChannel[]
  keys: readonly ListedKey[]
  saved: readonly SavedFilter[]
  /** how many checks the project may have, once it has been told so; else null */
  reached: number | null
}

/** @param pageSize rows at most */
export async function loadList(
  context: Context,
  { project, session }: ProjectWorkspace,
  pageSize: number,
): Promise<ListView> {
  const { db } = context.deps
  const { filter, sort, after } = parseListQuery(context.query)
  await context.deps.barrier.pass('all')
  const now = context.deps.now()
  // Before the rows, so that what changes in between is noticed by the open page.
  const shown = await shownAt(db, project.id, now)
  const summary = summarise(await groupChecks(db, project.id, shown, filter.search), filter)
  const [reached, found, channels, keys, saved] = await Promise.all([
    findReachedLimit(db, project.id),
    listCheckPage(db, project.id, { filter, sort, after, limit: pageSize + 1, shown }),
    listChannels(db, project.id),
    listProjectKeys(db, project.id),
    listSavedFilters(db, { projectId: project.id, userId: session.userId }),
  ])
  const { page: checks, nextCursor: next } = paged(found, pageSize, ({ sortKey, id }) =>
    formatCursor({ key: sortKey, id }),
  )
  const [flips, windows] = await Promise.all([
    listFlipsOfChecks(
      db,
      checks.map(({ id }) => id),
    ),
    windowsOf(db, [project.id]),
  ])
  const timed = timedWindows(windows, now - microsOfSeconds(LIST_DAYS * 86_400), now)
  return { now, summary, filter, sort, checks, next, flips, windows: timed, channels, keys, saved, reached }
}
