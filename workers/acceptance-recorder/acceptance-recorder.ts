import { acceptanceRequested } from '#shared/contracts/worker-messages.ts'
import { ConflictError } from '#shared/errors.ts'
import type { AcceptanceBody } from '#shared/risk/acceptance/acceptance.ts'
import { veisOf } from '#shared/risk/businesses/entity.ts'
import { listKeys } from '#shared/risk/businesses/key-store.ts'
import { findEntity } from '#shared/risk/businesses/store.ts'
import { signerOf } from '#shared/risk/businesses/verify-signature.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { ensureKey } from '#shared/risk/domain-keys/store.ts'
import { recordAcceptance } from '#shared/risk/operations/record-acceptance.ts'
import type { Worker } from '../define-worker.ts'
import { endJob, type OpenJob, openRegistryAccess, subscribeJobs } from '../jobs/job-worker.ts'

/** Queries the invoice-action registry first if the document is named. */
export const acceptanceRecorder: Worker = {
  name: 'acceptance-recorder',
  start(deps) {
    const registries = openRegistryAccess(deps)
    const veiKey = cachedPerEnv((env) => ensureKey(deps.db, deps.secrets, env, 'vei'))
    const record = async (job: OpenJob) => {
      // The ingress validated the request before it sealed it.
      const body = job.request as AcceptanceBody
      const registryAction = body.receivable ? await queryRegistry(job, body.receivable) : null
      const signedBy = body.signature === undefined ? null : await findSigner(job, body, body.signature)
      await endJob(deps, job, async (tx, enqueue) => {
        if (body.signature !== undefined && signedBy === null) return { refusal: notTrusted() }
        const owner = { organisationId: job.organisationId, env: job.env }
        const made = await recordAcceptance(
          tx,
          owner,
          job.id,
          body,
          { registryAction, signedBy },
          { enqueue, now: deps.now },
        )
        return 'refusal' in made ? made : { status: 201, body: made.record }
      })
    }
    const findSigner = async (job: OpenJob, { receivable, documentSha256 = '' }: AcceptanceBody, signature: string) => {
      const veis = receivable && veisOf(await veiKey(job.env), { gstin: receivable.buyerGstin })
      const buyer = veis && (await findEntity(deps.db, job, veis.vei))
      return buyer ? await signerOf(signature, documentSha256, await listKeys(deps.db, buyer.id)) : null
    }
    const queryRegistry = async (job: OpenJob, receivable: NonNullable<AcceptanceBody['receivable']>) => {
      const { supplierGstin, buyerGstin, documentType, documentNumber, documentDate } = receivable
      const request = { supplierGstin, buyerGstin, documentType, documentNumber, documentDate }
      const answer = await registries.of(job).invoiceActions.fetch(registries.context(job), request)
      return answer.data?.action ?? null
    }
    return [
      registries,
      subscribeJobs('acceptance-recorder', acceptanceRequested, { 'acceptance.record': record }, deps),
    ]
  },
}

function notTrusted(): ConflictError {
  const message = 'the signature was not made over this document with a trusted key of the buyer'
  return new ConflictError(message, [{ path: 'signature', code: 'NOT_TRUSTED', message }])
}
