import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { parseVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy, type TrustPolicy } from '#shared/transparency/anchoring/policy.ts'
import { verifyUptime } from '#shared/transparency/statements/verify-uptime.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'
import { send } from '../../support/send.ts'

export const DAY = 86_400_000
/** Midnight of a day of October. */
export const october = (day: number, hour = 0) => new Date(Date.UTC(2025, 9, day, hour))
export const micros = (at: Date) => at.getTime() * 1000

/** The members of API responses that tests use. */
export interface Proof {
  records: (JsonObject & { date: string; flips: [string, string, string][]; down: number; up: number })[]
  statements: (JsonObject & { date: string; records: string[] })[]
  proofs: JsonObject[]
}

/** Returns a policy that trusts the log key of a product. */
export async function trusted(url: string): Promise<TrustPolicy> {
  const key = (await send(url, '/v1/transparency/production/log-key')).text.trim()
  return flatPolicy([{ key: parseVerifierKey(key) }], [], 0)
}

export const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value))
export const failures = (proof: JsonObject, policy: TrustPolicy) =>
  verifyUptime(proof, policy).checks.filter(({ result }) => result === 'failed')

/** Adds a change of status with an immediate notification. */
export async function addFlip(app: HttpProduct, checkId: number, at: Date, from: string, to: string): Promise<void> {
  await app
    .db('flips')
    .insert({ check_id: checkId, at, from_status: from, to_status: to, reason: 'timeout', processed_at: at })
}

/** Adds a check that was created in September and is up since 1 October. */
export async function addOldCheck(app: HttpProduct, projectId: number, name: string) {
  const check = await addCheck(app.deps, projectId, { name })
  await app
    .db('checks')
    .where({ id: check.id })
    .update({ created_at: new Date(Date.UTC(2025, 8, 1)), status: 'up' })
  await addFlip(app, check.id, october(1), 'new', 'up')
  return check
}

/** Enables the daily statements of a project from a day on. */
export const since = async (app: HttpProduct, projectId: number, day: Date) =>
  await app
    .db('projects')
    .where({ id: projectId })
    .update({ statements_since: day.toISOString().slice(0, 10) })
