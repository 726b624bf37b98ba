import type { Knex } from 'knex'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import {
  type BuyerRequest,
  type BuyerRequestDetails,
  buyerTokenText,
  requestState,
} from '../acceptance/buyer-request.ts'
import { lockBuyerRequest } from '../acceptance/buyer-request-store.ts'

/**
 * Locks the request behind a link that can still be answered.
 * @throws NotFoundError; ConflictError
 */
export async function decryptBuyerRequest(
  tx: Knex.Transaction,
  token: string,
  secrets: Secrets,
): Promise<{ request: BuyerRequest; details: BuyerRequestDetails }> {
  const request = await lockBuyerRequest(tx, secrets.digests(buyerTokenText(token)))
  if (!request) throw new NotFoundError('There is no such link, or it does not work any more.')
  const state = requestState({ ...request, isOver: request.sealedDetails === null })
  if (state === 'ANSWERED') throw new ConflictError('This was answered already.')
  if (state === 'LOCKED') throw new ConflictError('Too many wrong codes: this link is locked.')
  if (request.sealedDetails === null) throw new NotFoundError('There is no such link, or it does not work any more.')
  // Sealed by `requestBuyerAcceptance`.
  const details = JSON.parse(secrets.open('acceptance', request.sealedDetails)) as BuyerRequestDetails
  return { request, details }
}
