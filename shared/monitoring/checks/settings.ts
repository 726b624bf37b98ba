import { ValidationError } from '../../errors.ts'
import { guessKind, isValidSchedule } from '../schedules/schedule.ts'
import type { Check, CheckFilters, CheckSchedule } from './check.ts'
import { slugify } from './slug.ts'
import type { CheckSpec } from './spec.ts'

/** What create and update may set, channels aside. */
export type CheckSettings = CheckSchedule & CheckFilters & Pick<Check, 'name' | 'slug' | 'tags' | 'desc'>

/** A check about which the request says nothing (the API contract's defaults). */
export const DEFAULT_SETTINGS: Readonly<CheckSettings> = Object.freeze({
  name: '',
  slug: '',
  tags: '',
  desc: '',
  kind: 'simple',
  timeoutSeconds: 86_400,
  graceSeconds: 3600,
  schedule: '',
  tz: 'UTC',
  manualResume: false,
  methods: '',
  startKw: '',
  successKw: '',
  failureKw: '',
  filterSubject: false,
  filterBody: false,
  filterHttpBody: false,
  filterDefaultFail: false,
})

export interface ApplyOptions {
  /** versions 1 and 2 of the API derive the slug from a given name; version 3 never does */
  slugFromName: boolean
}

/**
 * Returns the changes of a valid request to a check (docs/spec/monitoring.md#create-and-update); null means that the check is created, and
 * answers all settings. Whoever stores the change also recomputes alertAfter (state-machine.ts).
 * @throws ValidationError if the schedule never occurs in the check's zone, of which the request may name only one
 */
export function applySpec(current: null, spec: CheckSpec, options: ApplyOptions): CheckSettings
export function applySpec(current: CheckSettings, spec: CheckSpec, options: ApplyOptions): Partial<CheckSettings>
export function applySpec(
  current: CheckSettings | null,
  spec: CheckSpec,
  options: ApplyOptions,
): Partial<CheckSettings> {
  const changes = {
    ...requestedChanges(spec),
    ...namingChanges(spec, options),
    ...scheduleChanges(spec),
    ...keywordChanges(current ?? DEFAULT_SETTINGS, spec),
  }
  requireOccurrence({ ...DEFAULT_SETTINGS, ...current, ...changes }, spec)
  return current === null ? { ...DEFAULT_SETTINGS, ...changes } : changes
}

function requireOccurrence({ kind, schedule, tz }: CheckSettings, spec: CheckSpec): void {
  if (kind === 'simple' || (spec.schedule === undefined && spec.tz === undefined)) return
  if (!isValidSchedule(schedule, tz)) {
    throw new ValidationError('json validation error: schedule is not a valid cron or OnCalendar expression')
  }
}

function requestedChanges(spec: CheckSpec): Partial<CheckSettings> {
  return {
    ...(spec.tags !== undefined && { tags: spec.tags }),
    ...(spec.desc !== undefined && { desc: spec.desc }),
    ...(spec.graceSeconds !== undefined && { graceSeconds: spec.graceSeconds }),
    ...(spec.manualResume !== undefined && { manualResume: spec.manualResume }),
    ...(spec.methods !== undefined && { methods: spec.methods }),
    ...(spec.startKw !== undefined && { startKw: spec.startKw }),
    ...(spec.filterBody !== undefined && { filterBody: spec.filterBody }),
    ...(spec.filterHttpBody !== undefined && { filterHttpBody: spec.filterHttpBody }),
    ...(spec.filterDefaultFail !== undefined && { filterDefaultFail: spec.filterDefaultFail }),
  }
}

function namingChanges(spec: CheckSpec, options: ApplyOptions): Partial<CheckSettings> {
  return {
    ...(spec.name !== undefined && { name: spec.name }),
    ...(spec.name !== undefined && options.slugFromName && { slug: slugify(spec.name) }),
    ...(spec.slug !== undefined && { slug: spec.slug }),
  }
}

/** A timeout beside a schedule is not even stored. A zone is, whatever the kind: a later schedule will use it. */
function scheduleChanges(spec: CheckSpec): Partial<CheckSettings> {
  const zone = spec.tz === undefined ? {} : { tz: spec.tz }
  if (spec.schedule !== undefined) return { ...zone, kind: guessKind(spec.schedule), schedule: spec.schedule }
  if (spec.timeoutSeconds === undefined) return zone
  return { ...zone, kind: 'simple', timeoutSeconds: spec.timeoutSeconds }
}

/** The deprecated pair comes first, so that the fields which replaced it win. */
function keywordChanges(current: CheckSettings, spec: CheckSpec): Partial<CheckSettings> {
  const changes: Partial<CheckSettings> = {}
  if (spec.subject !== undefined) {
    changes.successKw = spec.subject
    changes.filterSubject = spec.subject !== '' || current.failureKw !== ''
  }
  if (spec.subjectFail !== undefined) {
    changes.failureKw = spec.subjectFail
    changes.filterSubject = spec.subjectFail !== '' || (changes.successKw ?? current.successKw) !== ''
  }
  if (spec.successKw !== undefined) changes.successKw = spec.successKw
  if (spec.failureKw !== undefined) changes.failureKw = spec.failureKw
  if (spec.filterSubject !== undefined) changes.filterSubject = spec.filterSubject
  return changes
}

/** What an existing check must equal to be the one that a create request means. */
export type UniqueCriteria = Partial<Pick<CheckSettings, 'name' | 'slug' | 'tags' | 'timeoutSeconds' | 'graceSeconds'>>

/**
 * Criteria by which a create request finds an existing check (docs/spec/monitoring.md#create-and-update): all criteria exactly, within the
 * project, the oldest of several; the timeout of a cron check is its hidden stored one.
 * @returns null when there is nothing to look for: create
 */
export function uniqueCriteria(spec: CheckSpec): UniqueCriteria | null {
  if (spec.unique === undefined || spec.unique.length === 0) return null
  const criteria: UniqueCriteria = {}
  for (const field of spec.unique) {
    if (field === 'name' && spec.name !== undefined) criteria.name = spec.name
    else if (field === 'slug' && spec.slug !== undefined) criteria.slug = spec.slug
    else if (field === 'tags' && spec.tags !== undefined) criteria.tags = spec.tags
    else if (field === 'timeout' && spec.timeoutSeconds !== undefined) criteria.timeoutSeconds = spec.timeoutSeconds
    else if (field === 'grace' && spec.graceSeconds !== undefined) criteria.graceSeconds = spec.graceSeconds
    else return null
  }
  return criteria
}
