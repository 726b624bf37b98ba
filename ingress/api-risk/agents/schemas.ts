import { z } from 'zod'
import { isBudgetFamily, keyPrefix } from '#shared/tenancy/agents/agent-key.ts'
import type { ListedAgentCall } from '#shared/tenancy/agents/call-store.ts'
import type { AgentKey } from '#shared/tenancy/agents/key-store.ts'
import { rule } from '#shared/validation.ts'

const Amount = z.int().min(0).max(1_000_000_000)
const BudgetSchema = z.strictObject({
  perDay: Amount.nullable().default(null),
  perMonth: Amount.nullable().default(null),
})

/** One trimmed printable line of 1 to 200 characters (docs/spec/risk-signals.md#request-bodies). */
const LineSchema = z
  .string()
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'must be printable and on one line')
  .transform((text) => text.trim())
  .pipe(z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters'))

export const NewAgentKeyBody = z
  .strictObject({
    name: LineSchema,
    scopes: z.array(z.string().max(100)).min(1).max(50),
    env: z.enum(['SANDBOX', 'PRODUCTION']).optional(),
    expiresAt: z.iso.datetime({ offset: true }).optional(),
    dailyLimit: Amount.nullable().optional(),
    budgets: z
      .record(z.string().max(50).refine(isBudgetFamily, rule('UNKNOWN_VALUE', 'must be a family')), BudgetSchema)
      .optional(),
    projects: z.array(z.uuid()).max(100).optional(),
  })
  .meta({ id: 'NewAgentKey' })

export const AgentKeySchema = z
  .object({
    keyId: z.string(),
    prefix: z.string(),
    name: z.string(),
    env: z.enum(['SANDBOX', 'PRODUCTION']),
    scopes: z.array(z.string()),
    projects: z.array(z.uuid()),
    dailyLimit: z.int().nullable(),
    budgets: z.record(z.string(), z.object({ perDay: z.int().nullable(), perMonth: z.int().nullable() })),
    status: z.enum(['ACTIVE', 'EXPIRED', 'REVOKED']),
    createdAt: z.string(),
    createdBy: z.string(),
    expiresAt: z.string(),
    revokedAt: z.string().nullable(),
    lastUsedAt: z.string().nullable(),
    calls: z.int(),
  })
  .meta({ id: 'AgentKey' })

/** @param now POSIX milliseconds */
export function agentKeyView(key: AgentKey, now: number): z.infer<typeof AgentKeySchema> {
  const ended = key.revokedAt ? 'REVOKED' : key.expiresAt.getTime() <= now ? 'EXPIRED' : null
  return {
    keyId: key.keyId,
    prefix: keyPrefix(key.env, key.keyId),
    name: key.name,
    env: key.env,
    scopes: key.scopes,
    projects: key.projects,
    dailyLimit: key.dailyLimit,
    budgets: key.budgets,
    status: ended ?? 'ACTIVE',
    createdAt: key.createdAt.toISOString(),
    createdBy: key.madeBy,
    expiresAt: key.expiresAt.toISOString(),
    revokedAt: key.revokedAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    calls: key.calls,
  }
}

export const AgentCallSchema = z
  .object({
    callId: z.uuid(),
    keyId: z.string(),
    tool: z.string(),
    argumentsSha256: z.string(),
    code: z.string(),
    units: z.int(),
    durationMs: z.int(),
    at: z.string(),
  })
  .meta({ id: 'AgentCall' })

export function agentCallView(call: ListedAgentCall): z.infer<typeof AgentCallSchema> {
  const { callId, keyId, tool, argumentsDigest, code, units, durationMs, calledAt } = call
  const argumentsSha256 = argumentsDigest.toString('hex')
  return { callId, keyId, tool, argumentsSha256, code, units, durationMs, at: calledAt.toISOString() }
}
