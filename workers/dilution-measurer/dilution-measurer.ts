import { dilutionRequested } from '#shared/contracts/worker-messages.ts'
import { antiDilution } from '#shared/risk/acceptance/anti-dilution.ts'
import { findPairHistory } from '#shared/risk/acceptance/store.ts'
import { recordUsage } from '#shared/risk/metering/store.ts'
import { addMonths, indianDay } from '#shared/risk/packs/money.ts'
import { addedActions } from '#shared/risk/registries/sandbox/scenarios.ts'
import { toMillis } from '#shared/time.ts'
import type { Worker } from '../define-worker.ts'
import { endJob, type OpenJob, openRegistryAccess, subscribeJobs } from '../jobs/job-worker.ts'

interface DilutionRequest {
  supplierGstin: string
  buyerGstin: string
  gstConsent?: string | undefined
}

/** A quarterly filer's window ends up to four months before a monthly one's; this covers both. */
const MONTHS_REQUESTED = 15

/** Metered once per pair and Indian day. */
export const dilutionMeasurer: Worker = {
  name: 'dilution-measurer',
  start(deps) {
    const registries = openRegistryAccess(deps)
    const answer = async (job: OpenJob) => {
      const { supplierGstin, buyerGstin, gstConsent } = job.request as DilutionRequest
      const today = indianDay(toMillis(deps.now()))
      const to = addMonths(today, -1)
      const query = { supplierGstin, recipientGstin: buyerGstin, from: addMonths(to, -MONTHS_REQUESTED), to }
      const result = await registries.of(job).tradeReturns.fetch(registries.context(job, gstConsent), query)
      await endJob(deps, job, async (tx) => {
        const owner = { organisationId: job.organisationId, env: job.env }
        const recorded = await findPairHistory(tx, owner, supplierGstin, buyerGstin)
        const added = job.env === 'SANDBOX' ? addedActions(buyerGstin) : []
        const history = { ...recorded, actions: [...recorded.actions, ...added] }
        const unitKey = `dilution/${supplierGstin}/${buyerGstin}/${today}`
        await recordUsage(tx, { ...owner, family: 'risk-signals', unitKey })
        const body = antiDilution({ supplierGstin, buyerGstin }, result, history)
        // After a failed query the caller may repeat the request.
        return { status: 200, body, forget: result.status !== 'OK' }
      })
    }
    return [registries, subscribeJobs('dilution-measurer', dilutionRequested, { 'dilution.answer': answer }, deps)]
  },
}
