import { provenanceRequested } from '#shared/contracts/worker-messages.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { ensureEvidenceSigner } from '#shared/risk/domain-keys/evidence-key-store.ts'
import { completeTradeVerification } from '#shared/risk/operations/record-trade.ts'
import { issueTradePack } from '#shared/risk/operations/trade-packs.ts'
import { ebrcChecks, iecChecks, shippingBillChecks, type TradeCheck } from '#shared/risk/trade/checks.ts'
import type { TradePackRequest, TradeRequest } from '#shared/risk/trade/requests.ts'
import type { Worker } from '../define-worker.ts'
import { endJob, type OpenJob, openRegistryAccess, subscribeJobs } from '../jobs/job-worker.ts'

export const provenanceComposer: Worker = {
  name: 'provenance-composer',
  start(deps) {
    const registries = openRegistryAccess(deps)
    const signerOf = cachedPerEnv((env) => ensureEvidenceSigner(deps.db, deps.secrets, env))

    const queryRegistries = async (job: OpenJob, request: TradeRequest): Promise<Answered> => {
      const context = registries.context(job)
      const { iec } = request
      if (request.subjectKind === 'IEC') {
        const set = registries.of(job, { legalName: request.legalName })
        return noInvoices(iecChecks(request, await set.exporterCodes.fetch(context, { iec })))
      }
      if (request.subjectKind === 'EBRC') {
        const { brcNumber, shippingBill, realised } = request
        const set = registries.of(job, { shippingBill, realised })
        return noInvoices(ebrcChecks(request, await set.exportCertificates.fetch(context, { iec, brcNumber })))
      }
      const { number, date, portCode, fobValueInr } = request
      const set = registries.of(job, { fobValueInr })
      const answer = await set.shippingBills.fetch(context, { iec, number, date, portCode })
      return { results: shippingBillChecks(request, answer), invoiceNumbers: answer.data?.invoiceNumbers ?? null }
    }

    const verify = async (job: OpenJob) => {
      // The ingress validated the request before it sealed it.
      const request = job.request as TradeRequest
      const answered = await queryRegistries(job, request)
      await endJob(deps, job, async (tx) => {
        const owner = { organisationId: job.organisationId, env: job.env }
        return {
          status: 201,
          body: await completeTradeVerification(tx, owner, job.id, { request, ...answered }, deps),
        }
      })
    }

    const issue = async (job: OpenJob) => {
      const request = job.request as TradePackRequest
      const signer = await signerOf(job.env)
      const { publicUrl } = deps.config
      const { renderTradePdf } = await import('#shared/risk/trade/pdf.ts')
      await endJob(deps, job, async (tx, enqueue) => {
        const owner = { organisationId: job.organisationId, env: job.env }
        const { now, secrets } = deps
        const issueDeps = { enqueue, now, secrets, publicUrl, signer, renderPdf: renderTradePdf }
        const made = await issueTradePack(tx, owner, job.id, request, issueDeps)
        return 'refusal' in made ? made : { status: 201, body: made.pack }
      })
    }

    const handlers = { 'trade.verification': verify, 'trade.pack': issue }
    return [registries, subscribeJobs('provenance-composer', provenanceRequested, handlers, deps)]
  },
}

interface Answered {
  results: TradeCheck[]
  /** on the shipping bill; null without a bill */
  invoiceNumbers: readonly string[] | null
}

function noInvoices(results: TradeCheck[]): Answered {
  return { results, invoiceNumbers: null }
}
