import { type Micros, microsOfSeconds, toIsoMillis } from '../../time.ts'
import type { CheckSchedule } from '../checks/check.ts'
import type { PingType } from '../checks/state-machine.ts'
import type { NextOccurrence } from '../checks/status.ts'
import { expectedCount, neededCount, type SourceRule } from './source-rule.ts'

/** One machine that reports for a check. */
export interface Source {
  name: string
  /** its last success; null when it has failed since, or never succeeded */
  heardAt: Micros | null
  lastPing: Micros | null
  lastKind: PingType | ''
  /** end of a gap of ours in which it was expected: a success, for its deadline only */
  deadlineExtendedAt: Micros | null
}

/** What is known of the sources of a check. */
export interface Quorum {
  rule: SourceRule
  /** when they became expected; null before the check's first ping */
  expectedFrom: Micros | null
  sources: Source[]
  changed: Set<Source>
}

/** When a source is stale: its own period and grace after its success. @returns null for one that has failed */
export function staleAt(
  check: CheckSchedule,
  { expectedFrom }: Pick<Quorum, 'expectedFrom'>,
  source: Source | null,
  next: NextOccurrence,
): Micros | null {
  if (source?.lastKind === 'fail') return null
  const since = Math.max(source?.heardAt ?? expectedFrom ?? 0, source?.deadlineExtendedAt ?? 0)
  if (since === 0) return null
  const grace = microsOfSeconds(check.graceSeconds)
  if (check.kind === 'simple') return since + microsOfSeconds(check.timeoutSeconds) + grace
  const due = next(check.kind, check.schedule, check.tz, since)
  return due === null ? Number.POSITIVE_INFINITY : due + grace
}

/** The sources that count: expected names, or as many as were asked for, those that were never heard as null. */
export function countedSources({ rule, sources }: Quorum): { name: string; source: Source | null }[] {
  const known = new Map(sources.map((source) => [source.name, source]))
  if (typeof rule.expect !== 'number') return rule.expect.map((name) => ({ name, source: known.get(name) ?? null }))
  const heard = sources.slice(0, rule.expect).map((source) => ({ name: source.name, source }))
  return [...heard, ...Array.from({ length: rule.expect - heard.length }, () => ({ name: '', source: null }))]
}

/**
 * The deadline that breaks the quorum: of those that are needed the latest ones, the earliest.
 * @returns null when it is broken already; Infinity when nothing breaks it by silence
 */
export function quorumDeadline(check: CheckSchedule, quorum: Quorum, next: NextOccurrence): Micros | null {
  const deadlines = countedSources(quorum)
    .map(({ source }) => staleAt(check, quorum, source, next) ?? Number.NEGATIVE_INFINITY)
    .sort((a, b) => b - a)
  const deadline = deadlines[neededCount(quorum.rule) - 1] ?? Number.NEGATIVE_INFINITY
  return deadline === Number.NEGATIVE_INFINITY ? null : deadline
}

/** Whether enough sources report at an instant; the deadline itself is not overdue yet. */
export function hasQuorum(check: CheckSchedule, quorum: Quorum, at: Micros, next: NextOccurrence): boolean {
  const deadline = quorumDeadline(check, quorum, next)
  return deadline !== null && deadline >= at
}

/** Returns whether signals of a source count: not those of an unknown name that cannot join. Without a name they do. */
export function isCounted(quorum: Quorum, name: string): boolean {
  const isKnown = countedSources(quorum).some((counted) => counted.name === name)
  return name === '' || isKnown || hasCapacity(quorum.rule, quorum.sources, name)
}

function hasCapacity({ expect }: SourceRule, sources: readonly Source[], name: string): boolean {
  return typeof expect === 'number' ? sources.length < expect : expect.includes(name)
}

/** Notes what a source said, in place. Unknown names join while there is room; later ones are in the log alone. */
export function noteSource(quorum: Quorum, { name, kind, at }: { name: string; kind: PingType; at: Micros }): void {
  quorum.expectedFrom ??= at
  if (name === '' || (kind !== 'success' && kind !== 'fail')) return
  const source = quorum.sources.find((it) => it.name === name) ?? join(quorum, name)
  if (!source || (source.lastPing !== null && at < source.lastPing)) return
  source.lastPing = at
  source.lastKind = kind
  source.heardAt = kind === 'success' ? at : null
  quorum.changed.add(source)
}

function join(quorum: Quorum, name: string): Source | null {
  const { rule, sources } = quorum
  if (!hasCapacity(rule, sources, name)) return null
  const source: Source = { name, heardAt: null, lastPing: null, lastKind: '', deadlineExtendedAt: null }
  sources.push(source)
  return source
}

/** Silent sources that one sentence names. */
const MAX_NAMED = 10

/** `1 of 3 sources reports, 2 are needed. Silent: web2 (since 12:00), web3 (never).` Times are UTC. */
export function quorumText(check: CheckSchedule, quorum: Quorum, at: Micros, next: NextOccurrence): string {
  const counted = countedSources(quorum)
  const isFresh = ({ source }: { source: Source | null }) =>
    source !== null && source.heardAt !== null && (staleAt(check, quorum, source, next) ?? 0) >= at
  const fresh = counted.filter(isFresh).length
  const needed = neededCount(quorum.rule)
  const silent = counted.filter((it) => !isFresh(it) && it.name !== '')
  const reports = `${fresh} of ${expectedCount(quorum.rule)} sources ${fresh === 1 ? 'reports' : 'report'}`
  const said = `${reports}, ${needed} ${needed === 1 ? 'is' : 'are'} needed.`
  const names = silent.slice(0, MAX_NAMED).map(silence).join(', ')
  const more = silent.length > MAX_NAMED ? ` and ${silent.length - MAX_NAMED} more` : ''
  return silent.length === 0 ? said : `${said} Silent: ${names}${more}.`
}

function silence({ name, source }: { name: string; source: Source | null }): string {
  if (source?.lastKind === 'fail') return `${name} (failed ${clock(source.lastPing)})`
  return source?.heardAt == null ? `${name} (never)` : `${name} (since ${clock(source.heardAt)})`
}

function clock(at: Micros | null): string {
  return at === null ? '' : toIsoMillis(at).slice(11, 16)
}
