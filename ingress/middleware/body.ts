import type { IncomingMessage } from 'node:http'
import { AbortedRequestError, PayloadTooLargeError, UnsupportedMediaTypeError } from './request-errors.ts'

/** The longest body of the management API and of `/v1`, in bytes (monitoring behaviour 5.4). */
const MAX_BODY_BYTES = 2_621_440

/** Whether a body belongs to a request. GET and HEAD may carry one too; nearly none do. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * The whole body, as sent. Refuses before buffering what is announced as too long, and while reading what turns out so.
 * @throws PayloadTooLargeError; the connection closes after the answer
 * @throws UnsupportedMediaTypeError for a compressed body
 */
export async function readBody(request: IncomingMessage, limit = MAX_BODY_BYTES): Promise<Buffer> {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new UnsupportedMediaTypeError('compressed bodies are not supported')
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = (act: () => void) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      act()
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) settle(() => reject(tooLarge(limit)))
      else chunks.push(chunk)
    }
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, length)))
    const onClose = () => settle(() => reject(new AbortedRequestError('the request ended early')))
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

function tooLarge(limit: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`the body is longer than ${limit} bytes`)
}
