import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { transaction } from '../../platform/database/db.ts'
import type { AgentCall } from '../../tenancy/agents/call-store.ts'
import { callsOfDay, claimDay, findOpenDays, type OpenDay, storeDigest } from '../../tenancy/agents/digest-store.ts'
import { type Micros, toIsoMillis } from '../../time.ts'
import { appendToRange, type CompactRange, compactRoot, leafHash } from '../../transparency/anchoring/merkle.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'

const EVENT_TYPE = 'agents.daily_digest'
const DAYS_AT_ONCE = 20
const PAGE = 2_000

/** Per organisation and UTC day (docs/spec/evidence-families.md#agent-audit). Returns the number of days. */
export async function anchorAgentCalls(db: Knex, now: Micros): Promise<number> {
  const days = await findOpenDays(db, DAYS_AT_ONCE)
  for (const day of days) await transaction(db, (tx) => anchorDay(tx, day, now))
  return days.length
}

async function anchorDay(tx: Knex, day: OpenDay, now: Micros): Promise<void> {
  if (!(await claimDay(tx, day))) return
  let range: CompactRange = { size: 0, nodes: [] }
  for (let after: string | null = null; ; ) {
    const calls = await callsOfDay(tx, day, { after, limit: PAGE })
    range = appendToRange(range, calls.map(callLeaf))
    if (calls.length < PAGE) break
    after = calls.at(-1)?.callId ?? null
  }
  const record = {
    id: randomUUID(),
    eventType: EVENT_TYPE,
    timestamp: toIsoMillis(now),
    date: day.date,
    organisationId: day.organisationUuid,
    calls: range.size,
    root: Buffer.from(compactRoot(range)).toString('hex'),
  }
  const anchor = await anchorObject(tx, day.env, EVENT_TYPE, record.timestamp, record)
  await storeDigest(tx, day, { ...record, anchor })
}

/** Canonical JSON of a call in `GET /v1/agents/calls`, without the duration. */
function callLeaf(call: Omit<AgentCall, 'durationMs'> & { keyId: string }): Uint8Array {
  const { callId, keyId, tool, argumentsDigest, code, units, calledAt } = call
  const argumentsSha256 = argumentsDigest.toString('hex')
  const at = calledAt.toISOString()
  return leafHash(Buffer.from(canonicalize({ callId, keyId, tool, argumentsSha256, code, units, at })))
}
