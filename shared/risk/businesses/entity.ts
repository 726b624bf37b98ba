import { panOfGstin } from '../identifiers/gstin.ts'
import { veiOf } from '../identifiers/vei.ts'
import type { EntityJwk } from './requests.ts'

export interface EntityIdentifiers {
  gstin?: string | undefined
  pan?: string | undefined
  cin?: string | undefined
  llpin?: string | undefined
  lei?: string | undefined
  udyam?: string | undefined
}

export function panOf({ gstin, pan }: EntityIdentifiers): string | undefined {
  return pan ?? (gstin === undefined ? undefined : panOfGstin(gstin))
}

export function isPersonsPan(pan: string | undefined): boolean {
  return pan !== undefined && /^...[PH]/.test(pan)
}

/** Uses the PAN or, while no PAN is known, the company number; includes the former identifiers. */
export function veisOf(key: Uint8Array, identifiers: EntityIdentifiers): { vei: string; aliases: string[] } | null {
  const names = [panOf(identifiers), identifiers.cin, identifiers.llpin].filter((name) => name !== undefined)
  const [vei, ...aliases] = names.map((name) => veiOf(key, name))
  return vei === undefined ? null : { vei, aliases }
}

/** An organisation trusts the key for an entity. */
export interface EntityKey {
  /** RFC 7638, SHA-256 */
  thumbprint: string
  jwk: EntityJwk
  createdAt: Date
  revokedAt: Date | null
}

/** Legal forms and particles, which do not identify a business. */
const DROPPED: ReadonlySet<string> = new Set('PRIVATE PVT LIMITED LTD LLP COMPANY CO THE M S MESSRS'.split(' '))

/** 2000 times the common words by all words, rounded down; null for a name of legal forms only. */
export function nameSimilarity(one: string, other: string): number | null {
  const [left, right] = [wordsOf(one), wordsOf(other)]
  if (left.length === 0 || right.length === 0) return null
  const counts = new Map<string, number>()
  for (const word of left) counts.set(word, (counts.get(word) ?? 0) + 1)
  let common = 0
  for (const word of right) {
    const count = counts.get(word) ?? 0
    if (count === 0) continue
    common += 1
    counts.set(word, count - 1)
  }
  return Math.floor((2000 * common) / (left.length + right.length))
}

function wordsOf(name: string): string[] {
  return name
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll('&', ' AND ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !DROPPED.has(word))
}
