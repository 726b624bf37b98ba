import { createHash, randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { type Micros, toIsoMillis } from '../../time.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'
import { viewAnchor } from '../../transparency/operations/anchors.ts'
import { isUuid } from '../../uuid.ts'
import { PackFailedError } from '../packs/pack-failed-error.ts'
import { PackSchema } from '../packs/pack-schema.ts'
import type { PackProof } from '../packs/pdf/proof.ts'
import type { PackPdfInput } from '../packs/pdf/render.ts'
import { findPackSource, findPdf, insertPdf, lockPdf, type StoredPdf } from '../packs/pdf/store.ts'

/** The log includes an entry in about a second; without the wait the document would lack its log index. */
const INCLUSION_WAIT_MS = 5_000
const POLL_EVERY_MS = 200

/** Packs of other organisations and environments are invisible. */
export interface PackOwner {
  organisationId: number
  env: ApiEnv
}

interface PackPdfDeps {
  publicUrl: string
  now(): Micros
  render(source: PackPdfInput): Promise<Uint8Array>
}

/** Composes at the first call; null until the log includes the pack. @throws NotFoundError; PackFailedError */
export async function makePackPdf(
  db: Knex,
  owner: PackOwner,
  packId: string,
  deps: PackPdfDeps,
): Promise<StoredPdf | null> {
  const source = isUuid(packId) ? await findPackSource(db, owner, packId) : undefined
  if (!source) throw new NotFoundError('pack not found')
  const existing = await findPdf(db, packId)
  if (existing) return existing
  if (source.state === 'FAILED') throw new PackFailedError()
  if (source.body === null) return null
  const proof = await awaitProof(db, PackSchema.parse(JSON.parse(source.body)).anchor.txId)
  if (!proof) return null
  const { publicUrl } = deps
  const { body, evidence, dilution } = source
  const bytes = await deps.render({ body, evidence, dilution, env: owner.env, proof, publicUrl })
  return await storeFirst(
    db,
    deps.now(),
    owner.env,
    packId,
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  )
}

async function awaitProof(db: Knex, txId: string): Promise<PackProof | null> {
  const deadline = performance.now() + INCLUSION_WAIT_MS
  for (;;) {
    const view = await viewAnchor(db, txId)
    if (view && view.index !== null) return view
    if (performance.now() >= deadline) return null
    await setTimeout(POLL_EVERY_MS)
  }
}

/** Of concurrent compositions one is stored, and all callers return it. */
async function storeFirst(db: Knex, now: Micros, env: ApiEnv, packId: string, bytes: Buffer): Promise<StoredPdf> {
  const sha256 = createHash('sha256').update(bytes).digest()
  const timestamp = toIsoMillis(now)
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
