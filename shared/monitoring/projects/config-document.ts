import { isDeepStrictEqual } from 'node:util'
import { toIsoSeconds } from '../../time.ts'
import type { policyView } from '../alerting/policy.ts'
import { NO_RULES, type RuleFields } from '../alerting/read-policy.ts'
import {
  ACCEPTANCE_FIELDS,
  CHECK_FIELDS,
  type CheckSettings,
  entriesOf,
  IDENTITY_FIELDS,
  KEYWORD_FIELDS,
  toApi,
} from '../checks/fields.ts'
import type { windowView } from '../maintenance/window.ts'
import { scheduleView } from '../on-call/read-schedule.ts'
import type { Override, ScheduleFields } from '../on-call/schedule.ts'

export type ConfiguredCheck = CheckSettings & { uuid: string; integrationIds: readonly string[] }

export const CONFIG_DOCUMENT_VERSION = 1

/** Maximum number of values. It fits the body limit of the API, because an exported check has at least 17 bytes per value. */
export const MAX_DOCUMENT_VALUES = 160_000

/** Excludes history. Member names are those of the API. */
export interface ConfigDocument {
  version: typeof CONFIG_DOCUMENT_VERSION
  channels: { id: string; kind: string; name: string; config: Readonly<Record<string, unknown>> }[]
  checks: (ReturnType<typeof toDocumentedCheck> & { rules?: DocumentedRules })[]
  /** absent if the project has none, like `windows` */
  schedules?: ReturnType<typeof documentedSchedule>[]
  policies?: ReturnType<typeof policyView>[]
  windows?: ReturnType<typeof windowView>[]
}

/** `ping_auth` is present only together with its secret. */
export type DocumentedRules = Omit<RuleFields, 'ping_auth'> & { ping_auth?: { mode: string; secret: string } }

/** Returns null for a check without rules. */
export function toDocumentedRules(rules: RuleFields, secret: string | null): DocumentedRules | null {
  const { ping_auth: auth, ...others } = rules
  const { ping_auth: _, ...none } = NO_RULES
  if (auth && secret !== null) return { ...others, ping_auth: { mode: auth.mode, secret } }
  return isDeepStrictEqual(others, none) ? null : others
}

/** Omits the settings of other kinds. */
export function toDocumentedCheck(check: ConfiguredCheck) {
  return {
    uuid: check.uuid,
    ...toApi(IDENTITY_FIELDS, check),
    ...(check.kind === 'simple' ? { timeout: check.timeoutSeconds } : { schedule: check.schedule, tz: check.tz }),
    grace: check.graceSeconds,
    ...toApi(ACCEPTANCE_FIELDS, check),
    ...toApi(KEYWORD_FIELDS, check),
    channels: check.integrationIds.toSorted().join(','),
  }
}

/** Swaps are exported as the overrides that they created. */
export function documentedSchedule(
  schedule: ScheduleFields & { uuid: string },
  overrides: readonly (Override & { uuid: string; note: string })[],
) {
  return {
    id: schedule.uuid,
    ...scheduleView(schedule),
    overrides: overrides.map(({ uuid, person, replaces, start, end, note }) => ({
      ...{ id: uuid, person, replaces, start: toIsoSeconds(start), end: toIsoSeconds(end), note },
    })),
  }
}

export type SettingChanges = Record<string, { from: unknown; to: unknown }>

/** An import deletes nothing. */
export interface ImportReport {
  applied: boolean
  channels: ObjectChanges
  checks: ObjectChanges
  schedules?: ObjectChanges
  policies?: ObjectChanges
  windows?: ObjectChanges
  /** named by checks but missing, so not assigned */
  unknownIntegrations: string[]
  /** addresses that are not members; absent if there are none */
  unknownPeople?: string[]
}

export interface ObjectChanges {
  create: { id: string; name: string }[]
  update: { id: string; name: string; changes: SettingChanges }[]
  unchanged: number
}

export function changedSettings(current: CheckSettings, wanted: Partial<CheckSettings>): SettingChanges {
  const changes: SettingChanges = {}
  for (const [name] of entriesOf(CHECK_FIELDS)) {
    const [from, to] = [current[name], wanted[name]]
    if (to !== undefined && to !== from) changes[name] = { from, to }
  }
  return changes
}
