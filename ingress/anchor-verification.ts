import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import { withOwnAnchor } from '#shared/transparency/anchoring/verify.ts'
import { type AnchorVerification, verifyAnchor } from '#shared/transparency/operations/anchors.ts'
import type { IngressDeps } from './deps.ts'
import { logPolicy } from './log-policy.ts'
import { readVerifyBody } from './threads/read-verify-body.ts'

export const VerifySchema = z
  .object({
    verified: z.boolean(),
    result: z.enum(['VERIFIED', 'PARTIAL', 'FAILED']),
    payloadSha256: z.string(),
    txId: z.string().nullable(),
    state: z.enum(['PENDING', 'INCLUDED', 'WITNESSED', 'EXTERNAL']).nullable(),
    checks: z.array(
      z.object({ name: z.string(), result: z.string(), code: z.string().optional(), detail: z.string() }),
    ),
  })
  .meta({ id: 'VerifiedAnchor' })

/** Longer bodies are parsed in a thread. */
const QUICK_BYTES = 64 * 1024

/** @param bytes `{"object": {...}}` @throws ValidationError */
export async function verifyBody(bytes: Uint8Array, deps: IngressDeps): Promise<AnchorVerification> {
  const isQuick = bytes.length <= QUICK_BYTES
  const body = isQuick ? readVerifyBody(bytes) : await deps.threads.run('readVerifyBody', bytes)
  if (!body.ok) throw new ValidationError(body.message, body.errors)
  return await verifyAnchor(deps.db, withOwnAnchor(body.facts), (env) => logPolicy(deps, env))
}
