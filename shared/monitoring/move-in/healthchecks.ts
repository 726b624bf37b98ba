import { ValidationError } from '../../errors.ts'
import { isUuid } from '../../uuid.ts'
import { CHECK_FIELDS, entriesOf } from '../checks/fields.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { findKind } from '../integrations/kinds.ts'
import {
  type Imported,
  type ImportedCheck,
  type ImportedIntegration,
  isObject,
  type Note,
  type SettingValue,
  textIn,
} from './imported.ts'

/** Answers of the management API of Healthchecks, any version. */
export interface HealthchecksAnswers {
  checks: JsonObject
  /** null if the key may not read it */
  channels: JsonObject | null
  badges: JsonObject | null
}

const HISTORY: Note = {
  subject: 'pings, flips, last_ping, n_pings, project name, members, read-only key',
  reason: 'this service did not observe that history; to keep it, store the answers of GET .../pings/ and .../flips/',
}

/**
 * Returns the project that the API of Healthchecks describes. Checks keep uuid, slug and badge key.
 * @throws ValidationError if the answer is no list of checks, or if the key was read-only
 */
export function fromHealthchecks({ checks, channels, badges }: HealthchecksAnswers): Imported {
  const notTaken: Note[] = []
  const integrations = integrationsOf(channels, notTaken)
  const known = new Set(integrations.map(({ id }) => id))
  const taken = listIn(checks, 'checks').map((entry) => checkOf(entry, known))
  notTaken.push(HISTORY, ...tagBadges(badges))
  const integrationToDo = Object.fromEntries(
    integrations.map(({ id, kind, name }) => [
      id,
      `enter the settings of integration ${name || kind} (${usesOf(taken, id)})`,
    ]),
  )
  const toDo = channels === null ? ['create the integrations by hand: the key could not read them'] : []
  return { source: 'healthchecks', checks: taken, integrations, integrationToDo, notTaken, toDo }
}

function listIn(answer: JsonObject, member: string): JsonObject[] {
  const list = answer[member]
  if (!Array.isArray(list) || !list.every(isObject)) throw new ValidationError(`the answer has no list of ${member}`)
  return list
}

function checkOf(entry: JsonObject, known: ReadonlySet<string>): ImportedCheck {
  // Only newer releases have the member; the address of a check names it in all of them.
  const uuid = textIn(entry, 'uuid') || (/[0-9a-f-]{36}$/.exec(textIn(entry, 'update_url'))?.[0] ?? '')
  if (uuid === '' && typeof entry.unique_key === 'string') {
    throw new ValidationError('this key hides uuids; use the read-write key')
  }
  if (!isUuid(uuid)) throw new ValidationError('the answer has a check without a uuid')
  const badgeKey = /\/b\/[23]\/([0-9a-f-]{36})\./.exec(textIn(entry, 'badge_url'))?.[1]
  const pingUrl = textIn(entry, 'ping_url')
  const named = textIn(entry, 'channels').split(',')
  return {
    key: uuid,
    uuid,
    settings: settingsOf(entry),
    channels: named.filter((id) => known.has(id)).toSorted(),
    isPaused: entry.status === 'paused',
    ...(badgeKey !== undefined && isUuid(badgeKey) && { badgeKey }),
    ...(pingUrl !== '' && { pingUrl }),
  }
}

/** Versions before the keyword filters have `subject` and `subject_fail` only. */
const OLD_KEYWORDS = ['subject', 'subject_fail']

function settingsOf(entry: JsonObject): Record<string, SettingValue> {
  const names = entriesOf(CHECK_FIELDS).flatMap(([, { api }]) => api ?? [])
  const wanted = entry.success_kw === undefined ? [...names, ...OLD_KEYWORDS] : names
  return Object.fromEntries(
    wanted.flatMap((name) => {
      const value = entry[name]
      return isSetting(value) ? [[name, value] as const] : []
    }),
  )
}

function isSetting(value: JsonValue | undefined): value is SettingValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function integrationsOf(answer: JsonObject | null, notTaken: Note[]): ImportedIntegration[] {
  if (!answer) return []
  return listIn(answer, 'channels').flatMap((entry) => {
    const [id, name, kind] = [textIn(entry, 'id'), textIn(entry, 'name'), textIn(entry, 'kind')]
    const known = findKind(kind)
    if (isUuid(id) && known) return [{ id, kind: known.kind, name }]
    notTaken.push({ subject: `integration ${name || id} (${kind})`, reason: 'this service does not have the kind' })
    return []
  })
}

export function usesOf(checks: readonly ImportedCheck[], id: string): string {
  const count = checks.filter(({ channels }) => channels?.includes(id)).length
  return count === 1 ? '1 check' : `${count} checks`
}

function tagBadges(answer: JsonObject | null): Note[] {
  const badges = answer?.badges
  if (!isObject(badges)) return []
  const tags = Object.keys(badges).filter((tag) => tag !== '*')
  if (tags.length === 0) return []
  return [
    {
      subject: `badges of the tags ${tags.join(', ')}`,
      reason: 'their addresses are signed by the other server; take the new addresses from the page Badges',
    },
  ]
}
