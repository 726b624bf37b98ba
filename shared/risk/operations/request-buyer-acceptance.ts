import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { ConflictError, RateLimitedError } from '../../errors.ts'
import type { Config } from '../../platform/process/config.ts'
import { queueLinkMail } from '../../tenancy/operations/queue-link-mail.ts'
import { takeTokens } from '../../tenancy/rate-limits/store.ts'
import type { BuyerRequestBody } from '../acceptance/acceptance.ts'
import { type BuyerRequestState, buyerTokenText } from '../acceptance/buyer-request.ts'
import { insertBuyerRequest } from '../acceptance/buyer-request-store.ts'
import { lockReceivable, saveReceivable } from '../acceptance/store.ts'
import type { Owner } from '../jobs/job.ts'
import type { OperationDeps } from './deps.ts'

/** Requests of an organisation, and those to one mailbox, of all organisations together. An hour refills a bucket. */
const PER_ORGANISATION = 100
const PER_MAILBOX = 5
const SHARE_PER_SECOND = 1 / 3_600

/** What is answered to the organisation; only in the sandbox, where no mail is sent, does it learn the link. */
export interface BuyerRequest {
  requestId: string
  receivableRef: string
  state: BuyerRequestState
  expiresAt: string
  sandboxUrl?: string
}

/**
 * Asks a buyer whether it accepts a document: a link by mail, and beside it nothing that the organisation could have
 * written itself. The link shows the document; to answer it the mailbox must be read again, for a code.
 * @throws ConflictError where the reference stands for another receivable; RateLimitedError
 */
export async function requestBuyerAcceptance(
  tx: Knex.Transaction,
  owner: Owner,
  body: BuyerRequestBody,
  deps: Pick<OperationDeps, 'enqueue' | 'secrets'> & { config: Pick<Config, 'publicUrl' | 'siteName' | 'smtpUrl'> },
): Promise<BuyerRequest> {
  const { receivableRef, receivable, buyerEmail } = body
  const { secrets, enqueue, config } = deps
  await limitRequests(tx, owner, secrets.digest(`acceptance-mailbox:${buyerEmail}`).toString('base64url'))
  await lockReceivable(tx, owner, receivableRef)
  if (!(await saveReceivable(tx, owner, receivableRef, receivable))) {
    const message = 'this reference stands for another receivable'
    throw new ConflictError(message, [{ path: 'receivable', code: 'OTHER_RECEIVABLE', message }])
  }
  const id = randomUUID()
  const token = randomBytes(32).toString('base64url')
  const path = `/a/${token}`
  const expiresAt = await insertBuyerRequest(tx, owner, {
    id,
    ref: receivableRef,
    digest: secrets.digest(buyerTokenText(token)),
    sealedDetails: secrets.seal('acceptance', JSON.stringify({ buyerEmail, receivable })),
  })
  const requested = { requestId: id, receivableRef, state: 'OPEN' as const, expiresAt: expiresAt.toISOString() }
  if (owner.env === 'SANDBOX') return { ...requested, sandboxUrl: config.publicUrl + path }
  await queueLinkMail(tx, enqueue, deps, {
    to: buyerEmail,
    subject: 'Do you accept a document that was issued to you?',
    lead: 'A lender asks whether you accept a document that names you as its buyer. See it and answer here within seven days:',
    path,
    foot: 'Opening the link answers nothing. If you do not know of this, nothing needs to be done.',
  })
  return requested
}

async function limitRequests(tx: Knex, { organisationId, env }: Owner, mailbox: string): Promise<void> {
  const grants = await takeTokens(
    tx,
    [
      { bucket: `acceptance:of:${organisationId}/${env}`, wanted: 1, capacity: PER_ORGANISATION },
      { bucket: `acceptance:to:${env}/${mailbox}`, wanted: 1, capacity: PER_MAILBOX },
    ],
    SHARE_PER_SECOND,
  )
  if (grants.every(({ granted }) => granted === 1)) return
  throw new RateLimitedError('too many requests to buyers of this organisation, or to this mailbox', 720)
}
