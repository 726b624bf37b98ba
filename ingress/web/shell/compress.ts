import { promisify } from 'node:util'
import { constants, gzip, gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'

/** Below this a packet holds it anyway. */
const MIN_BYTES = 1_400
/** A page of two hundred kilobytes takes two milliseconds; more effort saves a twentieth of its size. */
const LEVEL = 4

/**
 * Ends an answer with a page, compressed where the browser reads that. Form tokens are masked anew in each page
 * (csrf.ts), so that the length of an answer tells nothing of them to who can put text into it.
 */
export function endCompressed(request: Request, response: Response, text: string): void {
  const bytes = Buffer.from(text)
  response.vary('Accept-Encoding')
  if (bytes.length < MIN_BYTES || !acceptsGzip(request)) {
    response.end(bytes)
    return
  }
  response.set('Content-Encoding', 'gzip').end(gzipSync(bytes, { level: LEVEL }))
}

/** A text that is sent to many. */
export interface CompressedText {
  plain: Buffer
  gzip: Buffer
}

const compress = promisify(gzip)

/** Compresses a text beside the event loop. */
export async function compressedText(text: string): Promise<CompressedText> {
  const plain = Buffer.from(text)
  return { plain, gzip: await compress(plain, { level: LEVEL }) }
}

/** Ends an answer with a text that was compressed before. */
export function sendCompressed(request: Request, response: Response, { plain, gzip }: CompressedText): void {
  response.vary('Accept-Encoding')
  if (acceptsGzip(request)) response.set('Content-Encoding', 'gzip').end(gzip)
  else response.end(plain)
}

export function acceptsGzip(request: Request): boolean {
  return request.acceptsEncodings('gzip') === 'gzip'
}

/** For what is compressed once and sent often. @returns undefined where it would not be smaller, as with fonts */
export function compressedOnce(content: Buffer): Buffer | undefined {
  const compressed = gzipSync(content, { level: constants.Z_BEST_COMPRESSION })
  return compressed.length < content.length * 0.9 ? compressed : undefined
}
