import { ValidationError } from '#shared/errors.ts'
import { parseFormText } from './form-text.ts'
import { AbortedRequestError, PayloadTooLargeError, UnsupportedMediaTypeError } from './request-safety.ts'

/** Maximum bytes of all fields before the file, including their headers. */
const MAX_FIELDS = 65_536
const BREAK = Buffer.from('\r\n')
const MAX_FILE_NAME = 200
const HEAD_END = Buffer.from('\r\n\r\n')

export interface UploadForm {
  form: URLSearchParams
  /** can be read once; unread bytes are dropped; null if the form has no file */
  file: AsyncGenerator<Buffer> | null
  /** without folders and control characters; null if the file has no name */
  fileName: string | null
}

/**
 * Parses a form of `multipart/form-data` whose file comes last (RFC 7578), up to the file. Ignores the type of the
 * file.
 * @param pieces the body
 * @throws UnsupportedMediaTypeError, ValidationError, PayloadTooLargeError, AbortedRequestError
 */
export async function readUploadForm(pieces: AsyncGenerator<Buffer>, contentType: string): Promise<UploadForm> {
  const boundary = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(
    contentType,
  )
  if (!boundary) throw new UnsupportedMediaTypeError('the form must be sent as multipart/form-data')
  const body = new Pieces(pieces)
  const delimiter = Buffer.from(`\r\n--${boundary[1] ?? boundary[2] ?? ''}`)
  // The first delimiter has no line break before it.
  body.prepend(BREAK)
  await body.upTo(delimiter)
  const fields = new URLSearchParams()
  for (;;) {
    const [first = 0, second = 0] = await body.take(2)
    if (first === 45 && second === 45) return { form: parseFormText(fields.toString()), file: null, fileName: null }
    if (first !== 13 || second !== 10) throw malformed()
    // A part without headers begins with the empty line.
    body.prepend(BREAK)
    const { name, isFile, fileName } = readHead(await body.upTo(HEAD_END))
    if (isFile) return { form: parseFormText(fields.toString()), file: body.until(delimiter), fileName }
    fields.append(name, (await body.upTo(delimiter)).toString('utf8'))
  }
}

function readHead(head: Buffer): { name: string; isFile: boolean; fileName: string | null } {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(head.toString('utf8'))?.[1] ?? ''
  const name = /(?:^|;)\s*name="([^"\r\n]{1,100})"/i.exec(disposition)?.[1]
  if (name === undefined) throw malformed()
  const given = /;\s*filename="([^\r\n]*)"/i.exec(disposition)?.[1]
  return { name, isFile: /;\s*filename\*?=/i.test(disposition), fileName: plainName(given ?? '') }
}

/** Browsers escape only quotation marks and line breaks (WHATWG HTML, multipart/form-data). */
function plainName(given: string): string | null {
  const unescaped = given.replaceAll('%22', '"').replaceAll(/%0[AD]/gi, ' ')
  const [last = ''] = unescaped.split(/[/\\]/).slice(-1)
  const name = last.toWellFormed().replaceAll(/\p{C}/gu, '').trim().slice(0, MAX_FILE_NAME)
  return name === '' ? null : name.toWellFormed()
}

function malformed(): ValidationError {
  const message = 'the form is not well formed'
  return new ValidationError(message, [{ path: '', code: 'FORMAT', message }])
}

class Pieces {
  readonly #pieces: AsyncGenerator<Buffer>
  #rest: Buffer = Buffer.alloc(0)
  /** bytes that may still be buffered */
  #budget = MAX_FIELDS

  constructor(pieces: AsyncGenerator<Buffer>) {
    this.#pieces = pieces
  }

  prepend(bytes: Buffer): void {
    this.#rest = Buffer.concat([bytes, this.#rest])
  }

  /** @throws AbortedRequestError at the end */
  async #more(): Promise<void> {
    const { done, value } = await this.#pieces.next()
    if (done) throw new AbortedRequestError('the form ended early')
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
  }

  async take(count: number): Promise<Buffer> {
    while (this.#rest.length < count) await this.#more()
    const taken = this.#rest.subarray(0, count)
    this.#rest = this.#rest.subarray(count)
    return taken
  }

  /** Returns the bytes before `delimiter`, and skips it. @throws PayloadTooLargeError */
  async upTo(delimiter: Buffer): Promise<Buffer> {
    let at = this.#rest.indexOf(delimiter)
    while (at === -1) {
      if (this.#rest.length > this.#budget) throw tooLarge()
      await this.#more()
      at = this.#rest.indexOf(delimiter)
    }
    this.#budget -= at + delimiter.length
    if (this.#budget < 0) throw tooLarge()
    const before = this.#rest.subarray(0, at)
    this.#rest = this.#rest.subarray(at + delimiter.length)
    return before
  }

  /** Returns the chunks before `delimiter`, of any length. Reads and drops all data after it. */
  async *until(delimiter: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#rest.indexOf(delimiter)
      const end = at === -1 ? this.#rest.length - delimiter.length + 1 : at
      if (end > 0) yield this.#rest.subarray(0, end)
      if (at !== -1) break
      this.#rest = this.#rest.subarray(Math.max(0, end))
      await this.#more()
    }
    this.#rest = Buffer.alloc(0)
    let dropped = 0
    for (let next = await this.#pieces.next(); !next.done; next = await this.#pieces.next()) {
      dropped += next.value.length
      if (dropped > MAX_FIELDS) throw malformed()
    }
  }
}

function tooLarge(): PayloadTooLargeError {
  return new PayloadTooLargeError(`the fields before the file are longer than ${MAX_FIELDS} bytes`)
}
