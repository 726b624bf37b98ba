import type { JsonObject, JsonValue } from '../checks/json-body.ts'

/** Entries of one import. */
export const MAX_IMPORTED = 5_000

export type Source = 'healthchecks' | 'uptime-kuma' | 'cronitor' | 'crontab'

export type SettingValue = string | number | boolean

/** A check of another monitor, in our terms. */
export interface ImportedCheck {
  /** identifies the check in its source, so that the next import finds it again */
  key: string
  /** null if the source has none; the import then derives one from the key */
  uuid: string | null
  /** settings by the names of the API; other settings are not compared */
  settings: Readonly<Record<string, SettingValue>>
  /** ids of integrations; absent if the source does not assign any */
  channels?: readonly string[]
  /** limit of the duration; stored when the check is created, and not compared later */
  rules?: { run: { max: number } }
  isPaused: boolean
  badgeKey?: string
  /** token of its push address in Uptime Kuma */
  pushToken?: string
  /** the present ping address */
  pingUrl?: string
}

/** An integration of the source; its settings are apart, because they contain secrets. */
export interface ImportedIntegration {
  id: string
  kind: string
  name: string
}

/** Settings of an integration, from a source that shows them. */
export interface ImportedSettings {
  config: Readonly<Record<string, unknown>>
  /** settings that the source does not have; the integration then stays off until a member enters them */
  lacks: string | null
  /** e-mail: the recipient confirmed in the source */
  isEmailVerified: boolean
  isDisabled: boolean
}

/** An entry that is not taken over, with the reason. */
export interface Note {
  subject: string
  reason: string
}

/** The result of an importer: a pure function of the answers or files of another monitor. */
export interface Imported {
  source: Source
  checks: ImportedCheck[]
  integrations: ImportedIntegration[]
  /** by the id of an integration; never part of a report */
  settings?: Readonly<Record<string, ImportedSettings>>
  /** next step for an integration that is taken, by its id */
  integrationToDo?: Readonly<Record<string, string>>
  notTaken: Note[]
  toDo: string[]
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.getPrototypeOf(value) === null
}

/** Returns a text member; an empty text if it is absent or has another type. */
export function textIn(entry: JsonObject, member: string): string {
  const value = entry[member]
  return typeof value === 'string' ? value : ''
}
