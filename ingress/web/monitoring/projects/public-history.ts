import type { Knex } from 'knex'
import { gapsSince, listenersOf } from '#shared/monitoring/availability/gap-store.ts'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { listShownChecks, type ShownCheck } from '#shared/monitoring/checks/shown-store.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import type { Flip } from '#shared/monitoring/flips/filters.ts'
import {
  excludedSpans,
  merged,
  openWindows,
  spansOf,
  timedWindows,
  windowNow,
  without,
} from '#shared/monitoring/maintenance/spans.ts'
import { uncounted } from '#shared/monitoring/maintenance/uptime.ts'
import { listUnknownOfChecks } from '#shared/monitoring/maintenance/uptime-store.ts'
import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { acknowledgementsOf } from '#shared/monitoring/pages/check-list-store.ts'
import { type DownDay, downDays, knownDowntime } from '#shared/monitoring/pages/down-days.ts'
import { listFlipsOfChecks } from '#shared/monitoring/pages/status-history-store.ts'
import { listStatusNotes, type StatusNote } from '#shared/monitoring/pages/status-note-store.ts'
import type { StatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { mapYielding, runYielding } from '#shared/platform/process/time-slices.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import type { CompressedText } from '../../shell/assets.ts'
import { percentUp } from '../checks/scale.ts'

/** Maximum number of checks on a status page. */
const MAX_SHOWN = 200

export interface PublicHistory {
  now: Micros
  shown: {
    check: ShownCheck
    status: ShownStatus
    days: DownDay[]
    /** `99.87 %` of the known time; null before anything is known */
    uptime: string | null
    /** end of current maintenance, if the page shows it */
    maintenanceUntil: Micros | null
    isAcknowledged: boolean
    /** oldest first, without planned maintenance */
    outages: Outage[]
  }[]
  notes: StatusNote[]
  /** since when pings of the shown checks cannot be received; null while they can */
  outageSince: Micros | null
}

/** A history and the texts rendered from it. The keys of `rendered` contain the other inputs of a text. */
export interface SharedHistory {
  history: PublicHistory
  rendered: Map<string, Promise<CompressedText>>
}

interface Outage {
  from: Micros
  until: Micros | null
}

/** @param days number of days, including today */
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
  const historyStart = now - microsOfSeconds(days * 86_400)
  const unknown = await listUnknownOfChecks(
    deps.db,
    checks.map(({ id }) => id),
    historyStart,
    now,
  )
  const acknowledged = await acknowledgementsOf(
    deps.db,
    checks.map(({ id }) => id),
  )
  const windows = await windowsOf(deps.db, [page.projectId])
  const timed = await runYielding(timedWindows(windows, historyStart, now))
  const announced = windows.filter((window) => window.shown)
  const open = await runYielding(openWindows(announced, now))
  const shown = await mapYielding(checks, (check) => {
    const about = { uuid: check.uuid, tags: splitTags(check.tags) }
    const flipsOfCheck = flips.get(check.id) ?? []
    const excluded = excludedSpans(timed, about)
    const planned = spansOf(
      timed.filter(({ window }) => window.shown),
      about,
    )
    const unknownOfCheck = unknown.get(check.id) ?? []
    const bars = downDays(flipsOfCheck, days, now, { excluded, planned, unknown: merged(unknownOfCheck) })
    const since = flipsOfCheck.length === 0 ? null : Math.min(...flipsOfCheck.map(({ at }) => at))
    const known = since === null ? null : knownDowntime(bars, since, now)
    return {
      check,
      status: shownStatus(check, now, nextOccurrence),
      days: bars,
      uptime: known && percentUp(known, known.from, uncounted(excluded, unknownOfCheck, flipsOfCheck)),
      maintenanceUntil: windowNow(open, about)?.until ?? null,
      isAcknowledged: acknowledged.has(check.id),
      outages: outagesOf(flipsOfCheck, historyStart, now, merged([...excluded, ...planned])),
    }
  })
  const [notes, outageSince] = await Promise.all([
    listStatusNotes(deps.db, page.projectId),
    openOutage(
      deps.db,
      checks.map(({ id }) => id),
      now,
    ),
  ])
  return { now, shown, notes, outageSince }
}

/** Returns the beginning of the oldest open coverage gap of the listeners that these checks use; null without one. */
async function openOutage(db: Knex, checkIds: readonly number[], now: Micros): Promise<Micros | null> {
  // Includes open gaps that began before.
  const open = (await gapsSince(db, now)).filter(({ until }) => until === null)
  if (open.length === 0) return null
  const listeners = new Set<string>((await listenersOf(db, checkIds)).values())
  const ours = open.filter(({ listener }) => listeners.has(listener)).map(({ from }) => from)
  return ours.length === 0 ? null : Math.min(...ours)
}

/** Maintenance does not count as an outage. */
function outagesOf(flips: readonly Flip[], since: Micros, now: Micros, planned: readonly WindowTime[]): Outage[] {
  const ordered = flips.toSorted((a, b) => a.at - b.at)
  return ordered.flatMap(({ at, to }, index) => {
    const next = ordered[index + 1]?.at ?? null
    if (to !== 'down' || (next ?? now) < since) return []
    const parts = without({ from: at, until: next ?? now }, planned)
    const [first, last] = [parts[0], parts.at(-1)]
    return first && last ? [{ from: first.from, until: next === null && last.until === now ? null : last.until }] : []
  })
}

function isShown(page: StatusPage, check: ShownCheck): boolean {
  const wanted = splitTags(page.tags)
  const tags = new Set(splitTags(check.tags))
  return wanted.length === 0 || wanted.some((tag) => tags.has(tag))
}
