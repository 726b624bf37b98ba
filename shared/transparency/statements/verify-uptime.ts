import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import { parseProofBundle } from '../anchoring/proof-bundle.ts'
import {
  type Check,
  type CheckName,
  conclude,
  failed,
  inconclusive,
  passed,
  type Verification,
  verifyAnchored,
} from '../anchoring/verify.ts'
import { type DayRecord, datesBetween, isDate, readRecord, recordHash, sumsOfDay } from './day-record.ts'
import { uptimeSentence } from './uptime-sentence.ts'

/** See docs/spec/alerting.md#daily-statements. */
export const MAX_DAYS = 92

export function isUptimeProof(value: JsonObject): boolean {
  return Array.isArray(value.records) && Array.isArray(value.statements)
}

/**
 * Verifies an uptime proof offline (docs/spec/alerting.md#daily-statements): the statements are unchanged since they
 * were anchored. It cannot show that they were true. Trusts only `policy`.
 * @throws AnchoringError UPTIME_PROOF_MALFORMED
 */
export function verifyUptime(value: JsonObject, policy?: TrustPolicy): Verification {
  const proof = readUptimeProof(value)
  const records = proof.records.map((raw) => ({ raw, record: readRecord(raw), hash: recordHash(raw) }))
  const recordChecks = records.map(({ raw, record, hash }) => checkRecord(raw, record, hash, proof))
  const chain = checkChain(proof.statements)
  const anchored = proof.statements.flatMap((statement, index) => {
    const { checks: results } = verifyAnchored(statement.object, parseProofBundle(proof.proofs[index] ?? {}), policy)
    return results.map((check) => ({ date: statement.date, check }))
  })
  const recordByHash = new Map(records.flatMap(({ record, hash }) => (record ? [[hash, record] as const] : [])))
  const { days, missing } = daysOf(proof, recordByHash)
  const checks = [...mergeByName(recordChecks), ...chain, ...mergeByName(anchored), ...missing]
  if (checks.some(({ result }) => result === 'failed')) return conclude(checks)
  const sentence = passed('uptime', uptimeSentence(proof, days.map(sumsOfDay)))
  const meaning = passed('stated', 'the daily statements are unchanged; the proof does not show that they were true')
  return conclude([sentence, meaning, ...checks])
}

interface Statement {
  object: JsonObject
  date: string
  txId: string
  previous: JsonValue
  corrects: JsonValue
  records: readonly JsonValue[]
}

interface UptimeProof {
  check: string
  name: string
  from: string
  until: string
  records: readonly JsonObject[]
  statements: readonly Statement[]
  proofs: readonly JsonValue[]
}

type RecordFault = 'RECORD_HASH' | 'RECORD_MALFORMED' | 'RECORD_OF_OTHER_CHECK' | 'SUMS_MISMATCH'

function checkRecord(raw: JsonObject, record: DayRecord | undefined, hash: string, proof: UptimeProof): Dated {
  const date = isDate(raw.date) ? raw.date : 'a record without a valid date'
  const refused = (code: RecordFault, detail: string): Dated => ({ date, check: failed('record', code, detail) })
  if (!proof.statements.some((statement) => statement.date === raw.date && statement.records.includes(hash)))
    return refused('RECORD_HASH', 'the record is not in the statement of its day: it was changed')
  if (!record) return refused('RECORD_MALFORMED', 'the record has members that are missing or invalid')
  if (record.check !== proof.check) return refused('RECORD_OF_OTHER_CHECK', 'the record belongs to another check')
  const { up, down } = sumsOfDay(record)
  if (up !== record.up || down !== record.down)
    return refused('SUMS_MISMATCH', `the flips add up to ${up} s up and ${down} s down; the record states other sums`)
  return { date, check: passed('record', 'hashes into the statement of its day, and its sums follow from its flips') }
}

