import type { JWK } from 'jose'
import { parseJson } from '../../canonical/parse-json.ts'
import { objectOf } from './jwt.ts'

/** Keys that an issuer may publish. */
const MAX_KEYS = 20

/** The key set of an issuer's metadata (SD-JWT VC section 5). @returns none when it is malformed, or of another issuer */
export function readJwksMetadata(text: string, iss: string): JWK[] {
  try {
    const metadata = objectOf(parseJson(text, { maxDepth: 8, maxValues: 1_000 }))
    const keys = metadata?.issuer === iss ? objectOf(metadata.jwks)?.keys : undefined
    // Objects of JSON; what is no key does not import.
    return Array.isArray(keys) ? keys.slice(0, MAX_KEYS).flatMap((key) => (objectOf(key) as JWK | null) ?? []) : []
  } catch {
    return []
  }
}
