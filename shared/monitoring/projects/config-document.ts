import { isDeepStrictEqual } from 'node:util'
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

/** A check's identity, settings and integrations. */
export type ConfiguredCheck = CheckSettings & { uuid: string; integrationIds: readonly string[] }

export const CONFIG_DOCUMENT_VERSION = 1

/** Values of a document: a body of the API has room for so many, as an exported check needs 17 bytes or more for each. */
export const MAX_DOCUMENT_VALUES = 160_000

/** What a project is configured to be, without what happened in it. Members are called as in the API. */
export interface ConfigDocument {
  version: typeof CONFIG_DOCUMENT_VERSION
  channels: { id: string; kind: string; name: string; config: Readonly<Record<string, unknown>> }[]
  checks: (ReturnType<typeof toDocumentedCheck> & { rules?: DocumentedRules })[]
  /** only where the project has some, as `windows` */
  policies?: ReturnType<typeof policyView>[]
  windows?: ReturnType<typeof windowView>[]
}

/** The rules of a check in a document; how pings show a secret only beside that secret, without which it means nothing. */
export type DocumentedRules = Omit<RuleFields, 'ping_auth'> & { ping_auth?: { mode: string; secret: string } }

/** @returns null for a check that has none. @param secret its ping secret; null to leave it out */
export function toDocumentedRules(rules: RuleFields, secret: string | null): DocumentedRules | null {
  const { ping_auth: auth, ...others } = rules
  const { ping_auth: _, ...none } = NO_RULES
  if (auth && secret !== null) return { ...others, ping_auth: { mode: auth.mode, secret } }
  return isDeepStrictEqual(others, none) ? null : others
}

/** Returns a check as the document contains it, without the settings of another kind. */
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

/** Per setting that a document would change, the value it has and the one it would get. */
export type SettingChanges = Record<string, { from: unknown; to: unknown }>

/** What a document differs from the project in. Nothing is ever deleted: what the document does not name stays. */
export interface ImportReport {
  applied: boolean
  channels: ObjectChanges
  checks: ObjectChanges
  /** only of a document that lists some, as `windows` */
  policies?: ObjectChanges
  windows?: ObjectChanges
  /** integrations that checks name and that neither the project nor the document has: not assigned */
  unknownIntegrations: string[]
}

export interface ObjectChanges {
  create: { id: string; name: string }[]
  update: { id: string; name: string; changes: SettingChanges }[]
  unchanged: number
}

/** Returns the settings of a check that a document would change. */
export function changedSettings(current: CheckSettings, wanted: Partial<CheckSettings>): SettingChanges {
  const changes: SettingChanges = {}
  for (const [name] of entriesOf(CHECK_FIELDS)) {
    const [from, to] = [current[name], wanted[name]]
    if (to !== undefined && to !== from) changes[name] = { from, to }
  }
  return changes
}
