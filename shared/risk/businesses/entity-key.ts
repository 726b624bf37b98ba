import type { EntityJwk } from './requests.ts'

/** A public key that an organisation trusts for an entity. */
export interface EntityKey {
  /** RFC 7638, SHA-256 */
  thumbprint: string
  jwk: EntityJwk
  createdAt: Date
  revokedAt: Date | null
}
