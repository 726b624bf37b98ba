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

/** Maximum wait of a form. The page of the result polls a job that takes longer. */
export const WAIT_MS = 5_000

/** Returns the context of a job that a form runs. */
export function jobContext<Body>({ context, console, once }: Sent<Body>): JobContext {
  const { organisationId, env } = console
  return { caller: { organisationId, env }, deps: context.deps, waitMs: WAIT_MS, once }
}

/** Notes in the audit log, in the transaction of the effect, who had something done. */
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

/** The id under `name` of what was made, or of the job that will make it. */
export function idOf(answer: StoredAnswer, name: string): string {
  // The answer was made by our operations.
  const body = JSON.parse(answer.body) as Record<string, string>
  return body[name] ?? body.id ?? ''
}

/** Does something that takes no worker, once per form. @param work gives where to go on, below the console */
export async function doOnce<Body>(
  { context, once }: Sent<Body>,
  work: (tx: Knex.Transaction, enqueue: Enqueue) => Promise<string>,
): Promise<string> {
  const answer = await answerOnce(context.deps, { ...once, retentionDays: 1 }, async (tx, enqueue) =>
    jsonAnswer(200, { next: await work(tx, enqueue) }),
  )
  return idOf(answer, 'next')
}
