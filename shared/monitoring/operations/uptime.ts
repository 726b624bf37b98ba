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

/** What was stated of a check, with all that proves it offline. */
export interface UptimeProof {
  /** unique_key */
  check: string
  /** as it is called now; nothing proves it */
  name: string
  from: string
  until: string
  records: DayRecord[]
  /** every one from the first of these days to the last, so that the chain shows none is left out */
  statements: StoredStatement[]
  /** of each statement, in their order: what GET /v1/anchors/{txId} answers */
  proofs: AnchorView[]
}

/** Gathers what was stated of a check on days of a project. @param days `YYYY-MM-DD`, both included */
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
  // One after the other: a request takes one connection.
  for (const { anchor } of statements) {
    const view = await viewAnchor(db, anchor.txId)
    if (!view) throw new Error(`the log does not hold ${anchor.txId}`)
    proofs.push(view)
  }
  return { check: uniqueKey(check.uuid), name: nameOf(check), from, until, records, statements, proofs }
}

/** Decides whether the days of a project are stated in the transparency log, from today on. */
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
 * States each day of a project that has ended (docs/spec/alerting.md#daily-statements): a record per check, their hashes in one statement, and that
 * in the transparency log of production. What was stored late of an earlier day makes a correcting statement first;
 * nothing is replaced. Any number of processes may do so at once.
 * @returns how many days
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

/** A correction states the whole day anew, with the hashes of what stays: so each one concerns every check. */
async function correctDays(tx: Knex, { projectId, date: before }: OpenDay, now: Micros): Promise<void> {
  const outdated = Map.groupBy(await findOutdated(tx, projectId, before), ({ date }) => date)
  for (const [date, checks] of outdated) {
    const ids = checks.map(({ checkId }) => checkId)
    const stated = await findStated(tx, projectId, date, ids)
    if (!stated) continue
    const facts = await factsOfDay(tx, projectId, date, ids)
    const changed = facts.flatMap((each) => {
      const old = stated.records.get(each.checkId)
      // Settings and windows were stated as they were then; what came late are flips, and time that was not known.
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
  said: {
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
    date: said.date,
    records: said.hashes.toSorted(),
    gaps: await gapsOfDay(tx, said.date),
    previous: await lastTxId(tx, projectId),
    corrects: said.corrects,
  }
  const anchor = await anchorObject(tx, 'PRODUCTION', DAY_EVENT_TYPE, statement.timestamp, statement)
  await storeStatement(tx, projectId, { ...statement, anchor }, said.records)
}

function newNonce(): string {
  return randomBytes(16).toString('hex')
}

/**
 * Gives up a door that has ended for good: its gap ends now, and checks that depend on it are judged from then on.
 * @returns since when it was missed
 * @throws ConflictError when it takes pings, or when no other door does: then every check would go down
 */
export async function closeGap(db: Knex, listener: 'http' | 'smtp'): Promise<Micros> {
  return await transaction(db, async (tx) => {
    const open = await openGaps(tx)
    const gap = open.find((one) => one.listener === listener)
    if (!gap) throw new ConflictError(`${listener} takes pings: there is no gap to close`)
    const other = open.find((one) => one.listener !== listener)
    if (other) {
      throw new ConflictError(
        `${other.listener} takes no pings either, since ${toIsoSeconds(other.from)}: start it first`,
      )
    }
    await closeListener(tx, listener)
    return gap.from
  })
}
