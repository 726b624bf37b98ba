import type { Knex } from 'knex'
import { NotFoundError } from '#shared/errors.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import type { Subject } from '#shared/risk/identity/subject.ts'
import { unsealSubject } from '#shared/risk/operations/subjects.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../deps.ts'
import type { Caller } from '../../middleware/access-token.ts'
import { idParam } from '../path-params.ts'

export const subjectParams = { subjectId: idParam('subjectId of the subject') }

export function given(enqueue: Enqueue, deps: IngressDeps) {
  return { enqueue, now: deps.now, secrets: deps.secrets }
}

export function ownerOf({ organisationId, env }: Caller) {
  return { organisationId, env }
}

/** Locks the caller's subject of a path. @throws NotFoundError */
export async function subjectOf(tx: Knex.Transaction, caller: Caller, id: string): Promise<Subject> {
  if (!isUuid(id)) throw new NotFoundError('subject not found')
  return await unsealSubject(tx, ownerOf(caller), id)
}
