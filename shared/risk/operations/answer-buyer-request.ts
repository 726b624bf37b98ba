import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { Knex } from 'knex'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { AcceptanceAction } from '../acceptance/acceptance.ts'
import { type BuyerRequest, buyerCodeText, MAX_WRONG_CODES } from '../acceptance/buyer-request.ts'
import { countWrongCode, setAnswered } from '../acceptance/buyer-request-store.ts'
import { decryptBuyerRequest } from './decrypt-buyer-request.ts'
import { instant, type OperationDeps } from './deps.ts'
import { recordAcceptance } from './record-acceptance.ts'

/** `wrong` where the code is none that works; `left` says how often may still be tried. */
type Answered = { isAnswered: true } | { isAnswered: false; left: number }

/**
 * Records the buyer's own answer, once, with the code from its mailbox. A wrong code is counted and committed, so it
 * is returned and not thrown.
 * @throws NotFoundError for unknown and ended links; ConflictError for one that is answered or locked
 */
export async function answerBuyerRequest(
  tx: Knex.Transaction,
  token: string,
  { code, action }: { code: string; action: Extract<AcceptanceAction, 'ACCEPTED' | 'REJECTED'> },
  deps: OperationDeps,
): Promise<Answered> {
  const { request, details } = await decryptBuyerRequest(tx, token, deps.secrets)
  if (!isRightCode(request, code, deps.secrets)) {
    await countWrongCode(tx, request.id)
    return { isAnswered: false, left: MAX_WRONG_CODES - request.wrongCodes - 1 }
  }
  const acceptanceId = randomUUID()
  const { organisationId, env } = request
  const said = {
    receivableRef: request.receivableRef,
    channel: 'BUYER_PORTAL' as const,
    action,
    ...(action === 'ACCEPTED' ? { amountAccepted: details.receivable.totalInr } : {}),
    at: instant(deps.now()),
    declaredBy: 'BUYER' as const,
    receivable: details.receivable,
    requestId: request.id,
  }
  const made = await recordAcceptance(
    tx,
    { organisationId, env },
    acceptanceId,
    said,
    { registryAction: null, signedBy: null },
    deps,
  )
  if ('refusal' in made) throw made.refusal
  await setAnswered(tx, request.id, acceptanceId)
  return { isAnswered: true }
}

function isRightCode({ id, codeDigest, isCodeLive }: BuyerRequest, code: string, secrets: Secrets): boolean {
  if (codeDigest === null || !isCodeLive) return false
  return secrets.digests(buyerCodeText(id, code)).some((digest) => timingSafeEqual(digest, codeDigest))
}
