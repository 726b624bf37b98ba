import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Knex } from 'knex'
import { ValidationError } from '#shared/errors.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { type ImportState, MAX_FILE_BYTES } from '#shared/risk/colending/imports/import.ts'
import {
  discardUpload,
  insertChunk,
  insertUpload,
  type NewUpload,
} from '#shared/risk/colending/imports/upload-store.ts'
import { receiveImport, type UploadedFile } from '#shared/risk/operations/imports.ts'
import type { IdempotentRequest, StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { answerOnce } from '#shared/tenancy/operations/idempotency.ts'
import type { IngressDeps } from './deps.ts'
import { PayloadTooLargeError, UnsupportedMediaTypeError } from './middleware/request-safety.ts'

const CHUNK_BYTES = 65_536

/** First bytes of ZIP (including spreadsheets), gzip and old spreadsheets. */
const PACKED = [
  [0x50, 0x4b, 0x03, 0x04],
  [0x1f, 0x8b],
  [0xd0, 0xcf, 0x11, 0xe0],
]

/**
 * Refuses other files before the body is read.
 * @throws UnsupportedMediaTypeError, PayloadTooLargeError
 */
export function requireFile(request: IncomingMessage, types: readonly string[]): void {
  const { 'content-type': type = '', 'content-encoding': encoding, 'content-length': length } = request.headers
  const [name = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase())
  const isText = parameters.every((one) => /^charset="?(?:utf-?8|us-ascii)"?$/.test(one) || one === 'header=present')
  if (!types.includes(name) || !isText) {
    throw new UnsupportedMediaTypeError(`the body must be ${types.join(' or ')} in UTF-8`)
  }
  if (encoding !== undefined && encoding !== 'identity') {
    throw new UnsupportedMediaTypeError('compressed bodies are not supported')
  }
  if (Number(length ?? 0) > MAX_FILE_BYTES) throw tooLarge()
}

/**
 * Stores an encrypted body chunk by chunk, without parsing it, so memory holds only one chunk. The upload is invisible
 * until it is complete.
 * @throws PayloadTooLargeError, UnsupportedMediaTypeError, ValidationError for an empty body, AbortedRequestError; the
 * stored chunks are then deleted
 */
async function storeUpload(
  deps: IngressDeps,
  request: AsyncIterable<Buffer>,
  upload: Omit<NewUpload, 'id'>,
): Promise<UploadedFile & { upload: NewUpload }> {
  const id = randomUUID()
  await insertUpload(deps.db, { id, ...upload })
  try {
    return { ...(await storeChunks(deps, id, request)), upload: { id, ...upload } }
  } catch (error) {
    await dropUpload(deps, id)
    throw error
  }
}

export interface Receiving {
  upload: Omit<NewUpload, 'id'>
  once(file: UploadedFile): IdempotentRequest & { retentionDays: number }
  /** runs in the transaction of the import; `isNew` is false if the same bytes were imported before */
  answer(
    received: { importId: string; status: ImportState; isNew: boolean },
    tx: Knex.Transaction,
  ): StoredAnswer | Promise<StoredAnswer>
}

/**
 * Stores a body, then creates its import and answers in one transaction. Equal bytes return the earlier import.
 * @throws as `storeUpload`
 */
export async function receiveUpload(
  deps: IngressDeps,
  bytes: AsyncIterable<Buffer>,
  receiving: Receiving,
): Promise<StoredAnswer> {
  const { upload, ...file } = await storeUpload(deps, bytes, receiving.upload)
  let isReceived = false
  try {
    return await answerOnce(deps, receiving.once(file), async (tx, enqueue) => {
      const { importId, status } = await receiveImport(tx, upload, file, { enqueue, now: deps.now })
      isReceived = importId === upload.id
      return await receiving.answer({ importId, status, isNew: isReceived }, tx)
    })
  } finally {
    if (!isReceived) await dropUpload(deps, upload.id)
  }
}

/** Deletes an upload; if that fails, a sweep deletes it later. */
async function dropUpload(deps: IngressDeps, id: string): Promise<void> {
  await discardUpload(deps.db, id).catch((error: unknown) =>
    deps.log.warn({ importId: id, ...describeError(error) }, 'upload.not-discarded'),
  )
}

async function storeChunks(deps: IngressDeps, id: string, request: AsyncIterable<Buffer>): Promise<UploadedFile> {
  const digest = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let filled = 0
  let stored = 0
  let bytes = 0
  const flush = async () => {
    const sealed = deps.secrets.sealBytes('import-chunk', chunk.subarray(0, filled))
    await insertChunk(deps.db, id, stored++, sealed)
    filled = 0
  }
  for await (const piece of request) {
    if (bytes === 0 && isPacked(piece))
      throw new UnsupportedMediaTypeError('the file is a spreadsheet or compressed: save it as CSV or text')
    bytes += piece.length
    if (bytes > MAX_FILE_BYTES) throw tooLarge()
    digest.update(piece)
    for (let at = 0; at < piece.length; ) {
      const taken = piece.copy(chunk, filled, at)
      at += taken
      filled += taken
      if (filled === CHUNK_BYTES) await flush()
    }
  }
  if (bytes === 0) {
    const message = 'the file is empty'
    throw new ValidationError(message, [{ path: '', code: 'TOO_SMALL', message }])
  }
  if (filled > 0) await flush()
  return { sha256: digest.digest(), bytes }
}

function isPacked(piece: Buffer): boolean {
  return PACKED.some((start) => start.every((byte, at) => piece[at] === byte))
}

function tooLarge(): PayloadTooLargeError {
  return new PayloadTooLargeError(`the file is larger than ${MAX_FILE_BYTES / 1024 ** 2} MiB`)
}
