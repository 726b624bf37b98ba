import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { channelSettings } from './channel-settings.ts'
import { fromHealthchecks, usesOf } from './healthchecks.ts'
import type { Imported, ImportedSettings } from './imported.ts'

/** A project of a database of Healthchecks. Uuids have dashes, spans are seconds. */
export interface HealthchecksRows {
  project: { code: string; name: string; pingKey: string | null; apiKey: string }
  checks: HealthchecksCheck[]
  channels: HealthchecksChannel[]
  /** unknown columns and migrations, which are not taken */
  warnings: string[]
}

export interface HealthchecksCheck {
  uuid: string
  kind: string
  timeout: number
  grace: number
  status: string
  badgeKey: string | null
  /** uuids of its integrations */
  channels: string[]
  /** columns with the name of their member in the API */
  members: Readonly<Record<string, string | boolean>>
  schedule: string
  tz: string
}

export interface HealthchecksChannel {
  uuid: string
  name: string
  kind: string
  value: string
  isEmailVerified: boolean
  isDisabled: boolean
}

/** Returns a project of a database, with the settings of its integrations. */
export function fromHealthchecksRows({ checks, channels }: HealthchecksRows): Imported {
  const imported = fromHealthchecks({
    checks: objectOf({ checks: checks.map(entryOf) }),
    channels: objectOf({ channels: channels.map(({ uuid: id, name, kind }) => objectOf({ id, name, kind })) }),
    badges: null,
  })
  const settings: Record<string, ImportedSettings> = {}
  const integrationToDo: Record<string, string> = {}
  for (const { uuid, name, kind, value, isEmailVerified, isDisabled } of channels) {
    if (!imported.integrations.some(({ id }) => id === uuid)) continue
    const { config, lacks } = channelSettings(kind, value)
    settings[uuid] = { config, lacks, isDisabled, isEmailVerified: kind !== 'email' || isEmailVerified }
    const named = `integration ${name || kind} (${usesOf(imported.checks, uuid)})`
    if (lacks !== null) integrationToDo[uuid] = `enter ${lacks} of ${named}: the database does not have it`
    else if (kind === 'email' && !isEmailVerified)
      integrationToDo[uuid] = `send the confirmation mail of ${named} again`
  }
  imported.notTaken.push({
    subject: 'badges of tags',
    reason: 'their addresses are signed by the other server; take the new addresses from the page Badges',
  })
  const toDo = ['point the DNS record of the other server to this one, so that ping addresses stay the same']
  return { ...imported, settings, integrationToDo, toDo }
}

/** Returns a check as the API describes it. */
function entryOf({ uuid, kind, timeout, schedule, tz, badgeKey, ...check }: HealthchecksCheck): JsonObject {
  return objectOf({
    ...check.members,
    uuid,
    grace: check.grace,
    status: check.status,
    channels: check.channels.join(','),
    ...(kind === 'simple' ? { timeout } : { schedule, tz }),
    ...(badgeKey !== null && { badge_url: `/b/2/${badgeKey}.svg` }),
  })
}

function objectOf(members: Readonly<Record<string, JsonValue>>): JsonObject {
  return Object.assign(Object.create(null), members)
}
