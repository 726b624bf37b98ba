import { AnchoringError } from './anchoring-error.ts'
import { decodeNote, parseNote, signNote, type VerifiedSignature } from './note.ts'
import { isKeyName, LOG_KEY, type NoteKey, type NoteSigner, WITNESS_KEY } from './note-key.ts'
import { parseBase64Hash, parseDecimal, toBase64 } from './text.ts'

/** Size and root hash of the tree of a log. */
export interface Checkpoint {
  /** Name of the log and of its key. */
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
}

/** A checkpoint with a verified signature of the log, and the cosignatures of trusted witnesses. */
export interface DecodedCheckpoint {
  readonly checkpoint: Checkpoint
  readonly text: string
  readonly logKey: NoteKey
  readonly cosignatures: readonly VerifiedSignature[]
}

/** C2SP tlog-checkpoint: origin, decimal size, base64 root, one per line, without extension lines. */
function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

/** Refuses extension lines. @throws AnchoringError CHECKPOINT_MALFORMED */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', sizeLine = '', rootLine = '', ...rest] = text.split('\n')
  const size = parseDecimal(sizeLine)
  const root = parseBase64Hash(rootLine)
  if (!isKeyName(origin) || size === undefined || root === undefined || rest.length !== 1 || rest[0] !== '')
    throw new AnchoringError('CHECKPOINT_MALFORMED', 'a checkpoint is three lines: origin, size, base64 root')
  return { origin, size, root }
}

/** The signer's name must be the origin. */
export function signCheckpoint(checkpoint: Checkpoint, signer: NoteSigner): string {
  if (signer.key.name !== checkpoint.origin || signer.key.type !== LOG_KEY)
    throw new AnchoringError('CHECKPOINT_ORIGIN', 'the signer is not the log of this origin')
  return signNote(formatCheckpoint(checkpoint), [signer])
}

export function readCheckpoint(note: string): Checkpoint {
  return parseCheckpoint(parseNote(note).text)
}

/** Verifies that a key of the origin signed the note. @throws AnchoringError, CHECKPOINT_ORIGIN for other logs */
export function decodeCheckpoint(note: string, keys: readonly NoteKey[]): DecodedCheckpoint {
  const { text, verified } = decodeNote(note, keys)
  const checkpoint = parseCheckpoint(text)
  const log = verified.find(({ key }) => key.type === LOG_KEY && key.name === checkpoint.origin)
  if (log === undefined) throw new AnchoringError('CHECKPOINT_ORIGIN', 'no trusted key of the origin signed')
  return {
    checkpoint,
    text,
    logKey: log.key,
    cosignatures: verified.filter(({ key }) => key.type === WITNESS_KEY),
  }
}
