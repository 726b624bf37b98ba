import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { createTimeSlices } from '#shared/platform/process/time-slices.ts'

/** Maximum number of characters that are encoded without a yield. */
const PIECE_LENGTH = 65_536

/** Encodes texts and yields to the event loop. Each text is created only when needed. */
export async function textPieces(texts: Iterable<string>): Promise<Buffer[]> {
  const slices = createTimeSlices()
  const pieces: Buffer[] = []
  let text = ''
  for (const next of texts) {
    text += next
    if (text.length >= PIECE_LENGTH) {
      pieces.push(Buffer.from(text))
      text = ''
    }
    await slices.yieldIfNeeded()
  }
  pieces.push(Buffer.from(text))
  return pieces
}

/** Yields the parts of a JSON list of views, between `before` and `after`. */
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
 * Yields the parts of an object as JSON, one per item of its lists.
 * @param indent as in `JSON.stringify`
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

/** Waits for a slow client. */
export async function sendPieces(response: Response, contentType: string, pieces: readonly Buffer[]): Promise<void> {
  response.setHeader('Content-Type', contentType)
  await sendStream(
    response,
    pieces,
    pieces.reduce((sum, { length }) => sum + length, 0),
  )
}

/**
 * Sends exactly `length` bytes, with backpressure. A client may disconnect; if the source ends early, the connection is
 * cut.
 */
export async function sendStream(
  response: Response,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  length: number,
): Promise<void> {
  response.setHeader('Content-Length', length)
  await pipeline(Readable.from(pieces), response).catch(() => response.destroy())
}
