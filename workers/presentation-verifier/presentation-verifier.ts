import { identityStatusDue, presentationReceived } from '#shared/contracts/worker-messages.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { RefusedPresentationError } from '#shared/risk/credentials/refusal.ts'
import { SANDBOX_ISSUER, sandboxIssuer } from '#shared/risk/credentials/sandbox-issuer.ts'
import { type VerifiedResponse, verifyResponse } from '#shared/risk/credentials/verify-response.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { ensureSigningKey } from '#shared/risk/domain-keys/store.ts'
import { findTrusted } from '#shared/risk/identity/issuer-store.ts'
import type { Presentation, PresentationSecrets } from '#shared/risk/identity/presentation.ts'
import { findById, lockPresentation } from '#shared/risk/identity/presentation-store.ts'
import { decryptWalletResponse } from '#shared/risk/identity/wallet-response.ts'
import { completePresentation, refusePresentation } from '#shared/risk/operations/presentations.ts'
import { toSeconds } from '#shared/time.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { type FindTrusted, type IssuerDocuments, openIssuerDocuments, statusLookup } from './issuer-documents.ts'

/** High, because a presentation mostly waits for status lists. */
const PREFETCH = 16
const EMPTY = Buffer.alloc(0)

type Outcome = { verified: VerifiedResponse } | { reason: RefusedPresentationError['reason'] } | { walletError: string }

export const presentationVerifier: Worker = {
  name: 'presentation-verifier',
  start(deps) {
    const sandboxKey = cachedPerEnv((env) => ensureSigningKey(deps.db, deps.secrets, env, 'sandbox-issuer'))
    const documents = openIssuerDocuments(deps, () => sandboxKey('SANDBOX'))
    const trusted: FindTrusted = async (owner, iss, vctValues) => {
      if (owner.env !== 'SANDBOX' || iss !== SANDBOX_ISSUER) return await findTrusted(deps.db, owner, iss)
      return [sandboxIssuer((await sandboxKey('SANDBOX')).publicJwk, vctValues)]
    }
    const handle = async ({ presentationId, replyTo }: { presentationId: string; replyTo?: string | undefined }) => {
      const presentation = await findById(deps.db, presentationId)
      if (presentation?.state === 'RECEIVED') await settle(deps, presentation, await examine(presentation))
      if (replyTo !== undefined) {
        deps.broker.send({ exchange: '', routingKey: replyTo, body: EMPTY, correlationId: presentationId })
      }
    }
    const examine = (presentation: Presentation) => verify(deps, presentation, trusted, documents)
    const lookUp = statusLookup(deps, trusted, documents)
    return [
      documents,
      subscribe('presentation-verifier', on(presentationReceived, PREFETCH, handle), deps),
      subscribe('presentation-verifier', on(identityStatusDue, PREFETCH, lookUp), deps),
    ]
  },
}

async function verify(
  deps: WorkerDeps,
  presentation: Presentation,
  trusted: FindTrusted,
  documents: IssuerDocuments,
): Promise<Outcome> {
  const { env, query, clientId, responseMode, createdAt, sealedForm, sealedSecrets } = presentation
  // This service sealed the value, so its type is certain.
  const secrets = JSON.parse(deps.secrets.open('presentation', sealedSecrets)) as PresentationSecrets
  const form = deps.secrets.open('presentation', sealedForm ?? '')
  try {
    const response = await decryptWalletResponse(form, responseMode, secrets)
    if ('error' in response) return { walletError: response.error }
    const expected = { nonce: secrets.nonce, clientId, requestedAt: Math.floor(createdAt.getTime() / 1000) }
    const verified = await verifyResponse(response.vpToken, query, expected, {
      trusted: (iss, vct) => trusted(presentation, iss, vct === null ? [] : [vct]),
      fetchKeys: documents.fetchKeys,
      statusOf: (reference, issuer) => documents.statusOf(env, reference, issuer),
      now: toSeconds(deps.now()),
    })
    return { verified }
  } catch (error) {
    if (error instanceof RefusedPresentationError) return { reason: error.reason }
    throw error
  }
}

/** Does nothing if another copy of the message ended it. */
async function settle(deps: WorkerDeps, examined: Presentation, outcome: Outcome): Promise<void> {
  await deps.outbox.run(async (tx, enqueue) => {
    const presentation = await lockPresentation(tx, examined.id)
    const isSame = presentation?.state === 'RECEIVED' && presentation.sealedForm === examined.sealedForm
    if (!presentation || !isSame) return
    if ('verified' in outcome) {
      await completePresentation(tx, presentation, outcome.verified, {
        enqueue,
        secrets: deps.secrets,
        now: deps.now,
      })
    } else await refusePresentation(tx, presentation, outcome, deps)
    deps.crashPoint('presentation-half-stored')
  })
  deps.crashPoint('presentation-stored')
}
