import { ValidationError } from '../../errors.ts'
import { guessKind, isValidSchedule } from '../schedules/schedule.ts'
import { CHECK_FIELDS, type CheckSettings, mapFields } from './fields.ts'
import { slugify } from './slug.ts'
import type { CheckSpec } from './spec.ts'

/** The defaults of the API contract. */
export const DEFAULT_SETTINGS = Object.freeze(mapFields(CHECK_FIELDS, ({ initial }) => initial) as CheckSettings)

export interface ApplyOptions {
  /** versions 1 and 2 of the API derive the slug from the name of the request; version 3 does not */
  slugFromName: boolean
}

/**
 * Returns changes, or all settings for a new check (docs/spec/monitoring.md#create-and-update). The caller must also
 * recompute alertAfter (state-machine.ts). @throws ValidationError if the schedule never occurs in the check's zone
 */
export function applySpec(current: null, spec: CheckSpec, options: ApplyOptions): CheckSettings
export function applySpec(current: CheckSettings, spec: CheckSpec, options: ApplyOptions): Partial<CheckSettings>
export function applySpec(
  current: CheckSettings | null,
  spec: CheckSpec,
  { slugFromName }: ApplyOptions,
): Partial<CheckSettings> {
  const { channels: _, unique: __, subject, subjectFail, schedule, timeoutSeconds, ...others } = spec
  const changes = {
    // The deprecated pair comes first, so that the fields which replaced it win.
    ...subjectChanges(current ?? DEFAULT_SETTINGS, { subject, subjectFail }),
    ...(slugFromName && spec.name !== undefined && { slug: slugify(spec.name) }),
    ...others,
    ...scheduleChanges({ schedule, timeoutSeconds }),
  }
  requireOccurrence({ ...DEFAULT_SETTINGS, ...current, ...changes }, spec)
  return current === null ? { ...DEFAULT_SETTINGS, ...changes } : changes
}

type Requested<Name extends keyof CheckSpec> = { [Key in Name]: CheckSpec[Key] | undefined }

/** A timeout beside a schedule is not stored. */
function scheduleChanges(requested: Requested<'schedule' | 'timeoutSeconds'>): Partial<CheckSettings> {
  const { schedule, timeoutSeconds } = requested
  if (schedule !== undefined) return { kind: guessKind(schedule), schedule }
  return timeoutSeconds === undefined ? {} : { kind: 'simple', timeoutSeconds }
}

function subjectChanges(
  current: CheckSettings,
  { subject, subjectFail }: Requested<'subject' | 'subjectFail'>,
): Partial<CheckSettings> {
  const changes: Partial<CheckSettings> = {}
  if (subject !== undefined) {
    changes.successKw = subject
    changes.filterSubject = subject !== '' || current.failureKw !== ''
  }
  if (subjectFail !== undefined) {
    changes.failureKw = subjectFail
    changes.filterSubject = subjectFail !== '' || (changes.successKw ?? current.successKw) !== ''
  }
  return changes
}

function requireOccurrence({ kind, schedule, tz }: CheckSettings, spec: CheckSpec): void {
  if (kind === 'simple' || (spec.schedule === undefined && spec.tz === undefined)) return
  if (!isValidSchedule(schedule, tz)) {
    throw new ValidationError('json validation error: schedule is not a valid cron or OnCalendar expression')
  }
}

/** An existing check must have these values for a create request to update it. */
export type UniqueCriteria = Partial<Pick<CheckSettings, 'name' | 'slug' | 'tags' | 'timeoutSeconds' | 'graceSeconds'>>

/** Null if the request must create a check (docs/spec/monitoring.md#upsert). */
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
