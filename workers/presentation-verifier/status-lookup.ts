import type { StatusReference } from '#shared/risk/credentials/status-list.ts'
import { type DueStatus, findDueStatus } from '#shared/risk/identity/verification-store.ts'
import { suspendByStatus } from '#shared/risk/operations/suspend-by-status.ts'
import type { WorkerDeps } from '../define-worker.ts'
import type { FindTrusted, IssuerDocuments } from './issuer-documents.ts'

/** Looks the status of a credential up again that verified an identity; one that is no longer valid suspends it. */
export function statusLookup(deps: WorkerDeps, trusted: FindTrusted, documents: IssuerDocuments) {
  return async ({ verificationId }: { verificationId: string }): Promise<void> => {
    const due = await findDueStatus(deps.db, verificationId)
    if (due && (await isInvalid(deps, due, trusted, documents))) {
      await deps.outbox.run((tx, enqueue) =>
        suspendByStatus(tx, due, { enqueue, secrets: deps.secrets, now: deps.now }),
      )
    }
  }
}

/** A list that cannot be had now says nothing. */
async function isInvalid(
  deps: WorkerDeps,
  due: DueStatus,
  trusted: FindTrusted,
  documents: IssuerDocuments,
): Promise<boolean> {
  // Sealed by us, in this form.
  const references = JSON.parse(deps.secrets.open('identity', due.sealedStatus)) as (StatusReference & {
    iss: string
  })[]
  for (const reference of references) {
    for (const issuer of await trusted(due, reference.iss, [])) {
      const status = await documents.statusOf(due.env, reference, issuer)
      if (status === 'REVOKED' || status === 'SUSPENDED') return true
    }
  }
  return false
}
