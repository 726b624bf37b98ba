import type { IncomingMessage } from 'node:http'
import { AbortedRequestError } from './request-errors.ts'

/** The body of a request, which stays open for an answer when it is not read to its end. @throws AbortedRequestError */
export async function* bodyPieces(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* request.iterator({ destroyOnReturn: false })
  } catch (error) {
    throw request.complete ? error : new AbortedRequestError('the request ended early')
  }
  if (!request.complete) throw new AbortedRequestError('the request ended early')
}
