import { acceptanceRequested } from '#shared/contracts/evidence-requested.ts'
import type { AcceptanceBody } from '#shared/risk/acceptance/acceptance.ts'
import { recordAcceptance } from '#shared/risk/operations/record-acceptance.ts'
import type { Worker } from '../define-worker.ts'
import { endJob, type OpenJob, subscribeJobs } from '../jobs/job-worker.ts'
import { openRegistryAccess } from '../jobs/registry-access.ts'

/** Records what buyers said of receivables; where the document is named, the invoice-action registry is asked first. */
export const acceptanceRecorder: Worker = {
  name: 'acceptance-recorder',
  start(deps) {
    const registries = openRegistryAccess(deps)
    const record = async (job: OpenJob) => {
      // Validated by the ingress before it was sealed.
      const body = job.request as AcceptanceBody
      const registryAction = body.receivable ? await askRegistry(job, body.receivable) : null
      await endJob(deps, job, async (tx, enqueue) => {
        const owner = { organisationId: job.organisationId, env: job.env }
        const made = await recordAcceptance(tx, owner, job.id, body, registryAction, { enqueue, now: deps.now })
        return 'refusal' in made ? made : { status: 201, body: made.record }
      })
    }
    const askRegistry = async (job: OpenJob, receivable: NonNullable<AcceptanceBody['receivable']>) => {
      const { supplierGstin, buyerGstin, documentType, documentNumber, documentDate } = receivable
      const asked = { supplierGstin, buyerGstin, documentType, documentNumber, documentDate }
      const answer = await registries.of(job).invoiceActions.fetch(registries.context(job), asked)
      return answer.data?.action ?? null
    }
    return [
      registries,
      subscribeJobs('acceptance-recorder', acceptanceRequested, { 'acceptance.record': record }, deps),
    ]
  },
}
