import { type Policy, policyFor } from '#shared/monitoring/alerting/policy.ts'
import { alertRulesOf, policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { type CheckTimes, goingDownAt, nextPing } from '#shared/monitoring/checks/status.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { listIntegrations, type StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import {
  type OpenWindow,
  openWindows,
  type TimedWindow,
  timedWindows,
  windowNow,
} from '#shared/monitoring/maintenance/spans.ts'
import { listUnknownOfChecks } from '#shared/monitoring/maintenance/uptime-store.ts'
import { isMute, type WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { type StoredWindow, windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import {
  type Acknowledgement,
  type CheckFilter,
  formatCursor,
  type ListSummary,
  parseListQuery,
  type QuietCounts,
  summarise,
} from '#shared/monitoring/pages/check-list.ts'
import {
  acknowledgementsOf,
  countQuiet,
  exhaustedChecks,
  groupChecks,
  type ListedCheck,
  listCheckPage,
  listFingerprint,
  shownAt,
} from '#shared/monitoring/pages/check-list-store.ts'
import { listSavedFilters, type SavedFilter } from '#shared/monitoring/pages/saved-filter-store.ts'
import { type CheckFlip, listFlipsOfChecks } from '#shared/monitoring/pages/status-history-store.ts'
import { findReachedLimit } from '#shared/monitoring/projects/quota-store.ts'
import { type ListedKey, listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { runYielding } from '#shared/platform/process/time-slices.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import type { Context } from '../../shell/context.ts'
import type { ProjectWorkspace } from '../../shell/workspace.ts'

/** Days that the bar of a row shows. */
export const LIST_DAYS = 30

/** Content of a project's check list, with the filter and order that were requested. */
export interface ListView {
  now: Micros
  /** changes when anything in the list may look different */
  fingerprint: string
  summary: ListSummary
  filter: CheckFilter
  sort: ReturnType<typeof parseListQuery>['sort']
  checks: readonly ListedCheck[]
  /** cursor of the next page; null on the last */
  next: string | null
  /** cursor of the page before; null on the first */
  previous: string | null
  /** of the checks shown, by their ids */
  flips: ReadonlyMap<number, CheckFlip[]>
  /** when nothing could be known of them, by id; not merged */
  unknown: ReadonlyMap<number, readonly WindowTime[]>
  /** with their times in the days that are shown */
  windows: readonly TimedWindow[]
  /** maintenance windows in progress */
  open: readonly OpenWindow<StoredWindow>[]
  /** by check id */
  acknowledgements: ReadonlyMap<number, Acknowledgement>
  /** ids of checks whose incident has nothing left to send */
  exhausted: ReadonlySet<number>
  quiet: QuietCounts
  /** the policies that apply, by check id */
  policies: ReadonlyMap<number, Policy>
  integrations: readonly StoredIntegration[]
  keys: readonly ListedKey[]
  saved: readonly SavedFilter[]
  /** maximum number of checks of the project, if it was notified of the limit; else null */
  reached: number | null
}

/**
 * Expects the pings that were answered before to be applied.
 * @param pageSize rows at most
 */
export async function loadList(
  context: Context,
  { project, session }: ProjectWorkspace,
  pageSize: number,
): Promise<ListView> {
  const { db } = context.deps
  const requested = parseListQuery(context.query)
  const windows = await windowsOf(db, [project.id])
  const open = await runYielding(openWindows(windows, context.deps.now()))
  const [rows, quiet, reached, integrations, keys, saved] = await Promise.all([
    loadRows(context.deps, project.id, { ...requested, open }, pageSize),
    countQuiet(db, project.id, open),
    findReachedLimit(db, project.id),
    listIntegrations(db, project.id),
    listProjectKeys(db, project.id),
    listSavedFilters(db, { projectId: project.id, userId: session.userId }),
  ])
  const timed = await runYielding(timedWindows(windows, rows.now - microsOfSeconds(LIST_DAYS * 86_400), rows.now))
  const { filter, sort } = requested
  return { ...rows, filter, sort, windows: timed, open, quiet, integrations, keys, saved, reached }
}

/** Loads rows and counts: the part of the list that pings change. */
async function loadRows(
  { db, now: clock }: Context['deps'],
  projectId: number,
  { filter, sort, after, before, open }: ReturnType<typeof parseListQuery> & Pick<ListView, 'open'>,
  pageSize: number,
): Promise<
  Omit<ListView, 'filter' | 'sort' | 'windows' | 'open' | 'quiet' | 'integrations' | 'keys' | 'saved' | 'reached'>
> {
  const now = clock()
  // The fingerprint is read first, so that the open page notices a change during the other queries.
  const [{ fingerprint }, shown] = await Promise.all([listFingerprint(db, projectId), shownAt(db, projectId, now)])
  const [groups, found] = await Promise.all([
    groupChecks(db, projectId, shown, filter.search),
    listCheckPage(db, projectId, { filter, sort, after, before, limit: pageSize + 1, shown, windows: open }),
  ])
  // Paging back reads the rows that end before a page, so the extra row is the first of them.
  const { checks, hasBefore, hasAfter } = before
    ? { checks: found.slice(-pageSize), hasBefore: found.length > pageSize, hasAfter: true }
    : { checks: found.slice(0, pageSize), hasBefore: after !== null, hasAfter: found.length > pageSize }
  const cursorOf = (check: ListedCheck | undefined) =>
    check && formatCursor({ group: check.sortGroup, key: check.sortKey, id: check.id })
  const next = (hasAfter && cursorOf(checks.at(-1))) || null
  const previous = (hasBefore && cursorOf(checks[0])) || null
  const ids = checks.map(({ id }) => id)
  const [flips, unknown, acknowledgements, exhausted, policies] = await Promise.all([
    listFlipsOfChecks(db, ids),
    listUnknownOfChecks(db, ids, now - microsOfSeconds(LIST_DAYS * 86_400), now),
    acknowledgementsOf(db, ids),
    exhaustedChecks(db, ids),
    policiesOfChecks(db, projectId, checks),
  ])
  const summary = summarise(groups, filter)
  return { now, fingerprint, summary, checks, next, previous, flips, unknown, acknowledgements, exhausted, policies }
}

async function policiesOfChecks(
  db: Context['deps']['db'],
  projectId: number,
  checks: readonly ListedCheck[],
): Promise<Map<number, Policy>> {
  const ids = checks.map(({ id }) => id)
  const [policies, rules] = await Promise.all([policiesOf(db, [projectId]), alertRulesOf(db, ids)])
  const chosen = new Map(rules.map(({ checkId, policyId }) => [checkId, policyId]))
  const found = checks.map(
    ({ id, tags }) => [id, policyFor({ tags, policyId: chosen.get(id) ?? null }, policies)] as const,
  )
  return new Map(found.flatMap(([id, policy]) => (policy ? [[id, policy] as const] : [])))
}

/** A reason for which a check sends no alerts at the moment. */
export type Quiet =
  | { kind: 'muted' | 'maintenance'; until: Micros }
  | { kind: 'acknowledged'; by: string; until: Micros | null }
  | { kind: 'exhausted'; until: null }

export function quietOf({ open, acknowledgements, exhausted }: ListView, check: ListedCheck): Quiet | null {
  const current = windowNow(open, { uuid: check.uuid, tags: splitTags(check.tags) })
  if (current) return { kind: isMute(current.window) ? 'muted' : 'maintenance', until: current.until }
  const acknowledged = acknowledgements.get(check.id)
  if (acknowledged) return { kind: 'acknowledged', ...acknowledged }
  return exhausted.has(check.id) ? { kind: 'exhausted', until: null } : null
}

/** Query parameters that filter or sort a list; the cursor and the message of a finished action are not among them. */
const FILTERING = ['status', 'quiet', 'tag', 'q', 'sort'] as const

/** The address of this list with some parameters replaced; a change of filters leads to the first page. */
export function withQuery(context: Context, changes: Record<string, string | readonly string[] | null>): string {
  const query = new URLSearchParams(context.query)
  for (const name of ['after', 'before', 'from', 'done']) query.delete(name)
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name)
    for (const one of value === null ? [] : typeof value === 'string' ? [value] : value) query.append(name, one)
  }
  const text = query.toString()
  return text === '' ? context.request.path : `${context.request.path}?${text}`
}

/** The filters and the order of an address, in one form; empty when it has none. */
export function listQueryOf(query: URLSearchParams): string {
  const kept = new URLSearchParams()
  for (const name of FILTERING) for (const value of query.getAll(name)) if (value !== '') kept.append(name, value)
  return kept.toString()
}

/** Status of a check in one line: `Down 22 min · failure reported`. */
export interface RowState {
  /** `Down`, `Late`, `Running` ... */
  word: string
  /** start of the status; null if it is unknown or not shown */
  since: Micros | null
  /** why, in two or three words; empty when there is nothing to explain */
  why: string
  /** an instant that belongs to `why`: when it goes down */
  at: Micros | null
  /** when the next ping is expected; null when none is */
  due: Micros | null
  /** when time alone changes the status; null if it does not */
  nextChange: Micros | null
}

/** @param flips the newest known flips of the check, oldest first */
export function rowState(check: CheckTimes, status: ShownStatus, flips: readonly CheckFlip[]): RowState {
  const last = flips.at(-1)
  const due = status === 'up' || status === 'grace' ? nextPing({ ...check, lastStart: null }, nextOccurrence) : null
  const down = status === 'up' || status === 'grace' ? goingDownAt(check, nextOccurrence) : null
  const none = {
    since: last?.at ?? null,
    why: '',
    at: null,
    due,
    nextChange: due === null ? down : Math.min(due, down ?? due),
  }
  switch (status) {
    case 'down':
      return check.status === 'down'
        ? { ...none, word: 'Down', why: last?.reason === 'fail' ? 'failure reported' : 'no ping in time' }
        : {
            ...none,
            word: 'Down',
            since: check.alertAfter,
            why: check.lastStart === null ? 'no ping in time' : 'run took too long',
          }
    case 'grace':
      return { ...none, word: 'Late', since: due, why: 'down', at: down, nextChange: down }
    case 'paused':
      return { ...none, word: 'Paused' }
    case 'new':
      return { ...none, word: 'New', since: null, why: 'waits for its first ping' }
    case 'up':
      if (check.lastStart !== null) return { ...none, word: 'Running', since: check.lastStart }
      return { ...none, word: 'Up' }
  }
}
