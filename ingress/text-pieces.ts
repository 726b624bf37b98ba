import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { createTimeSlices } from '#shared/platform/process/time-slices.ts'

/** Characters of text that are encoded at once. */
const PIECE_LENGTH = 65_536

/** Encodes the texts one after the other, yielding to the event loop; each text is made when it is needed. */
export async function textPieces(texts: Iterable<string>): Promise<Buffer[]> {
  const turns = createTimeSlices()
  const pieces: Buffer[] = []
  let text = ''
  for (const next of texts) {
    text += next
    if (text.length >= PIECE_LENGTH) {
      pieces.push(Buffer.from(text))
      text = ''
    }
    await turns.rest()
  }
  pieces.push(Buffer.from(text))
  return pieces
}

/** A JSON list of what `view` makes of the items, between `before` and `after`, as the texts that it consists of. */
export function* jsonListTexts<T>(items: Iterable<T>, view: (item: T) => unknown, before = '', after = '') {
  yield `${before}[`
  let separator = ''
  for (const item of items) {
    yield separator + JSON.stringify(view(item))
    separator = ','
  }
  yield `]${after}`
}

/**
 * An object as JSON, in the texts that it consists of: one for each item of its lists.
 * @param indent blanks of each level, as of `JSON.stringify`
 */
export function* jsonObjectTexts(object: object, indent: '' | '  ' = ''): Generator<string> {
  const line = indent === '' ? '' : '\n'
  const nested = (value: unknown, prefix: string) => JSON.stringify(value, null, indent).replaceAll('\n', `\n${prefix}`)
  yield '{'
  let separator = ''
  for (const [name, value] of Object.entries(object)) {
    yield `${separator}${line}${indent}${JSON.stringify(name)}:${indent === '' ? '' : ' '}`
    separator = ','
    if (!Array.isArray(value) || value.length === 0) {
      yield nested(value, indent)
      continue
    }
    for (const [index, item] of value.entries()) {
      yield `${index === 0 ? '[' : ','}${line}${indent}${indent}${nested(item, indent + indent)}`
    }
    yield `${line}${indent}]`
  }
  yield `${separator === '' ? '' : line}}`
}

/** Sends bytes that may be many, as fast as the client takes them. */
export async function sendPieces(response: Response, contentType: string, pieces: readonly Buffer[]): Promise<void> {
  response.setHeader('Content-Type', contentType)
  await sendStream(
    response,
    pieces,
    pieces.reduce((sum, { length }) => sum + length, 0),
  )
}

/**
 * Sends exactly `length` bytes, with backpressure. A client that leaves early is no error; if the source ends early,
 * the connection is cut.
 */
export async function sendStream(
  response: Response,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  length: number,
): Promise<void> {
  response.setHeader('Content-Length', length)
  await pipeline(Readable.from(pieces), response).catch(() => response.destroy())
}
