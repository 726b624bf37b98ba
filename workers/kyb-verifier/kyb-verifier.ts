import { kybRequested } from '#shared/contracts/worker-messages.ts'
import { answerHashes, type BusinessAnswers, businessChecks, foreignEntryOf } from '#shared/risk/businesses/checks.ts'
import { panOf } from '#shared/risk/businesses/entity.ts'
import { type LeiRequest, leiAnswer } from '#shared/risk/businesses/lei-answer.ts'
import type { VerificationRequest } from '#shared/risk/businesses/requests.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { ensureKey } from '#shared/risk/domain-keys/store.ts'
import { recordUsage } from '#shared/risk/metering/store.ts'
import { completeVerification } from '#shared/risk/operations/complete-verification.ts'
import type { LeiQuery } from '#shared/risk/registries/http/lei-records.ts'
import type { Worker } from '../define-worker.ts'
import { endJob, type OpenJob, openRegistryAccess, subscribeJobs } from '../jobs/job-worker.ts'

export const kybVerifier: Worker = {
  name: 'kyb-verifier',
  start(deps) {
    const registries = openRegistryAccess(deps)
    const veiKey = cachedPerEnv((env) => ensureKey(deps.db, deps.secrets, env, 'vei'))

    const queryRegistries = async (job: OpenJob, request: VerificationRequest): Promise<BusinessAnswers> => {
      const { gstin, lei, cin, legalName } = request
      const pan = panOf(request)
      const set = registries.of(job, { legalName, companyNumber: cin, pan })
      const context = registries.context(job)
      const [taxpayer, company, leiRecords] = await Promise.all([
        gstin === undefined ? null : set.taxpayerStatus.fetch(context, { gstin }),
        cin === undefined || pan === undefined ? null : set.companyMaster.fetch(context, { pan, cin }),
        lei !== undefined || cin !== undefined ? set.leiRecords.fetch(context, leiQuery({ lei, cin })) : null,
      ])
      // Only an LEI identifies one record; a number of an Indian company may find several.
      const entry = lei === undefined ? null : foreignEntryOf(leiRecords?.data?.[0])
      const registerCompany = entry && (await set.registryCompanies.fetch(context, entry))
      return { taxpayer, company, lei: leiRecords, registerCompany }
    }

    const verify = async (job: OpenJob) => {
      // The ingress validated the request before it sealed it.
      const request = job.request as VerificationRequest
      const answers = await queryRegistries(job, request)
      const checks = businessChecks(request, answers)
      const key = await veiKey(job.env)
      await endJob(deps, job, async (tx, enqueue) => {
        const owner = { organisationId: job.organisationId, env: job.env }
        const found = { request, checks, answerHashes: answerHashes(checks, answers), veiKey: key }
        return { status: 201, body: await completeVerification(tx, owner, job.id, found, { enqueue, now: deps.now }) }
      })
    }

    const lookUp = async (job: OpenJob) => {
      const request = job.request as LeiRequest
      const { lei, cin, legalName } = request
      const set = registries.of(job, { legalName, companyNumber: cin })
      const context = registries.context(job)
      const result = await set.leiRecords.fetch(context, leiQuery({ lei, cin, legalName }))
      await endJob(deps, job, async (tx) => {
        const body = leiAnswer(request, result)
        const owner = { organisationId: job.organisationId, env: job.env }
        if (body.lei !== null) await recordUsage(tx, { ...owner, family: 'kyb', unitKey: `lei/${job.id}` })
        return { status: 200, body, forget: body.lei === null }
      })
    }

    const handlers = { 'kyb.verification': verify, 'kyb.lei': lookUp }
    return [registries, subscribeJobs('kyb-verifier', kybRequested, handlers, deps)]
  },
}

function leiQuery({ lei, cin, legalName = '' }: LeiRequest): LeiQuery {
  if (lei !== undefined) return { lei }
  return cin === undefined ? { legalName } : { registeredAs: cin }
}
