import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { type Micros, microsOfMillis, toIsoMillis } from '../../time.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'
import { DAY_EVENT_TYPE, type DayRecord, recordHash } from '../../transparency/statements/day-record.ts'
import type { WindowTime } from '../maintenance/window.ts'
import { factsOfDay, gapsOfDay } from '../statements/day-facts-store.ts'
import { recordOfDay } from '../statements/record-of-day.ts'
import {
  findOpenDays,
  findOutdated,
  findStated,
  lastTxId,
  lockOpenDay,
  type OpenDay,
  storeStatement,
} from '../statements/statement-store.ts'

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
