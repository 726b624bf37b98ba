import { panOfGstin } from '../identifiers/gstin.ts'
import { veiOf } from '../identifiers/vei.ts'

/** Identifiers by which an entity is known; normalised. */
export interface EntityIdentifiers {
  gstin?: string | undefined
  pan?: string | undefined
  cin?: string | undefined
  llpin?: string | undefined
  lei?: string | undefined
  udyam?: string | undefined
}

/** The PAN that identifiers hold. */
export function panOf({ gstin, pan }: EntityIdentifiers): string | undefined {
  return pan ?? (gstin === undefined ? undefined : panOfGstin(gstin))
}

/** Whether a PAN is that of a person: an individual or a Hindu undivided family. */
export function isPersonsPan(pan: string | undefined): boolean {
  return pan !== undefined && /^...[PH]/.test(pan)
}

/** The entity identifier: of the PAN, or of the company number while no PAN is known; with those it had before. */
export function veisOf(key: Uint8Array, identifiers: EntityIdentifiers): { vei: string; aliases: string[] } | null {
  const names = [panOf(identifiers), identifiers.cin, identifiers.llpin].filter((name) => name !== undefined)
  const [vei, ...aliases] = names.map((name) => veiOf(key, name))
  return vei === undefined ? null : { vei, aliases }
}
