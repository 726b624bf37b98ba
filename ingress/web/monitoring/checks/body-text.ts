/** Bytes a line of the view of what is no text. */
const HEX_LINE = 16
/** Bytes of what is no text that a page shows: the view of them is four times as long. */
const HEX_BYTES = 4096

/** A body as people read it: JSON with its structure, what is no text as its bytes, everything else as it came. */
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

/** A mail as it was sent: bytes that are no text are replaced, so that the lines around them can be read. */
export function sourceText(mail: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(mail)
}

/** @returns null for what is no text; a last character that is cut is left out */
function decoded(body: Buffer): string | null {
  if (body.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: true })
  } catch {
    return null
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** A body of brackets within brackets would become gigabytes of indentation: it is shown as it came. */
const MAX_GROWTH = 4

/** Valid JSON over several lines. Its values stay as they were written: parsed and written anew, long numbers differ. */
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
