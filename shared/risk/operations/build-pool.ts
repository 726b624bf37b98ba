import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { toHex } from '../../transparency/anchoring/text.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { acceptancesOf } from '../acceptance/store.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { checkStatus } from '../first-financing/check-answer.ts'
import { type FinancingKeys, receivableFingerprints, searchFingerprints } from '../first-financing/fingerprint.ts'
import { type ReceivableIdentity, receivableName } from '../first-financing/fingerprint-input.ts'
import { findMatches } from '../first-financing/store.ts'
import { panOfGstin } from '../identifiers/gstin.ts'
import { veiOf } from '../identifiers/vei.ts'
import { recordUsage } from '../metering/store.ts'
import { parsePaise } from '../packs/money.ts'
import { cutTree } from '../pools/cut-tree.ts'
import type { PoolItem } from '../pools/requests.ts'
import {
  findPool,
  insertCut,
  listMembers,
  lockBuilding,
  memberHashes,
  membersWithoutEvidence,
  storeBuilt,
} from '../pools/store.ts'
import type { Receivable } from '../receivables/evidence-object.ts'
import { recordReceivables } from '../receivables/store.ts'
import { instant, type OperationDeps } from './deps.ts'

const CUT_EVENT = 'securitisation.pool_cut'
const PAGE = 1_000

export interface PoolKeys {
  financing: FinancingKeys
  vei: Buffer
}

/** Returns true if members are left. */
export async function buildMembers(
  tx: Knex.Transaction,
  owner: Owner,
  poolId: string,
  limit: number,
  deps: Pick<OperationDeps, 'now' | 'secrets'> & { keys: PoolKeys },
): Promise<boolean> {
  await lockBuilding(tx, poolId)
  const pool = await findPool(tx, owner, poolId)
  if (!pool) return false
  const members = await membersWithoutEvidence(tx, pool, limit)
  // The ingress validated the items before it sealed them.
  const items = members.map(({ sealedItem }) => JSON.parse(deps.secrets.open('pool', sealedItem)) as PoolItem)
  const bodies = await evidenceOf(tx, owner, poolId, items, deps)
  const built = members.flatMap(({ place }, index) => {
    const body = bodies[index]
    if (body === undefined) return []
    const { receivableId, anchor } = JSON.parse(body) as Receivable
    return [{ place, receivableId, payloadSha256: anchor.payloadSha256, body }]
  })
  await storeBuilt(tx, poolId, built)
  // `built.length > 0` prevents an endless loop for a pool whose members are missing.
  return built.length > 0 && pool.built + built.length < pool.size
}

async function evidenceOf(
  tx: Knex.Transaction,
  owner: Owner,
  poolId: string,
  items: readonly PoolItem[],
  { keys, now }: Pick<OperationDeps, 'now'> & { keys: PoolKeys },
): Promise<string[]> {
  const named = items.map((item) => ({ item, identity: identityOf(item) }))
  const queries = named.map(({ identity }) => ({
    ...owner,
    recordId: poolId,
    fingerprints: searchFingerprints(keys.financing, identity, false),
  }))
  const matches = Map.groupBy(await findMatches(tx, queries), ({ index }) => index)
  const accepted = await acceptancesOf(
    tx,
    owner,
    named.map(({ identity }) => receivableName(identity)),
  )
  const timestamp = instant(now())
  const inputs = named.map(({ item, identity }, index) => ({
    name: identity,
    facts: {
      poolId,
      fingerprintRef:
        receivableFingerprints(keys.financing, identity).find(({ kind }) => kind === 'RF1')?.value ?? null,
      supplierVei: veiOf(keys.vei, panOfGstin(item.supplierGstin)),
      buyerVei: veiOf(keys.vei, panOfGstin(item.buyerGstin)),
      amountInr: item.amountInr,
      currency: item.currency,
      issueDate: item.issueDate ?? item.documentDate,
      dueDate: item.dueDate ?? null,
      irnPresent: null,
      acceptance: accepted.get(receivableName(identity)) ?? null,
      doubleFinancing: checkStatus(matches.get(index) ?? [], true),
      evidence: [{ key: 'receivable', tier: 'SELF_DECLARED', observedAt: timestamp, rawSha256: null }],
    },
  }))
  return await recordReceivables(tx, owner, inputs, timestamp)
}

function identityOf(item: PoolItem): ReceivableIdentity {
  const { supplierGstin, buyerGstin, documentType, documentNumber, documentDate, amountInr } = item
  const totalPaise = parsePaise(amountInr) ?? 0
  return { supplierGstin, buyerGstin, documentType, documentNumber, documentDate, totalPaise }
}

/** Anchors a root over all members and evidence: one unit, one event. */
export async function cutPool(
  tx: Knex.Transaction,
  owner: Owner,
  cutId: string,
  { poolId, cutOffDate }: { poolId: string; cutOffDate: string },
  deps: Pick<OperationDeps, 'now' | 'enqueue'>,
): Promise<{ cut: object } | { refusal: NotFoundError | ConflictError }> {
  // Existing members and evidence never change; members added during this transaction are in a later cut.
  const pool = await findPool(tx, owner, poolId)
  if (!pool) return { refusal: new NotFoundError('pool not found') }
  if (pool.built === 0) {
    const message = 'the pool has no receivables'
    return { refusal: new ConflictError(message, [{ path: 'poolId', code: 'EMPTY', message }]) }
  }
  const size = pool.built
  const { root, chunks } = cutTree(await memberHashes(tx, poolId, 0, size))
  let sumPaise = 0n
  for (let from = 0; from < size; from += PAGE) {
    const members = await listMembers(tx, poolId, from, Math.min(PAGE, size - from))
    sumPaise += members.reduce((sum, { body }) => sum + BigInt(paiseOf(body)), 0n)
  }
  const timestamp = instant(deps.now())
  const record = await anchorRecord(tx, owner.env, CUT_EVENT, timestamp, {
    cutRecordId: cutId,
    poolId,
    cutOffDate,
    size,
    root: toHex(root),
    sumPaise: String(sumPaise),
  })
  await insertCut(tx, { id: cutId, poolId, size, chunks: Buffer.concat(chunks), body: canonicalize(record) })
  await recordUsage(tx, { ...owner, family: 'securitisation', unitKey: `cut/${cutId}` })
  await recordEvent(tx, deps.enqueue, {
    env: owner.env,
    organisationId: owner.organisationId,
    type: CUT_EVENT,
    dealId: pool.dealId ?? poolId,
    fields: ['cutRecordId', 'root', 'size'],
    occurredAt: timestamp,
  })
  return { cut: record }
}

export async function poolRoot(db: Knex, poolId: string, size: number): Promise<string> {
  return toHex(cutTree(await memberHashes(db, poolId, 0, size)).root)
}

function paiseOf(body: string): number {
  const { amountInr } = JSON.parse(body) as Receivable
  return amountInr === null ? 0 : (parsePaise(amountInr) ?? 0)
}
