import { createHash, randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { ApiEnv } from '#shared/environment.ts'
import { NotFoundError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { PackSchema } from '#shared/risk/packs/pack-schema.ts'
import type { PackProof } from '#shared/risk/packs/pdf/proof.ts'
import { findPackSource, findPdf, insertPdf, lockPdf, type StoredPdf } from '#shared/risk/packs/pdf/store.ts'
import { anchorObject } from '#shared/transparency/anchoring/store.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../deps.ts'
import { withScope } from './access.ts'
import { viewAnchor } from './anchors/log-view.ts'
import { Answer } from './answer.ts'
import { problemResponses } from './documents.ts'
import { PackFailedError, PendingPackSchema, pendingAnswer } from './packs/pack-answer.ts'
import { read } from './risk-route.ts'

/** The log includes an entry within about a second; a document without its place in the log would stay so for good. */
const INCLUSION_WAIT_MS = 5_000
const LOOK_EVERY_MS = 200

export const packPdfRoute = read({
  path: '/v1/po/risk-signals/packs/{packId}/pdf',
  operationId: 'getPackPdf',
  summary: 'A pack as PDF',
  description:
    'Composed at the first request, once the log includes the pack, and the same bytes from then on. The SHA-256 of ' +
    'the file is anchored: `Repr-Digest` states it, and the link `describedby` is its anchor.',
  tags: ['Risk signals'],
  access: withScope('risk-signals:read'),
  params: {
    packId: {
      pattern: '[^/]+',
      description: 'packId of the pack',
      example: '6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33',
    },
  },
  responses: {
    200: {
      description: 'The document',
      content: { 'application/pdf': null },
      headers: { 'Repr-Digest': 'SHA-256 of the file (RFC 9530)', Link: 'anchor of that hash, rel="describedby"' },
    },
    202: {
      description: 'The pack is being composed or not in the log yet',
      content: { 'application/json': PendingPackSchema },
      headers: { 'Retry-After': 'seconds' },
    },
    ...problemResponses(401, 403, 404, 429, 500, 503),
  },
  async handle({ caller, params: { packId }, deps }) {
    const pdf = await packPdf(deps, caller, packId)
    if (!pdf) return pendingAnswer(packId)
    const anchor = `</v1/anchors/${pdf.txId.toString('hex')}>; rel="describedby"`
    return new Answer(200, pdf.bytes, { ...pdfHeaders(packId, pdf), Link: anchor })
  },
})

/** How a document travels: as a file, with its hash. */
export function pdfHeaders(packId: string, { sha256 }: StoredPdf): Record<string, string> {
  return {
    'Content-Type': 'application/pdf',
    'Content-Disposition': `attachment; filename="risk-signals-pack-${packId.slice(0, 8)}.pdf"`,
    'Repr-Digest': `sha-256=:${sha256.toString('base64')}:`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  }
}

/**
 * The document of a pack, composed and anchored when nobody asked before.
 * @returns null while the pack is not finished, or the log does not include it yet
 * @throws NotFoundError; PackFailedError
 */
export async function packPdf(
  deps: IngressDeps,
  owner: { organisationId: number; env: ApiEnv },
  packId: string,
): Promise<StoredPdf | null> {
  const source = isUuid(packId) ? await findPackSource(deps.db, owner, packId) : undefined
  if (!source) throw new NotFoundError('there is no such pack')
  const existing = await findPdf(deps.db, packId)
  if (existing) return existing
  if (source.state === 'FAILED') throw new PackFailedError()
  if (source.body === null) return null
  const proof = await awaitProof(deps, PackSchema.parse(JSON.parse(source.body)).anchor.txId)
  if (!proof) return null
  const { publicUrl } = deps.config
  const { body, evidence } = source
  const bytes = await deps.threads.run('renderPackPdf', { body, evidence, env: owner.env, proof, publicUrl })
  return await storeFirst(deps, owner.env, packId, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}

async function awaitProof({ db }: IngressDeps, txId: string): Promise<PackProof | null> {
  const deadline = performance.now() + INCLUSION_WAIT_MS
  for (;;) {
    const view = await viewAnchor(db, txId)
    if (view && view.index !== null) return view
    if (performance.now() >= deadline) return null
    await setTimeout(LOOK_EVERY_MS)
  }
}

/** Of two that composed at the same moment one is stored and anchored, and both answer with it. */
async function storeFirst({ db, now }: IngressDeps, env: ApiEnv, packId: string, bytes: Buffer): Promise<StoredPdf> {
  const sha256 = createHash('sha256').update(bytes).digest()
  const timestamp = new Date(now() / 1000).toISOString()
  const eventType = 'risk_signals.pack_pdf'
  return await transaction(db, async (tx) => {
    const existing = await lockPdf(tx, packId)
    if (existing) return existing
    const object = { id: randomUUID(), eventType, timestamp, packId, pdfSha256: sha256.toString('hex') }
    const anchor = await anchorObject(tx, env, eventType, timestamp, object)
    const pdf = { bytes, sha256, txId: Buffer.from(anchor.txId, 'hex') }
    await insertPdf(tx, packId, { ...pdf, statement: JSON.stringify({ ...object, anchor }) })
    return pdf
  })
}
