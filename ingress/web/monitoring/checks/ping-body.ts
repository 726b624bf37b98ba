import type { LogEntry } from '#shared/monitoring/pages/check-log-store.ts'
import type { Micros } from '#shared/time.ts'

/** Bytes per line of the hexadecimal view. */
const HEX_LINE = 16
/** Limits the hexadecimal view, which is four times as long as its bytes. */
const HEX_BYTES = 4096

/** Formats a body for display: indented JSON, binary data in hexadecimal, other text unchanged. */
export function bodyText(body: Buffer): string {
  const text = decoded(body)
  if (text === null) return hexView(body.subarray(0, HEX_BYTES))
  if (!/^\s*[{[]/.test(text)) return text
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  return indented(text)
}

/** Replaces invalid bytes, so that the other lines of the mail are readable. */
export function sourceText(mail: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(mail)
}

/** Omits a truncated last character. @returns null if the body is not text */
function decoded(body: Buffer): string | null {
  if (body.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: true })
  } catch {
    return null
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Nested brackets could become gigabytes of indentation; such a body is shown unchanged. */
const MAX_GROWTH = 4

/**
 * Formats valid JSON over several lines. Values keep their text, because parsing and serialising changes long numbers.
 */
function indented(json: string): string {
  let depth = 0
  let last = ''
  let text = ''
  for (const [token] of json.matchAll(TOKEN)) {
    const isEnd = token === '}' || token === ']'
    if (isEnd) depth -= 1
    const isEmpty = isEnd && (last === '{' || last === '[')
    if (last !== '' && !isEmpty && (isEnd || last === '{' || last === '[' || last === ','))
      text += `\n${'  '.repeat(depth)}`
    text += token === ':' ? ': ' : token
    if (token === '{' || token === '[') depth += 1
    last = token
    if (text.length > json.length * MAX_GROWTH + 1000) return json
  }
  return text
}

/** `00000010  7f 45 4c 46 …  .ELF` */
function hexView(bytes: Buffer): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += HEX_LINE) {
    const line = bytes.subarray(at, at + HEX_LINE)
    const hex = [...line].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const text = [...line].map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
    lines.push(`${at.toString(16).padStart(8, '0')}  ${hex.padEnd(HEX_LINE * 3 - 1)}  ${text}`)
  }
  return lines.join('\n')
}

/**
 * Masks secrets with stars, ignoring case. A mail contains its recipient, which is a ping address and hidden from
 * read-only members.
 * @param secrets contain only letters, digits, hyphens and underscores
 */
export function maskBytes(bytes: Buffer, secrets: readonly string[]): Buffer {
  return secrets.length === 0 ? bytes : Buffer.from(maskText(bytes.toString('latin1'), secrets), 'latin1')
}

/** As `maskBytes`, also for secrets across the borders of chunks. */
export async function* maskPieces(
  pieces: AsyncIterable<Buffer>,
  secrets: readonly string[],
): AsyncGenerator<Buffer, void, undefined> {
  const kept = Math.max(0, ...secrets.map(({ length }) => length - 1))
  let text = ''
  for await (const piece of pieces) {
    text = maskText(text + piece.toString('latin1'), secrets)
    const end = Math.max(0, text.length - kept)
    yield Buffer.from(text.slice(0, end), 'latin1')
    text = text.slice(end)
  }
  yield Buffer.from(text, 'latin1')
}

/** As `maskBytes`, for decoded text, which may contain secrets too. */
export function maskText(text: string, secrets: readonly string[]): string {
  return secrets.length === 0
    ? text
    : text.replaceAll(new RegExp(secrets.join('|'), 'gi'), (secret) => '*'.repeat(secret.length))
}

/** A line of the log. A finish includes its start if both are on the page. */
export type LogLine = LogEntry & {
  /** of a finish: the ping that started the run, and its duration */
  started: { n: number; took: Micros } | null
}

/**
 * Merges each finish with the start of its run.
 * @param entries newest first; a start belongs to the next finish with its run id
 */
export function pairEntries(entries: readonly LogEntry[]): LogLine[] {
  const lines: LogLine[] = []
  const open = new Map<string | null, LogLine>()
  for (const entry of entries) {
    if (entry.kind === 'ping' && entry.type === 'start') {
      const finish = open.get(entry.rid)
      open.delete(entry.rid)
      if (finish && finish.at >= entry.at) {
        finish.started = { n: Number(entry.id), took: finish.at - entry.at }
        continue
      }
    }
    const line: LogLine = { ...entry, started: null }
    if (entry.kind === 'ping' && (entry.type === 'success' || entry.type === 'fail')) open.set(entry.rid, line)
    lines.push(line)
  }
  return lines
}

const MAX_LENGTH = 120

/** Returns the first non-blank line, truncated; empty if the bytes are not text. */
export function firstLine(head: Buffer | null): string {
  return shortened(textLines(head).find(isNotBlank) ?? '')
}

/** Returns the last non-blank line of a whole body, truncated; empty if the bytes are not text. */
export function lastLine(body: Buffer | null): string {
  return shortened(textLines(body).findLast(isNotBlank) ?? '')
}

const isNotBlank = (line: string) => line.trim() !== ''

function textLines(bytes: Buffer | null): string[] {
  if (bytes?.some((byte) => byte < 32 && byte !== 9 && byte !== 10 && byte !== 13)) return []
  return bytes?.toString('utf8').split('\n') ?? []
}

function shortened(line: string): string {
  const clean = line.trim().replace(/\uFFFD+$/, '')
  return clean.length > MAX_LENGTH ? `${clean.slice(0, MAX_LENGTH)}…` : clean
}
