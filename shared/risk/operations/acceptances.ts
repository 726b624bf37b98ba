import { randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Knex } from 'knex'
import { ConflictError, NotFoundError, RateLimitedError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { type LinkMailDeps, queueLinkMail } from '../../tenancy/operations/link-mails.ts'
import { takeTokens } from '../../tenancy/rate-limits/store.ts'
import type { AcceptanceAction, BuyerRequestBody } from '../acceptance/acceptance.ts'
import {
  type BuyerRequest,
  type BuyerRequestDetails,
  type BuyerRequestState,
  buyerCodeText,
  buyerTokenText,
  CODE_MINUTES,
  MAX_CODES,
  MAX_WRONG_CODES,
  requestState,
} from '../acceptance/buyer-request.ts'
import {
  countWrongCode,
  insertBuyerRequest,
  lockBuyerRequest,
  setAnswered,
  setBuyerCode,
} from '../acceptance/buyer-request-store.ts'
import { lockReceivable, saveReceivable } from '../acceptance/store.ts'
import { instant, type OperationDeps } from './deps.ts'
import { recordAcceptance } from './record-acceptance.ts'

/** Limits per organisation, and per mailbox over all organisations. Buckets refill within an hour. */
const PER_ORGANISATION = 100
const PER_MAILBOX = 5
const SHARE_PER_SECOND = 1 / 3_600

/** Only in the sandbox, which sends no mail, the response contains the link. */
export interface IssuedBuyerRequest {
  requestId: string
  receivableRef: string
  state: BuyerRequestState
  expiresAt: string
  sandboxUrl?: string
}

/**
 * The mail has no text of the organisation. An answer also needs a code mailed to the same mailbox. @throws
 * ConflictError when the reference belongs to another receivable; RateLimitedError
 */
export async function requestBuyerAcceptance(
  tx: Knex.Transaction,
  owner: Owner,
  body: BuyerRequestBody,
  deps: Pick<OperationDeps, 'enqueue' | 'secrets'> & { config: Pick<Config, 'publicUrl' | 'siteName' | 'smtpUrl'> },
): Promise<IssuedBuyerRequest> {
  const { receivableRef, receivable, buyerEmail } = body
  const { secrets, enqueue, config } = deps
  await limitRequests(tx, owner, secrets.digest(`acceptance-mailbox:${buyerEmail}`).toString('base64url'))
  await lockReceivable(tx, owner, receivableRef)
  if (!(await saveReceivable(tx, owner, receivableRef, receivable))) {
    const message = 'the reference belongs to another receivable'
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
    lead: 'A lender requests your answer to a document that names you as its buyer. The link is valid for seven days.',
    action: 'See the document and answer',
    path,
    foot: 'Opening the link does not send an answer. If you do not know this document, no action is needed.',
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
  throw new RateLimitedError('too many buyer requests of this organisation or to this mailbox; retry later', 720)
}

/** `left` is the number of remaining attempts. */
type Answered = { isAnswered: true } | { isAnswered: false; left: number }

/** Returns a wrong code, so that it is counted. @throws NotFoundError; ConflictError for an answered or locked link */
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
  const acceptance = {
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
    acceptance,
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

/** @throws NotFoundError; ConflictError */
async function decryptBuyerRequest(
  tx: Knex.Transaction,
  token: string,
  secrets: Secrets,
): Promise<{ request: BuyerRequest; details: BuyerRequestDetails }> {
  const request = await lockBuyerRequest(tx, secrets.digests(buyerTokenText(token)))
  if (!request) throw new NotFoundError('This link is unknown or expired.')
  const state = requestState({ ...request, isOver: request.sealedDetails === null })
  if (state === 'ANSWERED') throw new ConflictError('This request was answered already.')
  if (state === 'LOCKED') throw new ConflictError('Too many wrong codes: this link is locked.')
  if (request.sealedDetails === null) throw new NotFoundError('This link is unknown or expired.')
  const details = JSON.parse(secrets.open('acceptance', request.sealedDetails)) as BuyerRequestDetails
  return { request, details }
}

/**
 * The six-digit code replaces the previous one; it is returned in the sandbox only. @throws NotFoundError;
 * ConflictError for an answered or locked link, or after too many codes
 */
export async function sendBuyerCode(
  tx: Knex.Transaction,
  token: string,
  deps: Pick<OperationDeps, 'enqueue'> & LinkMailDeps,
): Promise<string | null> {
  const { secrets, enqueue } = deps
  const { request, details } = await decryptBuyerRequest(tx, token, secrets)
  if (request.codesSent >= MAX_CODES) throw new ConflictError('The maximum number of codes was sent for this link.')
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  await setBuyerCode(tx, request.id, secrets.digest(buyerCodeText(request.id, code)))
  if (request.env === 'SANDBOX') return code
  await queueLinkMail(tx, enqueue, deps, {
    to: details.buyerEmail,
    subject: 'Your code',
    lead: `Your code is ${code}. It is valid for ${CODE_MINUTES} minutes.`,
    action: 'Enter the code',
    path: `/a/${token}`,
    foot: 'If you did not request a code, ignore this mail.',
  })
  return null
}
