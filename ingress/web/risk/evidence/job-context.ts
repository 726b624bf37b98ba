import type { Knex } from 'knex'
import type { JobContext } from '#shared/jobs/operations/jobs.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { insertActorAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { answerOnce } from '#shared/tenancy/operations/idempotency.ts'
import { personOf } from '../../shell/audit.ts'
import type { Context } from '../../shell/context.ts'
import type { Console } from '../console.tsx'
import type { Sent } from './form.tsx'

/** Maximum wait of a form. The result's page polls for longer jobs. */
export const WAIT_MS = 5_000

export function jobContext<Body>({ context, console, once }: Sent<Body>): JobContext {
  const { organisationId, env } = console
  return { caller: { organisationId, env }, deps: context.deps, waitMs: WAIT_MS, once }
}

/** Writes the audit entry in the transaction of the effect. */
export async function note(
  tx: Knex,
  context: Context,
  console: Console,
  action: string,
  target: string,
): Promise<void> {
  const { organisationId } = console
  await insertActorAudit(tx, personOf(context, console.session), { organisationId, action, target })
}

/** Returns the id of the created object, or of the job that will create it. */
export function idOf(answer: StoredAnswer, name: string): string {
  // Our operations created the answer.
  const body = JSON.parse(answer.body) as Record<string, string>
  return body[name] ?? body.id ?? ''
}

/**
 * Runs an operation without a worker, once per form. @param work returns the path of the next page, below the console
 */
export async function doOnce<Body>(
  { context, once }: Sent<Body>,
  work: (tx: Knex.Transaction, enqueue: Enqueue) => Promise<string>,
): Promise<string> {
  const answer = await answerOnce(context.deps, { ...once, retentionDays: 1 }, async (tx, enqueue) =>
    jsonAnswer(200, { next: await work(tx, enqueue) }),
  )
  return idOf(answer, 'next')
}
