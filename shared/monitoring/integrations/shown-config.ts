import { ValidationError } from '../../errors.ts'
import type { IntegrationKind } from './kind.ts'
import { group } from './kinds/other.ts'
import { webhook } from './kinds/webhook.ts'

export type ConfigObject = Readonly<Record<string, unknown>>

export function shownConfig(kind: Pick<IntegrationKind, 'secretFields'>, config: ConfigObject): ConfigObject {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !kind.secretFields.includes(name)))
}

/**
 * A stored secret is only sent to its previous origin, because a person who may change the URL could otherwise read
 * it. Null deletes a secret. @throws ValidationError if a stored secret would be sent to another origin
 */
export function withStoredSecrets(
  kind: Pick<IntegrationKind, 'secretFields' | 'readerOf'>,
  input: ConfigObject,
  stored: ConfigObject,
): ConfigObject {
  const isSecret = (name: string) => kind.secretFields.includes(name)
  const added = Object.entries(stored).filter(([name]) => isSecret(name) && !Object.hasOwn(input, name))
  const members = Object.entries(input).filter(([name, value]) => value !== null || !isSecret(name))
  const whole = Object.fromEntries([...added, ...members])
  for (const [name, value] of added) {
    const reader = kind.readerOf(whole, name)
    if (isEmpty(value) || isSameOrigin(reader, kind.readerOf(stored, name))) continue
    // Without a URL, the secret is deleted together with it.
    if (reader === '') delete whole[name]
    else throw mustBeGivenAgain(`config.${name}`)
  }
  return whole
}

function mustBeGivenAgain(path: string): ValidationError {
  const message = `${path} must be sent again or set to null, because it would be sent to another origin than before`
  return new ValidationError(message, [{ path, code: 'REQUIRED', message }])
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

function isSameOrigin(a: string, b: string): boolean {
  return a === b || (URL.parse(a)?.origin ?? a) === (URL.parse(b)?.origin ?? b)
}

/** Kinds that create a record or run a command per check, so that they need one message per check. */
const STORING_KINDS: ReadonlySet<string> = new Set([
  'github',
  'opsgenie',
  'pagertree',
  'pd',
  'shell',
  'spike',
  'trello',
  'victorops',
])
/** The recovery closes their record in an outside system. */
const CLOSED_BY_RECOVERY: ReadonlySet<string> = new Set([
  'opsgenie',
  'pagertree',
  'pd',
  'spike',
  'victorops',
  'webhook',
])
/** A webhook with this placeholder accepts digests. */
const GROUP_PLACEHOLDER = '$GROUP_JSON'

export function takesDigests(kind: string, config: unknown): boolean {
  if (kind !== webhook.kind) return !STORING_KINDS.has(kind)
  return JSON.stringify(config ?? null).includes(GROUP_PLACEHOLDER)
}

export function keepsRecord(kind: string): boolean {
  return CLOSED_BY_RECOVERY.has(kind)
}

export function membersOf(kind: string, config: unknown): readonly string[] | null {
  if (kind !== group.kind) return null
  const parsed = group.parse(config)
  return parsed.ok ? parsed.config.channels : []
}
