import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { ConflictError, type FieldError, NotFoundError, ValidationError } from '../../errors.ts'
import type { FieldCode } from '../../field-codes.ts'
import { insertAudit } from '../accounts/audit-store.ts'
import { lockOrganisation } from '../accounts/store.ts'
import { type Actor, auditedActor } from '../actor.ts'
import { type Budgets, grantableScopes, newAgentKey } from '../agents/agent-key.ts'
import {
  type AgentKey,
  countActiveAgentKeys,
  revokeAgentKey as endAgentKey,
  insertAgentKey,
} from '../agents/key-store.ts'

const MAX_KEYS = 200
const DEFAULT_DAYS = 365
export const MAX_DAYS = 3 * 365
const DAY_MS = 86_400_000

export interface AgentKeyInput {
  name: string
  scopes: readonly string[]
  env?: ApiEnv | undefined
  expiresAt?: string | undefined
  dailyLimit?: number | null | undefined
  budgets?: Budgets | undefined
  projects?: readonly string[] | undefined
}

/** The maker's environment and scopes limit those of the key. */
interface Maker {
  organisationId: number
  env: ApiEnv
  scopes: Iterable<string>
}

/**
 * A subset of the maker's scopes (docs/spec/evidence-families.md#agent-keys). @throws ValidationError; ConflictError
 */
export async function createAgentKey(
  tx: Knex,
  actor: Actor,
  maker: Maker,
  input: AgentKeyInput,
  now: number,
): Promise<{ stored: AgentKey; key: string }> {
  const scopes = [...new Set(input.scopes)].toSorted()
  const errors = [...scopeErrors(scopes, maker, input), ...lifeErrors(input, maker, now)]
  if (errors.length > 0) throw new ValidationError('the key cannot be created: see errors', errors)
  await lockOrganisation(tx, maker.organisationId)
  if ((await countActiveAgentKeys(tx, maker)) >= MAX_KEYS) {
    const message = `an organisation has at most ${MAX_KEYS} agent keys in an environment`
    throw new ConflictError(message, [{ path: 'name', code: 'TOO_MANY', message }])
  }
  const { keyId, key, digest } = newAgentKey(maker.env)
  const projects = [...new Set(input.projects ?? [])]
  const audited = auditedActor(actor)
  const stored = await insertAgentKey(tx, {
    organisationId: maker.organisationId,
    env: maker.env,
    keyId,
    digest,
    name: input.name,
    scopes,
    dailyLimit: input.dailyLimit ?? null,
    budgets: input.budgets ?? {},
    projects,
    madeBy: audited.actor,
    expiresAt: input.expiresAt === undefined ? new Date(now + DEFAULT_DAYS * DAY_MS) : new Date(input.expiresAt),
  })
  // Projects of other organisations and missing ones give the same error; the transaction rolls the key back.
  if (stored.projects.length !== projects.length) {
    throw new ValidationError('the key cannot be created: see errors', [
      fault('projects', 'NOT_FOUND', 'projects must be projects of this organisation'),
    ])
  }
  const target = `${input.name} (${keyId})`
  await insertAudit(tx, { ...audited, organisationId: maker.organisationId, action: 'agent-key.created', target })
  return { stored, key }
}

function scopeErrors(scopes: readonly string[], maker: Maker, input: AgentKeyInput): FieldError[] {
  const grantable = grantableScopes(maker.scopes, maker.env)
  const errors = scopes
    .filter((scope) => !grantable.has(scope))
    .map((scope) => fault('scopes', 'NOT_PERMITTED', `scopes must not contain ${scope.replace(/[^\x21-\x7e]/g, '?')}`))
  if (!scopes.includes('agents:invoke')) errors.push(fault('scopes', 'REQUIRED', 'scopes must contain agents:invoke'))
  const watches = scopes.some((scope) => scope.startsWith('monitoring:'))
  if (watches && (input.projects ?? []).length === 0) {
    errors.push(fault('projects', 'REQUIRED', 'projects is required with a monitoring scope'))
  }
  return errors
}

function lifeErrors({ env, expiresAt }: AgentKeyInput, maker: Maker, now: number): FieldError[] {
  const errors: FieldError[] = []
  if (env !== undefined && env !== maker.env) errors.push(fault('env', 'NOT_PERMITTED', `env must be ${maker.env}`))
  const expires = expiresAt === undefined ? now + DAY_MS : Date.parse(expiresAt)
  if (expires <= now) errors.push(fault('expiresAt', 'TOO_EARLY', 'expiresAt must be in the future'))
  if (expires > now + MAX_DAYS * DAY_MS) {
    errors.push(fault('expiresAt', 'TOO_LATE', `expiresAt must be within ${MAX_DAYS} days`))
  }
  return errors
}

function fault(path: string, code: FieldCode, message: string): FieldError {
  return { path, code, message }
}

/** Idempotent, within five seconds (docs/spec/evidence-families.md#agent-keys). @throws NotFoundError */
export async function revokeAgentKey(
  tx: Knex,
  actor: Actor,
  owner: { organisationId: number; env: ApiEnv },
  keyId: string,
): Promise<void> {
  if (!(await endAgentKey(tx, owner, keyId))) throw new NotFoundError('agent key not found')
  const { organisationId } = owner
  await insertAudit(tx, { ...auditedActor(actor), organisationId, action: 'agent-key.revoked', target: keyId })
}
