import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { NotFoundError, ValidationError } from '../../errors.ts'
import { toMillis } from '../../time.ts'
import { generateEncryptionKey } from '../domain-keys/signing-key.ts'
import { type PresentationSecrets, REQUEST_LIFE_MS } from '../identity/presentation.ts'
import { insertPresentation } from '../identity/presentation-store.ts'
import { isRegisteredRedirect } from '../identity/redirect-store.ts'
import { authorizationRequest, presentationPageUrl, requestAddresses } from '../identity/request-object.ts'
import type { PresentationRequest } from '../identity/requests.ts'
import { findSubject } from '../identity/subject-store.ts'
import type { Owner } from '../jobs/job.ts'
import type { OperationDeps } from './deps.ts'

/** What a request is found by: the last part of its addresses is stored as a digest. */
export function handleDigestOf(handle: string): Buffer {
  return hash('sha256', handle, 'buffer')
}

/**
 * The handle of the request that a page shows: one way, so that whoever scans the code reaches neither the page nor an
 * object of the API.
 */
export function handleOfPage(page: string): string {
  return hash('sha256', `presentation-page|${page}`, 'base64url')
}

/**
 * Makes a request for a wallet; it lives for five minutes.
 * @throws NotFoundError for a subject that is not there, ValidationError for a redirect that is not registered
 */
export async function requestPresentation(
  tx: Knex.Transaction,
  owner: Owner,
  requested: PresentationRequest,
  deps: Pick<OperationDeps, 'secrets' | 'now'> & { clientId: string; publicUrl: string },
) {
  const { redirectUri = null, subjectId = null, dealId = null } = requested
  if (subjectId !== null) {
    const subject = await findSubject(tx, owner, subjectId)
    if (!subject || subject.state === 'REVOKED') throw new NotFoundError('there is no such subject')
  }
  if (redirectUri !== null && !(await isRegisteredRedirect(tx, owner, redirectUri))) {
    const message = 'redirectUri is not registered for this organisation'
    throw new ValidationError(message, [{ path: 'redirectUri', code: 'NOT_REGISTERED', message }])
  }
  const random = () => randomBytes(32).toString('base64url')
  const encryptionKey = requested.responseMode === 'direct_post.jwt' ? await generateEncryptionKey() : null
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
    purpose: requested.purpose,
    query: requested.query,
    responseMode: requested.responseMode,
    redirectUri,
    retainHours: requested.retainHours,
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
    responseMode: requested.responseMode,
    expiresAt: expiresAt.toISOString(),
    requestUri,
    pageUrl: presentationPageUrl(deps.publicUrl, page),
    authorizationRequest: authorizationRequest(deps.clientId, requestUri),
  }
}
