import { identityRequested } from '#shared/contracts/worker-messages.ts'
import { DomainError } from '#shared/errors.ts'
import type { Owner } from '#shared/jobs/job.ts'
import { readDocumentSignature } from '#shared/risk/credentials/issue.ts'
import { findConsent } from '#shared/risk/identity/consent-store.ts'
import type { IdentityVerificationRequest, RegistryRequest } from '#shared/risk/identity/identity-requests.ts'
import { findTrusted } from '#shared/risk/identity/issuer-store.ts'
import { findSubject } from '#shared/risk/identity/subject-store.ts'
import {
  completeIdentityVerification,
  type Found,
  findingOfPresentation,
} from '#shared/risk/operations/identity-verifications.ts'
import { consentError } from '#shared/risk/operations/manage-consent.ts'
import { toMillis } from '#shared/time.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { endJob, type OpenJob, openRegistryAccess, type RegistryAccess, subscribeJobs } from '../jobs/job-worker.ts'

type Request = IdentityVerificationRequest & { subjectId: string }

export const identityVerifier: Worker = {
  name: 'identity-verifier',
  start(deps) {
    const registries = openRegistryAccess(deps)
    const verify = async (job: OpenJob) => {
      // The ingress validated the request before it sealed it.
      const request = job.request as Request
      const owner: Owner = { organisationId: job.organisationId, env: job.env }
      const external =
        request.method === 'PRESENTATION' ? null : await queryRegistryOrDocument(deps, registries, job, owner, request)
      await endJob(deps, job, async (tx, enqueue) => {
        const operationDeps = { enqueue, secrets: deps.secrets, now: deps.now }
        const { subjectId } = request
        // Each check that may refuse runs before the first write, so a refused job stores only its refusal.
        try {
          const found =
            request.method === 'PRESENTATION'
              ? await findingOfPresentation(tx, owner, subjectId, request.presentationId)
              : external
          if (!found) throw new Error('the verification has no finding')
          const body = await completeIdentityVerification(tx, owner, { id: job.id, subjectId }, found, operationDeps)
          return { status: 201, body }
        } catch (error) {
          if (error instanceof DomainError) return { refusal: error }
          throw error
        }
      })
    }
    return [
      registries,
      subscribeJobs('identity-verifier', identityRequested, { 'identity.verification': verify }, deps),
    ]
  },
}

const NOTHING: Found = {
  key: '',
  tier: 'MISSING',
  missingReason: 'NOT_FOUND',
  isHigh: false,
  rawSha256: null,
  presentationId: null,
  consentId: null,
  expiresAt: null,
  value: null,
  sealedStatus: null,
}

async function queryRegistryOrDocument(
  deps: WorkerDeps,
  registries: RegistryAccess,
  job: OpenJob,
  owner: Owner,
  request: Exclude<Request, { method: 'PRESENTATION' }>,
): Promise<Found> {
  if (request.method === 'REGISTRY') return await queryRegistry(deps, registries, job, owner, request)
  const { documentSha256, signature } = request
  const trusted = (iss: string) => findTrusted(deps.db, owner, iss)
  const isSigned = await readDocumentSignature(signature, documentSha256, trusted, toMillis(deps.now()))
  const found = { ...NOTHING, key: 'document', rawSha256: documentSha256 }
  return isSigned
    ? { ...found, tier: 'DOCUMENT_SIGNED', missingReason: null }
    : { ...found, missingReason: 'UNPARSEABLE' }
}

async function queryRegistry(
  deps: WorkerDeps,
  registries: RegistryAccess,
  job: OpenJob,
  owner: Owner,
  { subjectId, registry, identifier, consentId, purpose }: RegistryRequest & { subjectId: string },
): Promise<Found> {
  const field = registry.toLowerCase()
  const subject = await findSubject(deps.db, owner, subjectId)
  const consent = consentId === undefined ? undefined : await findConsent(deps.db, owner, consentId)
  const consentProblem =
    subject?.kind === 'PERSON' ? consentError(consent, { subjectId, field, purpose }, toMillis(deps.now())) : null
  const found = { ...NOTHING, key: `registry.${field}` }
  if (consentProblem !== null) return { ...found, missingReason: consentProblem }
  const context = registries.context(job, consent?.id)
  const answer = await registries.of(job).personRecords.fetch(context, { registry, identifier })
  if (answer.status !== 'OK') return { ...found, missingReason: answer.missingReason }
  if (answer.data.status !== 'ACTIVE') return { ...found, rawSha256: answer.rawSha256 }
  return {
    ...found,
    tier: answer.tier,
    missingReason: null,
    rawSha256: answer.rawSha256,
    consentId: consent?.id ?? null,
    expiresAt: consent?.expiresAt ?? null,
    value: identifier,
  }
}
