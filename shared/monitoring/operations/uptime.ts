import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Micros, microsOfMillis, toIsoMillis, toIsoSeconds } from '../../time.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'
import { type AnchorView, viewAnchor } from '../../transparency/operations/anchors.ts'
import { DAY_EVENT_TYPE, type DayRecord, recordHash } from '../../transparency/statements/day-record.ts'
import { openGaps } from '../availability/gap-list-store.ts'
import { closeListener } from '../availability/proof-store.ts'
import { nameOf, uniqueKey } from '../checks/slug.ts'
import type { WindowTime } from '../maintenance/window.ts'
import type { Project } from '../projects/store.ts'
import { factsOfDay, gapsOfDay } from '../statements/day-facts-store.ts'
import { recordOfDay } from '../statements/record-of-day.ts'
import {
  findOpenDays,
  findOutdated,
  findStated,
  lastTxId,
  lockOpenDay,
  type OpenDay,
  type StoredStatement,
  setStatements,
  statedBetween,
  storeStatement,
} from '../statements/statement-store.ts'

/** Contains everything that an offline verification needs. */
export interface UptimeProof {
  check: string
  /** current name; not covered by the proof */
  name: string
  from: string
  until: string
  records: DayRecord[]
  /** without gaps from the first to the last day, so that the chain proves completeness */
  statements: StoredStatement[]
  /** of each statement, in the same order, as in GET /v1/anchors/{txId} */
  proofs: AnchorView[]
}

/** `days` are `YYYY-MM-DD`, inclusive. */
export async function proveUptime(
  db: Knex,
  check: { projectId: number; id: number; uuid: string; name: string },
  { from, until }: { from: string; until: string },
): Promise<UptimeProof> {
  const { statements, records } = await statedBetween(db, {
    projectId: check.projectId,
    checkId: check.id,
    from,
    until,
  })
  const proofs: AnchorView[] = []
  // Sequential, because a request must use only one connection.
  for (const { anchor } of statements) {
    const view = await viewAnchor(db, anchor.txId)
    if (!view) throw new Error(`the transparency log does not contain ${anchor.txId}`)
    proofs.push(view)
  }
  return { check: uniqueKey(check.uuid), name: nameOf(check), from, until, records, statements, proofs }
}

export async function enableStatements(
  db: Knex,
  actor: Actor,
  { project, isWanted }: { project: Project; isWanted: boolean },
): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await setStatements(tx, project.id, isWanted))) return
    await insertActorAudit(tx, actor, {
      organisationId: project.organisationId,
      action: 'project.statements',
      target: isWanted ? 'on' : 'off',
    })
  })
}

const DAYS_AT_ONCE = 20

/**
 * States each day that has ended: the hashes of its records in one statement in the production log
 * (docs/spec/alerting.md#daily-statements). Facts that were stored late make a correcting statement first. Processes
 * may do this concurrently. Returns the number of days.
 */
export async function stateDays(db: Knex, now: Micros): Promise<number> {
  const days = await findOpenDays(db, now, DAYS_AT_ONCE)
  for (const day of days) {
    await transaction(db, async (tx) => {
      if (!(await lockOpenDay(tx, day))) return
      await correctDays(tx, day, now)
      await stateDay(tx, day, now)
    })
  }
  return days.length
}

async function stateDay(tx: Knex, { projectId, date }: OpenDay, now: Micros): Promise<void> {
  const facts = await factsOfDay(tx, projectId, date, null)
  const records = facts.map((each) => ({ checkId: each.checkId, record: recordOfDay(each, date, newNonce()) }))
  const hashes = records.map(({ record }) => recordHash(record))
  await anchorStatement(tx, projectId, { date, hashes, corrects: null, records }, now)
}

/** Contains all records of the day, also unchanged ones. */
async function correctDays(tx: Knex, { projectId, date: before }: OpenDay, now: Micros): Promise<void> {
  const outdated = Map.groupBy(await findOutdated(tx, projectId, before), ({ date }) => date)
  for (const [date, checks] of outdated) {
    const ids = checks.map(({ checkId }) => checkId)
    const stated = await findStated(tx, projectId, date, ids)
    if (!stated) continue
    const facts = await factsOfDay(tx, projectId, date, ids)
    const changed = facts.flatMap((each) => {
      const old = stated.records.get(each.checkId)
      // Settings and windows stay as in the first statement; only flips and unknown times can be stored late.
      const known = old ? { ...each, settings: old.settings, excluded: old.excluded.map(spanOf) } : each
      const record = recordOfDay(known, date, newNonce())
      return old && isSame(old, record) ? [] : [{ checkId: each.checkId, record, old }]
    })
    if (changed.length === 0) continue
    const replaced = new Set(changed.flatMap(({ old }) => (old ? [recordHash(old)] : [])))
    const kept = stated.statement.records.filter((hash) => !replaced.has(hash))
    const hashes = [...kept, ...changed.map(({ record }) => recordHash(record))]
    const corrects = stated.statement.anchor.txId
    await anchorStatement(tx, projectId, { date, hashes, corrects, records: changed }, now)
  }
}

function isSame(old: DayRecord, { nonce: _, ...fresh }: DayRecord): boolean {
  return recordHash({ ...fresh, nonce: old.nonce }) === recordHash(old)
}

function spanOf([from, until]: [string, string]): WindowTime {
  return { from: microsOfMillis(Date.parse(from)), until: microsOfMillis(Date.parse(until)) }
}

async function anchorStatement(
  tx: Knex,
  projectId: number,
  day: {
    date: string
    hashes: readonly string[]
    corrects: string | null
    records: readonly { checkId: number; record: DayRecord }[]
  },
  now: Micros,
): Promise<void> {
  const statement = {
    v: 1 as const,
    id: randomUUID(),
    eventType: DAY_EVENT_TYPE,
    timestamp: toIsoMillis(now),
    date: day.date,
    records: day.hashes.toSorted(),
    gaps: await gapsOfDay(tx, day.date),
    previous: await lastTxId(tx, projectId),
    corrects: day.corrects,
  }
  const anchor = await anchorObject(tx, 'PRODUCTION', DAY_EVENT_TYPE, statement.timestamp, statement)
  await storeStatement(tx, projectId, { ...statement, anchor }, day.records)
}

function newNonce(): string {
  return randomBytes(16).toString('hex')
}

/**
 * The listener was shut down for good: its gap ends now, and its checks are evaluated again. @throws ConflictError if
 * it receives pings, or if the other listener does not: then every check would go down
 */
export async function closeGap(db: Knex, listener: 'http' | 'smtp'): Promise<Micros> {
  return await transaction(db, async (tx) => {
    const open = await openGaps(tx)
    const gap = open.find((one) => one.listener === listener)
    if (!gap) throw new ConflictError(`${listener} receives pings: there is no gap to close`)
    const other = open.find((one) => one.listener !== listener)
    if (other) {
      throw new ConflictError(
        `${other.listener} has received no pings either since ${toIsoSeconds(other.from)}: start it first`,
      )
    }
    await closeListener(tx, listener)
    return gap.from
  })
}