/** Each statement must name the previous one. A correction must also name an earlier statement of its day. */
function checkChain(statements: readonly Statement[]): Check[] {
  const broken = statements.flatMap(({ date, previous, corrects }, index) => {
    const before = statements.slice(0, index)
    if (index > 0 && previous !== before.at(-1)?.txId)
      return [failed('chain', 'CHAIN_BROKEN', `${date}: the statement does not name the previous one`)]
    if (corrects !== null && !before.some((each) => each.txId === corrects && each.date === date))
      return [failed('chain', 'CHAIN_BROKEN', `${date}: the correction names no earlier statement of its day`)]
    return []
  })
  return broken.length > 0 ? broken : [passed('chain', `${statements.length} statements in a chain without gaps`)]
}

/**
 * Returns the newest record of each day. A day is missing if it has no statement, or if any of its statements,
 * including corrected ones, has no record in the proof.
 */
function daysOf(
  proof: UptimeProof,
  recordByHash: ReadonlyMap<string, DayRecord>,
): { days: DayRecord[]; missing: Check[] } {
  const days: DayRecord[] = []
  const absent: string[] = []
  for (const date of datesBetween(proof.from, proof.until)) {
    const stated = proof.statements.filter((statement) => statement.date === date)
    const records = stated.map(({ records: hashes }) => {
      const match = hashes.find((hash) => typeof hash === 'string' && recordByHash.has(hash))
      return typeof match === 'string' ? recordByHash.get(match) : undefined
    })
    const newest = records.at(-1)
    if (newest === undefined || records.includes(undefined)) absent.push(date)
    else days.push(newest)
  }
  if (absent.length === 0) return { days, missing: [] }
  const detail = `no record of this check for ${datesText(absent)}`
  return { days, missing: [inconclusive('days', 'DAY_MISSING', detail)] }
}

interface Dated {
  date: string
  check: Check
}

/**
 * Merges the passed checks of each name into one, and the open checks into another. A merged check lists its days and
 * has the detail of the last one. Failed checks are not merged.
 */
function mergeByName(all: readonly Dated[]): Check[] {
  const names = [...new Set(all.map(({ check }) => check.name))]
  return names.flatMap((name) => {
    const ofName = all.filter(({ check }) => check.name === name)
    return (['failed', 'open', 'passed'] as const).flatMap((result) => {
      const group = ofName.filter(({ check }) => check.result === result)
      return result === 'failed' ? group.map(namedByDay) : mergedCheck(name, result, group, ofName.length)
    })
  })
}

function namedByDay({ date, check }: Dated): Check {
  return { ...check, detail: `${date}: ${check.detail}` }
}

function mergedCheck(name: CheckName, result: Check['result'], group: readonly Dated[], all: number): Check[] {
  const last = group.at(-1)
  if (!last) return []
  const days = group.length === all ? `all ${all} days` : datesText(group.map(({ date }) => date))
  return [{ ...last.check, name, result, detail: `${days}: ${last.check.detail}` }]
}

function datesText(dates: readonly string[]): string {
  const shown = dates.slice(0, 10).join(', ')
  return dates.length > 10 ? `${shown} and ${dates.length - 10} more days` : shown
}

function readUptimeProof(value: JsonObject): UptimeProof {
  const { check, name, from, until, records, statements, proofs } = value
  if (typeof check !== 'string' || !isDate(from) || !isDate(until) || !Array.isArray(records)) throw malformed()
  if (!Array.isArray(statements) || !Array.isArray(proofs)) throw malformed()
  const days = datesBetween(from, until).length
  if (days < 1 || days > MAX_DAYS) throw malformed()
  return {
    check,
    name: typeof name === 'string' && name !== '' ? name : check,
    from,
    until,
    records: records.map(objectOf),
    statements: statements.map((item) => readStatement(objectOf(item))),
    proofs,
  }
}

function readStatement(object: JsonObject): Statement {
  const { date, previous = null, corrects = null, records } = object
  const { txId } = objectOf(object.anchor)
  if (!isDate(date) || typeof txId !== 'string' || !Array.isArray(records)) throw malformed()
  return { object, date, txId, previous, corrects, records }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  if (value === null || value === undefined || typeof value !== 'object' || Array.isArray(value)) throw malformed()
  return value
}

function malformed(): AnchoringError {
  return new AnchoringError(
    'UPTIME_PROOF_MALFORMED',
    `not a proof of uptime: expected check, from, until (at most ${MAX_DAYS} days), records, statements and proofs`,
  )
}
