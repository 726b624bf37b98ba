import { constants, gzipSync } from 'node:zlib'
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

export function acceptsGzip(request: Request): boolean {
  return request.acceptsEncodings('gzip') === 'gzip'
}

/** For what is compressed once and sent often. @returns undefined where it would not be smaller, as with fonts */
export function compressedOnce(content: Buffer): Buffer | undefined {
  const compressed = gzipSync(content, { level: constants.Z_BEST_COMPRESSION })
  return compressed.length < content.length * 0.9 ? compressed : undefined
}
