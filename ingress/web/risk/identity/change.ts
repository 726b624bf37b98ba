import { NotFoundError } from '#shared/errors.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import type { OperationDeps } from '#shared/risk/operations/deps.ts'
import type { createSubject } from '#shared/risk/operations/subjects.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Sent } from '../evidence/form.tsx'
import { doOnce, note } from '../evidence/job-context.ts'

export const SUBJECT = '/identity/subjects/:subject'
/** Cancel of a form about a subject. */
export const toSubject = ({ subject = '' }: Readonly<Record<string, string>>) => `/identity/subjects/${subject}`
export const common = { family: 'identity', area: 'identity' } as const
export const REASON = {
  name: 'reason',
  label: 'Reason',
  hint: 'encrypted, and deleted with the subject',
  isRequired: true,
}

type Tx = Parameters<typeof createSubject>[0]

/** Runs a change and its audit entry in one transaction. @param work returns the next page and the audited id */
export async function change<Body>(
  sent: Sent<Body>,
  action: string,
  work: (tx: Tx, deps: OperationDeps) => Promise<{ next: string; target: string }>,
): Promise<string> {
  const { context, console } = sent
  const { now, secrets } = context.deps
  return await doOnce(sent, async (tx: Tx, enqueue: Enqueue) => {
    const { next, target } = await work(tx, { enqueue, now, secrets })
    await note(tx, context, console, action, target)
    return next
  })
}

/** @throws NotFoundError */
export function idIn<Body>({ context }: Sent<Body>, name: string): string {
  const id = context.params[name] ?? ''
  if (!isUuid(id)) throw new NotFoundError('There is no such page.')
  return id
}

export const pageOf = (subjectId: string) => ({ next: `/identity/subjects/${subjectId}`, target: subjectId })

export const ownerOf = <Body>({ console: { organisationId, env } }: Sent<Body>) => ({ organisationId, env })
