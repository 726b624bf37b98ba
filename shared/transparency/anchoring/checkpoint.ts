import { AnchoringError } from './anchoring-error.ts'
import { decodeNote, parseNote, signNote, type VerifiedSignature } from './note.ts'
import { isKeyName, LOG_KEY, type NoteKey, type NoteSigner, WITNESS_KEY } from './note-key.ts'
import { parseBase64Hash, parseDecimal, toBase64 } from './text.ts'

/** A log's promise: the tree of `size` entries has this root. */
export interface Checkpoint {
  /** The log's name, also that of its key. */
  readonly origin: string
  readonly size: number
  /** 32 bytes. */
  readonly root: Uint8Array
}

/** A checkpoint whose log signature verified, and the trusted witnesses that cosigned it. */
export interface DecodedCheckpoint {
  readonly checkpoint: Checkpoint
  /** The three lines that were signed. */
  readonly text: string
  readonly logKey: NoteKey
  readonly cosignatures: readonly VerifiedSignature[]
}

/** C2SP tlog-checkpoint: origin, decimal size, base64 root, each with a newline; never extension lines. */
function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

/**
 * The inverse of `formatCheckpoint`, for text from an attacker: extension lines are refused.
 * @throws AnchoringError CHECKPOINT_MALFORMED
 */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', sizeLine = '', rootLine = '', ...rest] = text.split('\n')
  const size = parseDecimal(sizeLine)
  const root = parseBase64Hash(rootLine)
  if (!isKeyName(origin) || size === undefined || root === undefined || rest.length !== 1 || rest[0] !== '')
    throw new AnchoringError('CHECKPOINT_MALFORMED', 'a checkpoint is three lines: origin, size, base64 root')
  return { origin, size, root }
}

/** The signed note of a checkpoint; the signer's name must be the origin. */
export function signCheckpoint(checkpoint: Checkpoint, signer: NoteSigner): string {
  if (signer.key.name !== checkpoint.origin || signer.key.type !== LOG_KEY)
    throw new AnchoringError('CHECKPOINT_ORIGIN', 'the signer is not the log of this origin')
  return signNote(formatCheckpoint(checkpoint), [signer])
}

/** What a checkpoint note says, without believing it: nothing is verified. */
export function readCheckpoint(note: string): Checkpoint {
  return parseCheckpoint(parseNote(note).text)
}

/**
 * Verifies a checkpoint note from anywhere.
 * @param keys the trusted log keys and witness keys together; at least one log key whose name is the origin must sign
 * @throws AnchoringError of `decodeNote` and `parseCheckpoint`; CHECKPOINT_ORIGIN when only other logs' keys signed
 */
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
