import { AnchoringError } from './anchoring-error.ts'
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { EMPTY_ROOT, verifyConsistency } from './merkle.ts'
import {
  formatSignatureLine,
  MAX_NOTE_CHARACTERS,
  type ParsedNote,
  parseNote,
  parseSignatureLines,
  type VerifiedSignature,
  verifySignatures,
} from './note.ts'
import type { NoteKey } from './note-key.ts'
import { equalBytes, parseDecimal, toBase64 } from './text.ts'
import { parseProofLines } from './tlog-proof.ts'

/** The body of `POST <witness>/add-checkpoint` (C2SP tlog-witness). */
export interface AddCheckpoint {
  /** size of the last checkpoint that the witness cosigned; 0 if it has cosigned none */
  readonly oldSize: number
  /** consistency proof from `oldSize`; empty if that is 0 */
  readonly proof: readonly Uint8Array[]
  readonly note: string
}

export type WitnessedTree = Pick<Checkpoint, 'size' | 'root'>

/** For `cosign` the caller stores the new tree durably before it sends its cosignature of `text`. */
export type WitnessDecision =
  | { readonly outcome: 'cosign'; readonly checkpoint: Checkpoint; readonly text: string }
  | { readonly outcome: 'conflict'; readonly status: 409; readonly size: number; readonly reason: string }
  | { readonly outcome: 'refuse'; readonly status: 400 | 403 | 404 | 422; readonly reason: string }

export const SIZE_CONTENT_TYPE = 'text/x.tlog.size'

export function formatAddCheckpoint({ oldSize, proof, note }: AddCheckpoint): string {
  return `old ${oldSize}\n${proof.map((hash) => `${toBase64(hash)}\n`).join('')}\n${note}`
}

/** Parses an untrusted body. @throws AnchoringError REQUEST_MALFORMED, TOO_LARGE */
export function parseAddCheckpoint(body: string): AddCheckpoint {
  if (body.length > 2 * MAX_NOTE_CHARACTERS) throw new AnchoringError('TOO_LARGE', 'the request is too large')
  const end = body.indexOf('\n\n')
  const [oldLine = '', ...proofLines] = body.slice(0, Math.max(end, 0)).split('\n')
  const oldSize = oldLine.startsWith('old ') ? parseDecimal(oldLine.slice(4)) : undefined
  const proof = parseProofLines(proofLines)
  if (oldSize === undefined || proof === undefined)
    throw new AnchoringError('REQUEST_MALFORMED', 'expected an old size line, at most 63 proof lines and a blank line')
  return { oldSize, proof, note: body.slice(end + 2) }
}

/**
 * Decides if a witness cosigns the checkpoint in a request. The caller locks its record of the log from before this call
 * until the new tree is stored.
 * @param latest returns the tree that was cosigned last
 */
export function decideCosigning(
  body: string,
  logKeys: (origin: string) => readonly NoteKey[],
  latest: (origin: string) => WitnessedTree | undefined,
): WitnessDecision {
  let request: AddCheckpoint
  let note: ParsedNote
  let checkpoint: Checkpoint
  try {
    request = parseAddCheckpoint(body)
    note = parseNote(request.note)
    checkpoint = parseCheckpoint(note.text)
  } catch (error) {
    if (error instanceof AnchoringError) return refuse(400, error.message)
    throw error
  }
  const keys = logKeys(checkpoint.origin)
  if (keys.length === 0) return refuse(404, 'this witness does not follow this log')
  if (!isSignedBy(note, keys)) return refuse(403, 'no trusted key of this log signed the checkpoint')
  if (request.oldSize > checkpoint.size) return refuse(400, 'the old size is larger than the checkpoint')
  const cosigned = latest(checkpoint.origin) ?? { size: 0, root: EMPTY_ROOT }
  if (request.oldSize !== cosigned.size)
    return conflict(cosigned.size, 'the old size differs from the last cosigned size')
  if (cosigned.size === checkpoint.size && !equalBytes(cosigned.root, checkpoint.root))
    return refuse(422, 'another root was cosigned for this size')
  // Every tree extends the empty tree, so the proof from size 0 must be empty.
  const isConsistent =
    cosigned.size === 0 && checkpoint.size > 0
      ? request.proof.length === 0
      : verifyConsistency(cosigned.size, checkpoint.size, cosigned.root, checkpoint.root, request.proof)
  if (!isConsistent) return refuse(422, 'the consistency proof does not verify')
  return { outcome: 'cosign', checkpoint, text: note.text }
}

/**
 * Verifies a witness's response to `text`. Lines of other keys are ignored.
 * @returns the lines of trusted keys as received
 * @throws AnchoringError if a line is malformed or does not verify; COSIGNATURE_MISSING without a line of a trusted key
 */
export function acceptCosignatures(
  response: string,
  text: string,
  witnessKeys: readonly NoteKey[],
): { lines: string; cosignatures: VerifiedSignature[] } {
  const trusted = parseSignatureLines(response).filter((line) =>
    witnessKeys.some((key) => key.name === line.name && equalBytes(key.id, line.id)),
  )
  const cosignatures = verifySignatures(text, trusted, witnessKeys)
  if (cosignatures.length === 0) throw new AnchoringError('COSIGNATURE_MISSING', 'no trusted witness cosigned')
  return { lines: trusted.map(formatSignatureLine).join(''), cosignatures }
}

function isSignedBy(note: ParsedNote, keys: readonly NoteKey[]): boolean {
  try {
    return verifySignatures(note.text, note.signatures, keys).length > 0
  } catch {
    return false
  }
}

function refuse(status: 400 | 403 | 404 | 422, reason: string): WitnessDecision {
  return { outcome: 'refuse', status, reason }
}

function conflict(size: number, reason: string): WitnessDecision {
  return { outcome: 'conflict', status: 409, size, reason }
}
