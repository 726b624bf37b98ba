import { AnchoringError } from './anchoring-error.ts'
import { MAX_NOTE_CHARACTERS } from './note.ts'
import { parseBase64, parseBase64Hash, parseDecimal, toBase64 } from './text.ts'

const HEADER = 'c2sp.org/tlog-proof@v1'
/** No tree needs more (C2SP tlog-witness specifies 63). */
export const MAX_PROOF_HASHES = 63

export interface TlogProof {
  /** Opaque and not authenticated. */
  readonly extra?: Uint8Array
  readonly index: number
  /** From the leaf's sibling to the root's child. */
  readonly hashes: readonly Uint8Array[]
  readonly checkpoint: string
}

export function isTlogProof(text: string): boolean {
  return text.startsWith(`${HEADER}\n`)
}

export function formatTlogProof({ extra, index, hashes, checkpoint }: TlogProof): string {
  const lines = [HEADER, ...(extra === undefined ? [] : [`extra ${toBase64(extra)}`]), `index ${index}`]
  return `${[...lines, ...hashes.map(toBase64)].join('\n')}\n\n${checkpoint}`
}

/** Parses a proof; its checkpoint stays text. Verifies nothing. @throws AnchoringError PROOF_MALFORMED, TOO_LARGE */
export function parseTlogProof(text: string): TlogProof {
  if (text.length > 2 * MAX_NOTE_CHARACTERS) throw new AnchoringError('TOO_LARGE', 'the proof is too large')
  const end = text.indexOf('\n\n')
  const [header, ...lines] = text.slice(0, Math.max(end, 0)).split('\n')
  const extra = lines[0]?.startsWith('extra ') ? parseBase64(lines.shift()?.slice(6) ?? '') : null
  const [indexLine = '', ...hashLines] = lines
  const index = indexLine.startsWith('index ') ? parseDecimal(indexLine.slice(6)) : undefined
  const hashes = parseProofLines(hashLines)
  if (header !== HEADER || index === undefined || extra === undefined || hashes === undefined)
    throw new AnchoringError('PROOF_MALFORMED', `not a ${HEADER}`)
  const proof = { index, hashes, checkpoint: text.slice(end + 2) }
  return extra === null ? proof : { extra, ...proof }
}

/** Parses one hash per line. Returns undefined if one is malformed, or there are more than 63. */
export function parseProofLines(lines: readonly string[]): Uint8Array[] | undefined {
  if (lines.length > MAX_PROOF_HASHES) return undefined
  const hashes: Uint8Array[] = []
  for (const line of lines) {
    const hash = parseBase64Hash(line)
    if (hash === undefined) return undefined
    hashes.push(hash)
  }
  return hashes
}
