import { hash, randomBytes } from 'node:crypto'
import type { ApiEnv } from '../../environment.ts'
import { FAMILIES, type Family } from '../oauth/families.ts'

/** Scopes over the monitoring side, for projects that the key names; they exist on agent keys alone (docs/spec/evidence-families.md#agent-keys). */
export const MONITORING_SCOPES = ['monitoring:read', 'monitoring:write'] as const

/** Scopes that no agent key holds, whoever makes it: a key must not make keys, nor send evidence elsewhere. */
const NEVER = ['agents:manage', 'webhooks:manage']

/** Families in which a tool is metered: a budget of another one limits nothing. */
export const SPENT_BY_TOOLS = ['risk-signals', 'kyb', 'first-financing'] as const satisfies readonly Family[]
export type SpentFamily = (typeof SPENT_BY_TOOLS)[number]

/** What the key may cost in a family; null is no limit. Units, UTC days and months. */
export interface Budget {
  perDay: number | null
  perMonth: number | null
}
export type Budgets = Partial<Record<Family, Budget>>

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567' // RFC 4648 base32
const KEY = /^rsk_(sandbox|live)_([A-Z2-7]{16})_([A-Za-z0-9_-]{43})$/

/** A key that was just made: `key` is shown once, `digest` is what is stored. */
export interface NewAgentKey {
  keyId: string
  key: string
  digest: Buffer
}

/** `rsk_<sandbox|live>_<keyId, 16 base32>_<32 random bytes, base64url>`. */
export function newAgentKey(env: ApiEnv): NewAgentKey {
  const keyId = [...randomBytes(16)].map((byte) => ALPHABET[byte & 31]).join('')
  const key = `${keyPrefix(env, keyId)}_${randomBytes(32).toString('base64url')}`
  return { keyId, key, digest: hash('sha256', key, 'buffer') }
}

/** The part of a key that may be shown and logged. */
export function keyPrefix(env: ApiEnv, keyId: string): string {
  return `rsk_${env === 'SANDBOX' ? 'sandbox' : 'live'}_${keyId}`
}

/** @returns what a text names when it has the form of a key; undefined otherwise */
export function readAgentKey(text: string): { env: ApiEnv; keyId: string; digest: Buffer } | undefined {
  const match = KEY.exec(text)
  if (!match?.[2]) return undefined
  return {
    env: match[1] === 'sandbox' ? 'SANDBOX' : 'PRODUCTION',
    keyId: match[2],
    digest: hash('sha256', text, 'buffer'),
  }
}

/** Scopes that a caller with these may give to a key, in its environment. */
export function grantableScopes(callerScopes: Iterable<string>, env: ApiEnv): Set<string> {
  const scopes = new Set([...callerScopes].filter((scope) => !NEVER.includes(scope)))
  scopes.add('monitoring:read')
  // Checks are always real: what a sandbox key could write would notify people.
  if (env === 'PRODUCTION') scopes.add('monitoring:write')
  return scopes
}

/** @returns whether a name is a family that can be budgeted */
export function isBudgetFamily(name: string): name is Family {
  return FAMILIES.some((family) => family === name)
}
