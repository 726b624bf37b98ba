import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { z } from 'zod'
import { parseJson } from '#shared/canonical/parse-json.ts'
import { query } from '#shared/platform/database/sql.ts'
import { type Checkpoint, decodeCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { appendToRange, type CompactRange, compactRoot } from '#shared/transparency/anchoring/merkle.ts'
import { parseVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy } from '#shared/transparency/anchoring/policy.ts'
import { parseProofBundle } from '#shared/transparency/anchoring/proof-bundle.ts'
import { equalBytes } from '#shared/transparency/anchoring/text.ts'
import { verifyAnchored } from '#shared/transparency/anchoring/verify.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { makeCredentials, send } from '../support/platform-client.ts'
import type { Product } from '../support/product.ts'
import { type AnsweredPack, openPackClient } from './pack-client.ts'

/** Interval of pack requests and of reads of the log's newest checkpoint. */
const EVERY_MS = 2_000
/** Maximum wait for the last events and proofs. */
const SETTLE_MS = 120_000

/** Reconciled packs, deliveries and log entries. */
export interface EvidenceReport {
  packs: number
  deliveries: number
  repeated: number
  checkpoints: number
  entries: number
  found: string[]
}

/** Requests packs, counts their deliveries and records every checkpoint. */
export interface EvidenceClient extends AsyncDisposable {
  packs(): number
  /** Stops requesting, waits for pending requests, and compares. */
  end(): Promise<EvidenceReport>
}

export async function openEvidenceClient(
  product: Product,
  db: Knex,
  bases: readonly string[],
): Promise<EvidenceClient> {
  await using opened = new AsyncDisposableStack()
  const sink = opened.use(await openHttpSink())
  const credentials = await makeCredentials({ ...product, db }, { env: 'PRODUCTION' })
  const base = () => bases[next++ % bases.length] ?? ''
  let next = 0
  const packs = new Map<string, AnsweredPack>()
  const checkpoints: Checkpoint[] = []
  const found: string[] = []
  const key = parseVerifierKey((await send(`${base()}/v1/transparency/production/log-key`)).text.trim())
  let isOver = false

  const packClient = openPackClient(base, credentials)
  const readCheckpoint = async () => {
    const answer = await send(`${base()}/v1/transparency/production/checkpoint`).catch(() => null)
    if (answer?.status !== 200) return
    const { checkpoint } = decodeCheckpoint(answer.text, [key])
    checkpoints.push(checkpoint)
  }
  const hook = await packClient.post('/v1/webhooks/endpoints', {
    url: `${sink.url}/packs`,
    eventTypes: ['risk_signals.*'],
  })
  if (hook.status !== 201) throw new Error(`no endpoint: ${hook.status} ${hook.text}`)
  const running = (async () => {
    while (!isOver) {
      const [pack] = await Promise.all([packClient.request(found), readCheckpoint()])
      if (pack) packs.set(pack.packId, pack)
      await sleep(EVERY_MS)
    }
  })()

  const deliveredPacks = () => {
    const delivered = new Map<string, number>()
    for (const { body } of sink.requests) {
      // A pack that was requested without a deal has its id as the deal.
      const { dealId } = z.object({ dealId: z.string() }).parse(JSON.parse(body.toString()))
      delivered.set(dealId, (delivered.get(dealId) ?? 0) + 1)
    }
    return delivered
  }
  const resources = opened.move()
  return {
    packs: () => packs.size,
    async end() {
      isOver = true
      await running
      const missing = () => [...packs.keys()].filter((id) => !deliveredPacks().has(id))
      await eventually('every pack to be delivered', () => missing().length === 0, SETTLE_MS).catch(() => undefined)
      for (const id of missing()) found.push(`pack ${id} was never delivered`)
      const delivered = deliveredPacks()
      for (const id of delivered.keys()) if (!packs.has(id)) found.push(`pack ${id} was delivered but not returned`)
      const policy = flatPolicy([{ key }], [], 0)
      for (const [id, { text, txId }] of packs) {
        const isProven = async () => {
          const proof = await send(`${base()}/v1/anchors/${txId}`)
          const object = parseJson(text)
          if (proof.status !== 200 || object === null || typeof object !== 'object' || Array.isArray(object))
            return false
          return verifyAnchored(object, parseProofBundle(parseJson(proof.text)), policy).result === 'VERIFIED'
        }
        await eventually('a proof', isProven, SETTLE_MS).catch(() => void found.push(`pack ${id} has no proof`))
      }
      const entries = await inconsistencies(db, checkpoints, found)
      const [stored] = await query<{ packs: number }>(db, 'SELECT count(*)::int AS packs FROM packs')
      if (stored?.packs !== packs.size) found.push(`${stored?.packs} packs are stored, ${packs.size} were returned`)
      const deliveries = [...delivered.values()].reduce((sum, times) => sum + times, 0)
      return {
        packs: packs.size,
        deliveries,
        repeated: deliveries - delivered.size,
        checkpoints: checkpoints.length,
        entries,
        found,
      }
    },
    [Symbol.asyncDispose]: async () => {
      isOver = true
      await resources.disposeAsync()
    },
  }
}

/** Checks that each checkpoint ever shown belongs to the current log. @returns the size of the log */
async function inconsistencies(db: Knex, shown: readonly Checkpoint[], found: string[]): Promise<number> {
  const leaves = await query<{ hash: Buffer }>(
    db,
    `SELECT leaf_hash AS hash FROM log_entries WHERE env = 'PRODUCTION' AND seq IS NOT NULL ORDER BY seq`,
  )
  let range: CompactRange = { size: 0, nodes: [] }
  for (const { size, root } of shown.toSorted((one, other) => one.size - other.size)) {
    range = appendToRange(
      range,
      leaves.slice(range.size, size).map(({ hash }) => hash),
    )
    if (range.size !== size || !equalBytes(compactRoot(range), root)) {
      found.push(`the log does not contain its earlier checkpoint of ${size} entries`)
    }
  }
  return leaves.length
}
