import { z } from 'zod'
import { rulesOfChecks } from '#shared/monitoring/alerting/policy-store.ts'
import { NO_RULES } from '#shared/monitoring/alerting/read-policy.ts'
import type { ChangedRules } from '#shared/monitoring/operations/store-rules.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import type { IngressDeps } from '../deps.ts'
import type { ApiVersion } from './operation.ts'

/** Returns true if a check object has the member `rules`: only on request, and never for a read-only key (docs/spec/alerting.md#ground-rules). */
export function showsRules(key: Pick<ProjectKey, 'kind'>, version: ApiVersion, query: URLSearchParams): boolean {
  return version === 3 && key.kind === 'rw' && query.get('rules') === '1'
}

/** What the description of a route says of it. */
export function rulesQuery(version: ApiVersion): { rules?: z.ZodOptional<z.ZodString> } {
  return version === 3 ? { rules: z.string().optional().describe('`1`: with the rules of the check.') } : {}
}

/** What check objects gain by their rules. */
export async function findShownRules(checks: readonly { id: number }[], { db }: Pick<IngressDeps, 'db'>) {
  const found = await rulesOfChecks(
    db,
    checks.map(({ id }) => id),
  )
  return ({ id }: { id: number }) => ({ rules: found.get(id) ?? NO_RULES })
}

/** Rules as the answer to their change shows them: a new ping secret this once. */
export function shownRules({ rules, secret }: ChangedRules) {
  return secret === null || rules.ping_auth === null ? rules : { ...rules, ping_auth: { ...rules.ping_auth, secret } }
}
