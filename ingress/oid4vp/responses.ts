import type { Request } from 'express'
import { z } from 'zod'
import { awaitWork } from '#shared/jobs/operations/work.ts'
import type { Presentation, PresentationSecrets } from '#shared/risk/identity/presentation.ts'
import { findById, setReasons } from '#shared/risk/identity/presentation-store.ts'
import { isState, MAX_FORM_BYTES } from '#shared/risk/identity/wallet-response.ts'
import { receivePresentation } from '#shared/risk/operations/presentations.ts'
import type { IngressDeps } from '../deps.ts'
import { PayloadTooLargeError } from '../middleware/request-safety.ts'
import { problemResponses } from '../problem-responses.ts'
import { defineRoute } from '../route.ts'
import { answerWallet, handleParam, presentationOf, readForm } from './wallet-answers.ts'

/** Maximum wait of a wallet for the verifier; after it the response only confirms the arrival. */
const WAIT_MS = 10_000
const REFUSED = { error: 'invalid_presentation' }

const ResponseForm = z
  .object({
    vp_token: z.string().optional(),
    response: z.string().optional(),
    state: z.string().optional(),
    error: z.string().optional(),
  })
  .meta({ id: 'WalletResponseForm' })

const WalletAnswer = z.object({ redirect_uri: z.string().optional() }).meta({ id: 'WalletAnswer' })

export const postResponseRoute = defineRoute({
  path: '/v1/oid4vp/responses/{handle}',
  tags: ['Wallets'],
  security: [],
  params: { handle: handleParam },
  method: 'post',
  operationId: 'postPresentationResponse',
  summary: 'Receive the response of a wallet',
  description: 'OpenID4VP 1.0 `direct_post` and `direct_post.jwt`. The answer contains only the result.',
  body: { required: true, content: { 'application/x-www-form-urlencoded': ResponseForm } },
  responses: {
    200: { description: 'Verified, or still being verified', content: { 'application/json': WalletAnswer } },
    400: { description: 'Refused', content: { 'application/json': null } },
    409: { description: 'Already answered, or refused three times', content: { 'application/json': null } },
    410: { description: 'Expired', content: { 'application/json': null } },
    ...problemResponses(404, 413, 415, 429, 503),
  },
  async handle(request, response, deps) {
    const presentation = await presentationOf(request, response, deps)
    const form = await readAnswer(request, presentation, deps)
    if (!hasStateOf(form, presentation, deps)) {
      await setReasons(deps.db, presentation.id, ['STATE_MISMATCH'])
      return answerWallet(response, 400, REFUSED)
    }
    const { replyTo } = deps.replies
    const received = await deps.outbox.run((tx, enqueue) =>
      receivePresentation(tx, presentation, { form, replyTo }, { enqueue, secrets: deps.secrets, now: deps.now }),
    )
    if (!received.taken) return answerWallet(response, received.reason === 'EXPIRED' ? 410 : 409, REFUSED)
    if (!(await isAccepted(presentation, deps))) return answerWallet(response, 400, REFUSED)
    const { redirectUri } = presentation
    if (redirectUri === null || received.responseCode === null) return answerWallet(response, 200, {})
    const back = new URL(redirectUri)
    back.searchParams.set('response_code', received.responseCode)
    answerWallet(response, 200, { redirect_uri: back.href })
  },
})

/** Returns the posted form. If it is too long, stores TOO_LARGE as the reason. */
async function readAnswer(request: Request, presentation: Presentation, deps: IngressDeps): Promise<string> {
  try {
    return await readForm(request, MAX_FORM_BYTES)
  } catch (error) {
    if (error instanceof PayloadTooLargeError) await setReasons(deps.db, presentation.id, ['TOO_LARGE'])
    throw error
  }
}

/** Compares the state, unless it is encrypted; then the verifier compares it. */
function hasStateOf(form: string, { sealedSecrets, responseMode }: Presentation, deps: IngressDeps): boolean {
  const fields = new URLSearchParams(form)
  if (responseMode === 'direct_post.jwt' && fields.has('response')) return true
  // This service sealed the value, so its type is certain.
  const secrets = JSON.parse(deps.secrets.open('presentation', sealedSecrets)) as PresentationSecrets
  return isState(fields.get('state') ?? '', secrets.state)
}

/** Waits for the verifier. @returns false if it has refused; true also while it still runs */
async function isAccepted({ id }: Presentation, deps: IngressDeps): Promise<boolean> {
  const accepted = await awaitWork(deps, { id, waitMs: WAIT_MS }, async (db) => {
    const now = await findById(db, id)
    // An error of the wallet, for example because its owner declined, is not a refusal by the verifier.
    return now && now.state !== 'RECEIVED' ? now.state === 'VERIFIED' || now.walletError !== null : undefined
  })
  return accepted ?? true
}
