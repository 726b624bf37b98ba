import { AnchoringError } from './anchoring-error.ts'
import { cosign, verifyCosignature } from './cosignature.ts'
import { isKeyName, isSameKey, LOG_KEY, type NoteKey, type NoteSigner, signMessage, verifyMessage } from './note-key.ts'
import { parseBase64, toBase64 } from './text.ts'

/** Larger notes are rejected before any computation; a checkpoint with 16 signatures has about 3,000 characters. */
export const MAX_NOTE_CHARACTERS = 65_536
/** C2SP requires at least 16. */
const MAX_NOTE_SIGNATURES = 128

/** `id` is the 4-byte key id, `signature` the bytes after it. */
export interface NoteSignature {
  readonly name: string
  readonly id: Uint8Array
  readonly signature: Uint8Array
}

/** Unverified. `text` includes its last newline. */
export interface ParsedNote {
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

export interface VerifiedSignature {
  readonly key: NoteKey
  readonly time?: number
}

export interface DecodedNote extends ParsedNote {
  readonly verified: readonly VerifiedSignature[]
}

/** Parses an untrusted note (C2SP signed-note). @throws AnchoringError NOTE_MALFORMED, TOO_LARGE */
export function parseNote(note: string): ParsedNote {
  if (note.length > MAX_NOTE_CHARACTERS) throw new AnchoringError('TOO_LARGE', 'the note is too large')
  if (!note.isWellFormed() || hasControlCharacter(note)) throw malformed('it has a control character')
  const split = note.lastIndexOf('\n\n')
  if (split < 1 || !note.endsWith('\n')) throw malformed('no blank line before the signatures, or no last newline')
  return { text: note.slice(0, split + 1), signatures: parseSignatureLines(note.slice(split + 2)) }
}

/** @throws AnchoringError NOTE_MALFORMED, TOO_LARGE */
export function parseSignatureLines(text: string): NoteSignature[] {
  if (text.length > MAX_NOTE_CHARACTERS) throw new AnchoringError('TOO_LARGE', 'the signatures are too large')
  if (!text.endsWith('\n')) throw malformed('the last signature line has no newline')
  const lines = text.slice(0, -1).split('\n')
  if (lines.length > MAX_NOTE_SIGNATURES) throw malformed(`more than ${MAX_NOTE_SIGNATURES} signatures`)
  return lines.map(parseSignatureLine)
}

function parseSignatureLine(line: string): NoteSignature {
  const [dash, name = '', encoded = '', ...rest] = line.split(' ')
  const bytes = parseBase64(encoded)
  if (dash !== '—' || !isKeyName(name) || rest.length > 0 || bytes === undefined || bytes.length < 5)
    throw malformed('a line is not a signature')
  return { name, id: bytes.subarray(0, 4), signature: bytes.subarray(4) }
}

/**
 * Ignores unknown keys, but an invalid line of a trusted key rejects the note. @throws AnchoringError NOTE_MALFORMED,
 * TOO_LARGE, NOTE_SIGNATURE_INVALID, NOTE_UNSIGNED
 */
export function decodeNote(note: string, keys: readonly NoteKey[]): DecodedNote {
  const parsed = parseNote(note)
  const verified = verifySignatures(parsed.text, parsed.signatures, keys)
  if (verified.length === 0) throw new AnchoringError('NOTE_UNSIGNED', 'no trusted key signed the note')
  return { ...parsed, verified }
}

/** Returns at most one signature per trusted key. @throws AnchoringError NOTE_SIGNATURE_INVALID */
export function verifySignatures(
  text: string,
  signatures: readonly NoteSignature[],
  keys: readonly NoteKey[],
): VerifiedSignature[] {
  const verified = new Map<NoteKey, VerifiedSignature>()
  for (const line of signatures) {
    const key = keys.find((candidate) => isSameKey(candidate, line))
    if (key === undefined) continue
    const result = verifyLine(text, line.signature, key)
    if (result === undefined)
      throw new AnchoringError('NOTE_SIGNATURE_INVALID', `the signature of ${key.name} does not verify`)
    verified.set(key, result)
  }
  return [...verified.values()]
}

function verifyLine(text: string, signature: Uint8Array, key: NoteKey): VerifiedSignature | undefined {
  if (key.type === LOG_KEY) return verifyMessage(key, text, signature) ? { key } : undefined
  const time = verifyCosignature(text, signature, key)
  return time === undefined ? undefined : { key, time }
}

/** `time` is in POSIX seconds, for witnesses only. */
export function signNote(text: string, signers: readonly NoteSigner[], time = 0): string {
  return `${text}\n${signers.map((signer) => signatureLine(text, signer, time)).join('')}`
}

/** Includes the newline; `time` as in `signNote`. */
export function signatureLine(text: string, signer: NoteSigner, time = 0): string {
  const { key } = signer
  const signature = key.type === LOG_KEY ? signMessage(signer, text) : cosign(text, time, signer)
  return formatSignatureLine({ name: key.name, id: key.id, signature })
}

export function formatSignatureLine({ name, id, signature }: NoteSignature): string {
  return `— ${name} ${toBase64(Buffer.concat([id, signature]))}\n`
}

function hasControlCharacter(note: string): boolean {
  for (let at = 0; at < note.length; at++) {
    const code = note.charCodeAt(at)
    if (code < 0x20 && code !== 0x0a) return true
  }
  return false
}

function malformed(message: string): AnchoringError {
  return new AnchoringError('NOTE_MALFORMED', `not a signed note: ${message}`)
}
