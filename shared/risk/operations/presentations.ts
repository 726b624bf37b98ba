import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { JsonValue } from '../../canonical/parse-json.ts'
import { presentationReceived } from '../../contracts/worker-messages.ts'
import { NotFoundError, ValidationError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { equalSecrets } from '../../platform/process/secrets.ts'
import { insertAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import type { RefusalReason } from '../credentials/refusal.ts'
import { SANDBOX_ISSUER } from '../credentials/sandbox-issuer.ts'
import { namedClaims } from '../credentials/select-claims.ts'
import type { VerifiedResponse } from '../credentials/verify-response.ts'
import { generateEncryptionKey, signJwt } from '../domain-keys/signing-key.ts'
import { type Committed, commit } from '../evidence/commitment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import {
  MAX_FETCHES,
  MAX_REFUSALS,
  type Presentation,
  type PresentationSecrets,
  REQUEST_LIFE_MS,
  stateAt,
} from '../identity/presentation.ts'
import {
  countFetch,
  findPresentation,
  findValues,
  insertPresentation,
  lockPresentation,
  setReceived,
  setRefused,
  setVerified,
} from '../identity/presentation-store.ts'
import { isRegisteredRedirect } from '../identity/redirect-store.ts'
import {
  authorizationRequest,
  presentationPageUrl,
  type RequestSigner,
  requestAddresses,
  requestClaims,
} from '../identity/request-object.ts'
import type { PresentationRequest } from '../identity/requests.ts'
import { findSubject } from '../identity/subject-store.ts'
import { recordUsage } from '../metering/store.ts'
import { instant, type OperationDeps } from './deps.ts'

/** The handle, the last part of a request's addresses, is stored only as this digest. */
export function handleDigestOf(handle: string): Buffer {
  return hash('sha256', handle, 'buffer')
}

/** One-way, so that the QR code, which contains the handle, does not reveal the address of the page. */
export function handleOfPage(page: string): string {
  return hash('sha256', `presentation-page|${page}`, 'base64url')
}

/** @throws NotFoundError; ValidationError for an unregistered redirect */
export async function requestPresentation(
  tx: Knex.Transaction,
  owner: Owner,
  request: PresentationRequest,
  deps: Pick<OperationDeps, 'secrets' | 'now'> & { clientId: string; publicUrl: string },
) {
  const { redirectUri = null, subjectId = null, dealId = null } = request
  if (subjectId !== null) {
    const subject = await findSubject(tx, owner, subjectId)
    if (!subject || subject.state === 'REVOKED') throw new NotFoundError('subject not found')
  }
  if (redirectUri !== null && !(await isRegisteredRedirect(tx, owner, redirectUri))) {
    const message = 'redirectUri is not registered for this organisation'
    throw new ValidationError(message, [{ path: 'redirectUri', code: 'NOT_REGISTERED', message }])
  }
  const random = () => randomBytes(32).toString('base64url')
  const encryptionKey = request.responseMode === 'direct_post.jwt' ? await generateEncryptionKey() : null
  const page = random()
  const handle = handleOfPage(page)
  const secrets: PresentationSecrets = { page, handle, nonce: random(), state: random(), encryptionKey }
  const id = randomUUID()
  const nowMs = toMillis(deps.now())
  const expiresAt = new Date(nowMs + REQUEST_LIFE_MS)
  await insertPresentation(tx, {
    ...owner,
    id,
    subjectId,
    dealId,
    purpose: request.purpose,
    query: request.query,
    responseMode: request.responseMode,
    redirectUri,
    retainHours: request.retainHours,
    clientId: deps.clientId,
    sealedSecrets: deps.secrets.seal('presentation', JSON.stringify(secrets)),
    handleDigest: handleDigestOf(secrets.handle),
    createdAt: new Date(nowMs),
    expiresAt,
  })
  const { requestUri } = requestAddresses(deps.publicUrl, secrets.handle)
  return {
    presentationId: id,
    state: 'CREATED' as const,
    responseMode: request.responseMode,
    expiresAt: expiresAt.toISOString(),
    requestUri,
    pageUrl: presentationPageUrl(deps.publicUrl, page),
    authorizationRequest: authorizationRequest(deps.clientId, requestUri),
  }
}

/** Returns null if the request has expired or was served ten times. `walletNonce` is null for GET. */
export async function serveRequestObject(
  db: Knex,
  presentation: Presentation,
  walletNonce: string | null,
  deps: Pick<OperationDeps, 'secrets' | 'now'> & { signer: RequestSigner; publicUrl: string },
): Promise<string | null> {
  if (stateAt(presentation, toMillis(deps.now())) === 'EXPIRED') return null
  if (!(await countFetch(db, presentation.id, MAX_FETCHES))) return null
  const secrets = JSON.parse(deps.secrets.open('presentation', presentation.sealedSecrets)) as PresentationSecrets
  const claims = requestClaims(presentation, secrets, deps.publicUrl, walletNonce)
  return await signJwt(claims, { typ: 'oauth-authz-req+jwt', ...deps.signer.header }, deps.signer.key)
}

export type Received =
  | { taken: true; responseCode: string | null }
  | { taken: false; reason: 'EXPIRED' | 'ALREADY_USED' }

/** Refuses a response while another one is verified, and after one was verified. */
export async function receivePresentation(
  tx: Knex.Transaction,
  { id }: Pick<Presentation, 'id'>,
  answer: { form: string; replyTo: string },
  deps: OperationDeps,
): Promise<Received> {
  const presentation = await lockPresentation(tx, id)
  const nowMs = toMillis(deps.now())
  const state = presentation && stateAt(presentation, nowMs)
  if (!presentation || state === 'EXPIRED') return { taken: false, reason: 'EXPIRED' }
  if (state !== 'CREATED' && state !== 'REQUEST_FETCHED') return { taken: false, reason: 'ALREADY_USED' }
  const responseCode = presentation.redirectUri === null ? null : randomBytes(32).toString('base64url')
  await setReceived(tx, id, {
    sealedForm: deps.secrets.seal('presentation', answer.form),
    responseCodeDigest: responseCode === null ? null : hash('sha256', responseCode, 'buffer'),
    at: new Date(nowMs),
  })
  await deps.enqueue(presentationReceived, { presentationId: id, replyTo: answer.replyTo })
  return { taken: true, responseCode }
}

const HOUR_MS = 3_600_000

/** Reopens the request, except after the third refusal and after an error of the wallet. */
export async function refusePresentation(
  tx: Knex.Transaction,
  presentation: Presentation,
  why: { reason: RefusalReason } | { walletError: string },
  deps: Pick<OperationDeps, 'now'>,
): Promise<void> {
  const isError = 'walletError' in why
  const isOver = isError || presentation.refusals + 1 >= MAX_REFUSALS
  await setRefused(tx, presentation.id, {
    state: isOver ? 'REJECTED' : 'REQUEST_FETCHED',
    reasons: isError ? ['WALLET_ERROR'] : [why.reason],
    walletError: isError ? why.walletError : null,
    at: new Date(toMillis(deps.now())),
  })
}

/** Stores the anchored record, sealed values, one unit and one event. */
export async function completePresentation(
  tx: Knex.Transaction,
  presentation: Presentation,
  { answers, discarded }: VerifiedResponse,
  deps: OperationDeps,
): Promise<void> {
  const { organisationId, env } = presentation
  const values = namedClaims(presentation.query, answers)
  const { sealed, commitments } = commit(Object.fromEntries(values), randomBytes)
  const timestamp = instant(deps.now())
  const fields = [...values.keys()]
  const record = await anchorRecord(tx, env, 'oid4vp.presentation_verified', timestamp, {
    recordId: randomUUID(),
    presentationId: presentation.id,
    fields,
    ...credentialFacts(answers),
    commitments,
  })
  const now = toMillis(deps.now())
  const [first] = answers
  const isOperators = answers.every(({ credential }) => credential.issuer.isOperators)
  const isHigh = answers.every(({ credential }) => credential.issuer.assurance === 'HIGH')
  const ends = answers.flatMap(({ credential }) => credential.expiresAt ?? [])
  const statuses = answers.flatMap(({ credential: { status, issuer } }) =>
    status ? [{ ...status, iss: issuer.iss }] : [],
  )
  await setVerified(tx, presentation.id, {
    fields,
    issuer: first?.credential.issuer.iss ?? '',
    tier: isOperators ? 'ISSUER_CONFIRMED' : 'DOCUMENT_SIGNED',
    assurance: isOperators && isHigh ? 'HIGH' : 'SUBSTANTIAL',
    credentialExpiresAt: ends.length === 0 ? null : new Date(Math.min(...ends) * 1000),
    discarded,
    record: canonicalize(record),
    sealedValues: deps.secrets.seal('identity', JSON.stringify(sealed)),
    sealedStatus: statuses.length === 0 ? null : deps.secrets.seal('identity', JSON.stringify(statuses)),
    credentialDigests: answers.flatMap(({ credential: { issuer, digest } }) =>
      issuer.iss === SANDBOX_ISSUER ? [digest] : [],
    ),
    purgeAt: new Date(now + presentation.retainHours * HOUR_MS),
    at: new Date(now),
  })
  await recordUsage(tx, { organisationId, env, family: 'identity', unitKey: `presentation/${presentation.id}` })
  await recordEvent(tx, deps.enqueue, {
    env,
    organisationId,
    type: 'oid4vp.presentation_received',
    dealId: presentation.dealId ?? presentation.id,
    fields,
    occurredAt: timestamp,
  })
}

/** Returns type and issuer key of the first credential and, if there are several, of each of them. */
function credentialFacts(answers: VerifiedResponse['answers']) {
  const facts = answers.map(({ query, credential: { vct, issuerKeyThumbprint } }) => ({
    id: query.id,
    vct,
    issuerKeyThumbprint,
  }))
  const [first] = facts
  const { vct = '', issuerKeyThumbprint = '' } = first ?? {}
  return facts.length === 1 ? { vct, issuerKeyThumbprint } : { vct, issuerKeyThumbprint, credentials: facts }
}

/** Audits each read. `responseCode` comes from the redirect; a signed-in person does not need it. */
export async function readPresentationValues(
  db: Knex,
  actor: Actor,
  { organisationId, env }: Owner,
  id: string,
  responseCode: string | null,
  deps: Pick<OperationDeps, 'secrets' | 'now'>,
): Promise<Committed<JsonValue>[] | undefined> {
  return await db.transaction(async (tx) => {
    const presentation = await findPresentation(tx, { organisationId, env }, id)
    if (presentation?.state !== 'VERIFIED') return undefined
    const { responseCodeDigest: digest } = presentation
    const isRight = digest === null || equalSecrets(hash('sha256', responseCode ?? '', 'buffer'), digest)
    if (!isRight && actor.kind !== 'person') return undefined
    const sealed = await findValues(tx, id, new Date(toMillis(deps.now())))
    if (sealed === undefined) return undefined
    await insertAudit(tx, { ...auditedActor(actor), organisationId, action: 'presentation.values_read', target: id })
    return JSON.parse(deps.secrets.open('identity', sealed)) as Committed<JsonValue>[]
  })
}
