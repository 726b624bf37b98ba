import { hash, randomBytes } from 'node:crypto'
import type { ApiEnv } from '../../environment.ts'
import { FAMILIES, type Family } from '../oauth/families.ts'

/** Scopes for the projects of an agent key only (docs/spec/evidence-families.md#agent-keys). */
export const MONITORING_SCOPES = ['monitoring:read', 'monitoring:write'] as const

/** Never granted to an agent key, because a key must not create keys or send evidence elsewhere. */
const NEVER = ['agents:manage', 'webhooks:manage']

/** Families in which tools are metered; a budget of another family has no effect. */
export const SPENT_BY_TOOLS = ['risk-signals', 'kyb', 'first-financing'] as const satisfies readonly Family[]
export type SpentFamily = (typeof SPENT_BY_TOOLS)[number]

/** Per UTC day and month; null for no limit. */
export interface Budget {
  perDay: number | null
  perMonth: number | null
}
export type Budgets = Partial<Record<Family, Budget>>

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const KEY = /^rsk_(sandbox|live)_([A-Z2-7]{16})_([A-Za-z0-9_-]{43})$/

/** `key` is shown once; only `digest` is stored. */
export interface NewAgentKey {
  keyId: string
  key: string
  digest: Buffer
}

/** `rsk_<sandbox|live>_<keyId, 16 base32>_<32 random bytes, base64url>` */
export function newAgentKey(env: ApiEnv): NewAgentKey {
  const keyId = [...randomBytes(16)].map((byte) => ALPHABET[byte & 31]).join('')
  const key = `${keyPrefix(env, keyId)}_${randomBytes(32).toString('base64url')}`
  return { keyId, key, digest: hash('sha256', key, 'buffer') }
}

export function keyPrefix(env: ApiEnv, keyId: string): string {
  return `rsk_${env === 'SANDBOX' ? 'sandbox' : 'live'}_${keyId}`
}

export function readAgentKey(text: string): { env: ApiEnv; keyId: string; digest: Buffer } | undefined {
  const match = KEY.exec(text)
  if (!match?.[2]) return undefined
  return {
    env: match[1] === 'sandbox' ? 'SANDBOX' : 'PRODUCTION',
    keyId: match[2],
    digest: hash('sha256', text, 'buffer'),
  }
}

export function grantableScopes(callerScopes: Iterable<string>, env: ApiEnv): Set<string> {
  const scopes = new Set([...callerScopes].filter((scope) => !NEVER.includes(scope)))
  scopes.add('monitoring:read')
  // Checks are always real: writes of a sandbox key would trigger notifications.
  if (env === 'PRODUCTION') scopes.add('monitoring:write')
  return scopes
}

export function isBudgetFamily(name: string): name is Family {
  return FAMILIES.some((family) => family === name)
}
