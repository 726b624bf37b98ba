import type { Knex } from 'knex'
import { toMillis } from '../../time.ts'
import { signJwt } from '../domain-keys/signing-key.ts'
import { MAX_FETCHES, type Presentation, type PresentationSecrets, stateAt } from '../identity/presentation.ts'
import { countFetch } from '../identity/presentation-store.ts'
import { requestClaims } from '../identity/request-object.ts'
import type { RequestSigner } from '../identity/request-signer.ts'
import type { OperationDeps } from './deps.ts'

/**
 * The signed request object of a presentation, as a wallet fetches it; at most ten times.
 * @param walletNonce what the wallet wants repeated; null when it fetched by GET
 * @returns null once the request is over, or was served often enough
 */
export async function serveRequestObject(
  db: Knex,
  presentation: Presentation,
  walletNonce: string | null,
  deps: Pick<OperationDeps, 'secrets' | 'now'> & { signer: RequestSigner; publicUrl: string },
): Promise<string | null> {
  if (stateAt(presentation, toMillis(deps.now())) === 'EXPIRED') return null
  if (!(await countFetch(db, presentation.id, MAX_FETCHES))) return null
  // Sealed by us, in this form.
  const secrets = JSON.parse(deps.secrets.open('presentation', presentation.sealedSecrets)) as PresentationSecrets
  const claims = requestClaims(presentation, secrets, deps.publicUrl, walletNonce)
  return await signJwt(claims, { typ: 'oauth-authz-req+jwt', ...deps.signer.header }, deps.signer.key)
}
