import { ValidationError } from '../../errors.ts'
import type { IntegrationKind } from './kind.ts'
import { group } from './kinds/other.ts'
import { webhook } from './kinds/webhook.ts'

export type ConfigObject = Readonly<Record<string, unknown>>

/** A configuration as it may be shown: without the members that are written and never shown again. */
export function shownConfig(kind: Pick<IntegrationKind, 'secretFields'>, config: ConfigObject): ConfigObject {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !kind.secretFields.includes(name)))
}

/**
 * A configuration as given, its missing secret members taken from the stored one: what was shown can be sent back. A
 * secret is kept only for the origin that has it already, since whoever may change an address could else read it
 * there; a secret given as null is dropped.
 * @throws ValidationError that names a stored secret which is to go to another origin and was not given again
 */
export function withStoredSecrets(
  kind: Pick<IntegrationKind, 'secretFields' | 'readerOf'>,
  given: ConfigObject,
  stored: ConfigObject,
): ConfigObject {
  const isSecret = (name: string) => kind.secretFields.includes(name)
  const kept = Object.entries(stored).filter(([name]) => isSecret(name) && !Object.hasOwn(given, name))
  const said = Object.entries(given).filter(([name, value]) => value !== null || !isSecret(name))
  const whole = Object.fromEntries([...kept, ...said])
  for (const [name, value] of kept) {
    const reader = kind.readerOf(whole, name)
    if (isEmpty(value) || isSameOrigin(reader, kind.readerOf(stored, name))) continue
    // Without an address it is sent nowhere: it goes with the address that it belonged to.
    if (reader === '') delete whole[name]
    else throw mustBeGivenAgain(`config.${name}`)
  }
  return whole
}

function mustBeGivenAgain(path: string): ValidationError {
  const message = `${path} must be given again, or as null, because it would be sent to another address than before`
  return new ValidationError(message, [{ path, code: 'REQUIRED', message }])
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

function isSameOrigin(a: string, b: string): boolean {
  return a === b || (URL.parse(a)?.origin ?? a) === (URL.parse(b)?.origin ?? b)
}

/** Kinds that keep a record per check in an outside system, or run a command for one: many checks mean nothing to them. */
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
/** Kinds that open something in an outside system, which the recovery closes. */
const OPENED: ReadonlySet<string> = new Set(['opsgenie', 'pagertree', 'pd', 'spike', 'victorops', 'webhook'])
/** What a webhook says that takes a message about many checks as one. */
const GROUP_PLACEHOLDER = '$GROUP_JSON'

/** Whether one message may stand for many checks: people read it, or the webhook asks for their list. */
export function takesDigests(kind: string, config: unknown): boolean {
  if (kind !== webhook.kind) return !STORING_KINDS.has(kind)
  return JSON.stringify(config ?? null).includes(GROUP_PLACEHOLDER)
}

/** Whether an integration of a kind has something open for a check that is down, which is to be closed. */
export function keepsRecord(kind: string): boolean {
  return OPENED.has(kind)
}

/** The integrations that a group passes messages on to, by uuid; null for other kinds. */
export function membersOf(kind: string, config: unknown): readonly string[] | null {
  if (kind !== group.kind) return null
  const parsed = group.parse(config)
  return parsed.ok ? parsed.config.channels : []
}
