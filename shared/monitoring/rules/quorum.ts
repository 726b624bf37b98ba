import { type Micros, microsOfSeconds, toIsoMillis } from '../../time.ts'
import type { CheckSchedule, NextOccurrence } from '../checks/check.ts'
import { countedAt } from '../checks/early.ts'
import type { PingType } from '../checks/state-machine.ts'
import { expectedCount, neededCount, type SourceRule } from './source-rule.ts'

export interface Source {
  name: string
  /** last success; null if it failed since */
  heardAt: Micros | null
  lastPing: Micros | null
  lastKind: PingType | ''
  /** end of a coverage gap in which it was expected; counts as a success for its deadline */
  deadlineExtendedAt: Micros | null
}

export interface Quorum {
  rule: SourceRule
  /** when they became expected; null before the check's first ping */
  expectedFrom: Micros | null
  sources: Source[]
  changed: Set<Source>
}

/** One period and grace after its success; null if it failed. */
export function staleAt(
  check: CheckSchedule,
  { expectedFrom }: Pick<Quorum, 'expectedFrom'>,
  source: Source | null,
  next: NextOccurrence,
): Micros | null {
  if (source?.lastKind === 'fail') return null
  const success = source?.heardAt ?? null
  const counted = success === null ? (expectedFrom ?? 0) : countedAt(check, { at: success, duration: null }, next)
  const since = Math.max(counted, source?.deadlineExtendedAt ?? 0)
  if (since === 0) return null
  const grace = microsOfSeconds(check.graceSeconds)
  if (check.kind === 'simple') return since + microsOfSeconds(check.timeoutSeconds) + grace
  const due = next(check.kind, check.schedule, check.tz, since)
  return due === null ? Number.POSITIVE_INFINITY : due + grace
}

/** Contains null for sources that never reported. */
export function countedSources({ rule, sources }: Quorum): { name: string; source: Source | null }[] {
  const known = new Map(sources.map((source) => [source.name, source]))
  if (typeof rule.expect !== 'number') return rule.expect.map((name) => ({ name, source: known.get(name) ?? null }))
  const heard = sources.slice(0, rule.expect).map((source) => ({ name: source.name, source }))
  return [...heard, ...Array.from({ length: rule.expect - heard.length }, () => ({ name: '', source: null }))]
}

/** The n-th latest deadline of the sources. Null if broken already; Infinity if no timeout can break it. */
export function quorumDeadline(check: CheckSchedule, quorum: Quorum, next: NextOccurrence): Micros | null {
  const deadlines = countedSources(quorum)
    .map(({ source }) => staleAt(check, quorum, source, next) ?? Number.NEGATIVE_INFINITY)
    .sort((a, b) => b - a)
  const deadline = deadlines[neededCount(quorum.rule) - 1] ?? Number.NEGATIVE_INFINITY
  return deadline === Number.NEGATIVE_INFINITY ? null : deadline
}

/** The deadline itself is not overdue yet. */
export function hasQuorum(check: CheckSchedule, quorum: Quorum, at: Micros, next: NextOccurrence): boolean {
  const deadline = quorumDeadline(check, quorum, next)
  return deadline !== null && deadline >= at
}

/** Returns false for an unknown source that cannot join. Pings without a name count. */
export function isCounted(quorum: Quorum, name: string): boolean {
  const isKnown = countedSources(quorum).some((counted) => counted.name === name)
  return name === '' || isKnown || hasCapacity(quorum.rule, quorum.sources, name)
}

function hasCapacity({ expect }: SourceRule, sources: readonly Source[], name: string): boolean {
  return typeof expect === 'number' ? sources.length < expect : expect.includes(name)
}

/** Changes `quorum` in place. An unknown source joins while fewer than expected are known. */
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
  const summary = `${reports}, ${needed} ${needed === 1 ? 'is' : 'are'} needed.`
  const names = silent.slice(0, MAX_NAMED).map(silence).join(', ')
  const more = silent.length > MAX_NAMED ? ` and ${silent.length - MAX_NAMED} more` : ''
  return silent.length === 0 ? summary : `${summary} Silent: ${names}${more}.`
}

function silence({ name, source }: { name: string; source: Source | null }): string {
  if (source?.lastKind === 'fail') return `${name} (failed ${clock(source.lastPing)})`
  return source?.heardAt == null ? `${name} (never)` : `${name} (since ${clock(source.heardAt)})`
}

function clock(at: Micros | null): string {
  return at === null ? '' : toIsoMillis(at).slice(11, 16)
}
