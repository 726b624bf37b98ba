import { randomInt } from 'node:crypto'
import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import { type LinkMailDeps, queueLinkMail } from '../../tenancy/operations/queue-link-mail.ts'
import { buyerCodeText, CODE_MINUTES, MAX_CODES } from '../acceptance/buyer-request.ts'
import { setBuyerCode } from '../acceptance/buyer-request-store.ts'
import { decryptBuyerRequest } from './decrypt-buyer-request.ts'
import type { OperationDeps } from './deps.ts'

/**
 * Mails a new six-digit code to the buyer's mailbox; the one before is void.
 * @returns the code in the sandbox, where no mail is sent; else null
 * @throws NotFoundError for unknown and ended links; ConflictError for one that is answered, locked or used up
 */
export async function sendBuyerCode(
  tx: Knex.Transaction,
  token: string,
  deps: Pick<OperationDeps, 'enqueue'> & LinkMailDeps,
): Promise<string | null> {
  const { secrets, enqueue } = deps
  const { request, details } = await decryptBuyerRequest(tx, token, secrets)
  if (request.codesSent >= MAX_CODES) throw new ConflictError('No further code is sent for this link.')
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  await setBuyerCode(tx, request.id, secrets.digest(buyerCodeText(request.id, code)))
  if (request.env === 'SANDBOX') return code
  await queueLinkMail(tx, enqueue, deps, {
    to: details.buyerEmail,
    subject: 'Your code',
    lead: `Your code is ${code}. It works for ${CODE_MINUTES} minutes, on the page that asked for it:`,
    path: `/a/${token}`,
    foot: 'If you did not ask for a code, nothing needs to be done.',
  })
  return null
}
