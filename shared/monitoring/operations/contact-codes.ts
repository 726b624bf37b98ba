import { randomInt, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { contactMessageDue, TrialResult } from '../../contracts/worker-messages.ts'
import { ConflictError, RateLimitedError, ValidationError } from '../../errors.ts'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import { equalSecrets, type Secrets } from '../../platform/process/secrets.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { takeToken } from '../../tenancy/operations/link-mails.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import { endCodes, insertCode, lockSentCodes, tryNewestCode } from '../contacts/code-store.ts'
import { codeResult, codeWait } from '../contacts/contact-codes.ts'
import { addressKey } from '../contacts/contact-kinds.ts'
import { setVerified } from '../contacts/contact-store.ts'
import { auditContact, requireConfig, requireContactMethod } from './contact-config.ts'

const WAIT_MS = 20_000
/** A person waits, so a late message is not sent. */
const BEGIN_WITHIN_SECONDS = 30
const TESTS_PER_MINUTE = 6

interface SendDeps {
  secrets: Secrets
  now(): Micros
  outbox: Pick<Outbox, 'run'>
  /** null: the caller does not wait for the result */
  replies: { replyTo: string; wait(id: string, timeoutMs: number): Promise<Uint8Array | null> } | null
}

/** Empty after a delivery; null if no result arrived in time. */
export type SentMessage = { error: string } | null

interface OwnMethod {
  userId: number
  id: string
}

/**
 * Sends a code of six digits through the method; only its digest is stored. @throws RateLimitedError, ConflictError if
 * the method is incomplete
 */
export async function sendContactCode(db: Knex, actor: Actor, own: OwnMethod, deps: SendDeps): Promise<SentMessage> {
  const { secrets } = deps
  const method = await requireContactMethod(db, secrets, own)
  const key = addressKey(method.kind, requireConfig(method))
  const messageId = randomUUID()
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  return await enqueueMessage(own, { messageId, what: 'code', text: code }, deps, async (tx) => {
    const wait = codeWait(await lockSentCodes(tx, own.userId, secrets.digests(key)), deps.now())
    if (wait > 0) throw new RateLimitedError('Too many codes were sent. Try again later.', wait)
    await insertCode(tx, {
      id: messageId,
      userId: own.userId,
      methodId: own.id,
      addressDigest: secrets.digest(key),
      codeDigest: secrets.digest(signedOfCode(messageId, code)),
    })
    await auditContact(tx, actor, { userId: own.userId, action: 'contact.code-sent', target: method.kind })
  })
}

/** @throws RateLimitedError beyond six a minute, ConflictError if the method is not verified */
export async function testContactMethod(db: Knex, actor: Actor, own: OwnMethod, deps: SendDeps): Promise<SentMessage> {
  const method = await requireContactMethod(db, deps.secrets, own)
  requireConfig(method)
  if (!method.isVerified) throw new ConflictError('verify the contact method first')
  const refusal = 'Only six tests per minute are allowed. Try again in a minute.'
  await takeToken(db, `contact-test:${own.userId}`, TESTS_PER_MINUTE, refusal)
  return await enqueueMessage(own, { messageId: randomUUID(), what: 'test', text: '' }, deps, (tx) =>
    auditContact(tx, actor, { userId: own.userId, action: 'contact.tested', target: method.kind }),
  )
}

/** @throws ValidationError for a wrong or expired code; each call counts as a try */
export async function verifyContactMethod(
  db: Knex,
  actor: Actor,
  { code, ...own }: OwnMethod & { code: string },
  { secrets, now }: Pick<SendDeps, 'secrets' | 'now'>,
): Promise<void> {
  const method = await requireContactMethod(db, secrets, own)
  const text = code.replace(/[\s-]/g, '')
  // Committed also for a wrong code, so that the try counts.
  const result = await transaction(db, async (tx) => {
    const row = await tryNewestCode(tx, own.id)
    const digests = row ? secrets.digests(signedOfCode(row.id, text)) : []
    const found = codeResult(row, (digest) => digests.some((one) => equalSecrets(one, digest)), now())
    if (found !== 'valid') return found
    await endCodes(tx, own.id)
    await setVerified(tx, own.id)
    await auditContact(tx, actor, { userId: own.userId, action: 'contact.verified', target: method.kind })
    return found
  })
  if (result === 'valid') return
  const message = result === 'wrong' ? 'code is wrong' : 'code has expired; send a new one'
  throw new ValidationError(message, [{ path: 'code', code: 'NOT_PERMITTED', message }])
}

/** An operator vouches for the address. */
export async function verifyContactAsOperator(db: Knex, actor: Actor, own: OwnMethod, secrets: Secrets): Promise<void> {
  const method = await requireContactMethod(db, secrets, own)
  await transaction(db, async (tx) => {
    await setVerified(tx, own.id)
    await endCodes(tx, own.id)
    await auditContact(tx, actor, { userId: own.userId, action: 'contact.verified', target: method.kind })
  })
}

function signedOfCode(id: string, code: string): string {
  return `contact-code:${id}:${code}`
}

async function enqueueMessage(
  own: OwnMethod,
  { messageId, what, text }: { messageId: string; what: 'code' | 'test'; text: string },
  { secrets, now, outbox, replies }: SendDeps,
  store: (tx: Knex.Transaction) => Promise<void>,
): Promise<SentMessage> {
  const sealedText = secrets.seal('contact', text)
  const send = async (tx: Knex.Transaction, enqueue: Enqueue) => {
    await store(tx)
    const beginBy = now() + microsOfSeconds(BEGIN_WITHIN_SECONDS)
    const replyTo = replies && { replyTo: replies.replyTo }
    await enqueue(contactMessageDue, { messageId, methodId: own.id, what, sealedText, beginBy, ...replyTo })
  }
  // Wait before sending, because the reply may arrive as soon as the transaction commits.
  const reply = replies?.wait(messageId, WAIT_MS)
  await outbox.run(send)
  const message = await reply
  return message ? { error: TrialResult.parse(JSON.parse(Buffer.from(message).toString())).error } : null
}
