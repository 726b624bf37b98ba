import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { signatureLine } from '#shared/transparency/anchoring/note.ts'
import type { NoteKey, NoteSigner } from '#shared/transparency/anchoring/note-key.ts'
import { decideCosigning, SIZE_CONTENT_TYPE } from '#shared/transparency/anchoring/witness-protocol.ts'
import type { WitnessState } from './state.ts'

const MAX_BODY_BYTES = 128 * 1024

export interface WitnessOptions {
  readonly signer: NoteSigner
  /** The name of a key is the origin of its log. */
  readonly logKeys: readonly NoteKey[]
  readonly state: WitnessState
  /** POSIX seconds. */
  readonly now: () => number
  readonly log: (line: string) => void
}

/** Serves `POST /add-checkpoint` of C2SP tlog-witness. */
export function createWitness(options: WitnessOptions): Server {
  const server = createServer(
    { requestTimeout: 15_000, headersTimeout: 10_000, maxHeaderSize: 8192 },
    (request, response) => {
      handle(request, response, options).catch((error: unknown) => {
        options.log(`failed: ${String(error)}`)
        // The record may not be durable, so nothing is signed.
        if (!response.headersSent) answer(response, 500, 'the witness could not record the checkpoint\n')
      })
    },
  )
  server.maxConnections = 256
  return server
}

async function handle(request: IncomingMessage, response: ServerResponse, options: WitnessOptions): Promise<void> {
  if (request.url !== '/add-checkpoint') return answer(response, 404, 'not found\n')
  if (request.method !== 'POST') return answer(response.setHeader('allow', 'POST'), 405, 'POST only\n')
  const body = await readBody(request)
  if (body === undefined) return answer(response.setHeader('connection', 'close'), 413, 'the request is too large\n')

  // The code below runs without a wait, so no other request runs between the check and the record.
  const { signer, logKeys, state, now, log } = options
  const decision = decideCosigning(
    body,
    (origin) => logKeys.filter((key) => key.name === origin),
    (origin) => state.latest(origin),
  )
  if (decision.outcome === 'refuse') {
    log(`refused ${decision.status}: ${decision.reason}`)
    return answer(response, decision.status, `${decision.reason}\n`)
  }
  if (decision.outcome === 'conflict') {
    log(`refused 409: ${decision.reason}`)
    return answer(response, 409, `${decision.size}\n`, SIZE_CONTENT_TYPE)
  }
  const { checkpoint, text } = decision
  state.record(checkpoint.origin, checkpoint)
  log(`cosigned ${checkpoint.origin} at ${checkpoint.size}`)
  answer(response, 200, signatureLine(text, signer, now()))
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function answer(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
}
