import type { Knex } from 'knex'
import { viewAnchor } from '../../transparency/operations/anchors.ts'
import { writeZip } from '../../transparency/provenance/zip.ts'
import {
  applyRules,
  combineResults,
  type EligibilityRule,
  RULE_RESULTS,
  type RuleResult,
} from '../pools/eligibility.ts'
import { factOf, type PoolFact } from '../pools/facts.ts'
import { cutBundle } from '../pools/pool-bundle.ts'
import { listMembers, type PoolCut } from '../pools/store.ts'
import { replines, stratify } from '../pools/strata.ts'
import { type CutMember, TAPE_FORMATS, type TapeFormat, tapeHead, tapePart, tapeTail } from '../pools/tape.ts'
import type { Receivable } from '../receivables/evidence-object.ts'

const PAGE = 1_000

interface CutRecord {
  cutRecordId: string
  poolId: string
  cutOffDate: string
  timestamp: string
  anchor: { txId: string }
}

function cutRecord(cut: Pick<PoolCut, 'body'>): CutRecord {
  return JSON.parse(cut.body) as CutRecord
}

export type CutFile = TapeFormat | 'bundle'

async function* membersOf(db: Knex, cut: PoolCut): AsyncGenerator<(CutMember & { body: string })[]> {
  for (let from = 0; from < cut.size; from += PAGE) {
    const members = await listMembers(db, cut.poolId, from, Math.min(PAGE, cut.size - from))
    yield members.map(({ reference, body }) => ({ reference, body, receivable: JSON.parse(body) as Receivable }))
  }
}

export async function cutFacts(db: Knex, cut: PoolCut): Promise<PoolFact[]> {
  const { cutOffDate } = cutRecord(cut)
  const facts: PoolFact[] = []
  for await (const page of membersOf(db, cut))
    facts.push(...page.map(({ receivable }) => factOf(receivable, cutOffDate)))
  return facts
}

/** @throws Error for a bag before the log includes the cut */
export async function makeCutFile(db: Knex, cut: PoolCut, poolName: string, file: CutFile): Promise<Buffer> {
  const format = TAPE_FORMATS.find((one) => one === file)
  return format ? await makeTape(db, cut, format) : await createBundle(db, cut, poolName)
}

async function makeTape(db: Knex, cut: PoolCut, format: TapeFormat): Promise<Buffer> {
  const record = cutRecord(cut)
  const parts = [Buffer.from(tapeHead(format, record))]
  let from = 0
  for await (const page of membersOf(db, cut)) {
    parts.push(Buffer.from(tapePart(format, page, { from, cutOffDate: record.cutOffDate })))
    from += page.length
  }
  parts.push(Buffer.from(tapeTail(format)))
  return Buffer.concat(parts)
}

async function createBundle(db: Knex, cut: PoolCut, poolName: string): Promise<Buffer> {
  const { anchor, timestamp } = cutRecord(cut)
  const proof = (await viewAnchor(db, anchor.txId))?.tlogProof
  if (!proof) throw new Error('a bag needs the proof of its cut, but the log does not include the cut yet')
  const lines: Buffer[] = []
  for await (const page of membersOf(db, cut)) lines.push(Buffer.from(page.map(({ body }) => `${body}\n`).join('')))
  const facts = await cutFacts(db, cut)
  const files = cutBundle({
    cutId: cut.id,
    name: poolName,
    timestamp,
    cut: cut.body,
    proof,
    receivables: Buffer.concat(lines),
    tape: await makeTape(db, cut, 'csv'),
    stratification: JSON.stringify(stratify(facts)),
    replines: JSON.stringify(replines(facts)),
  })
  return await writeZip(files)
}

export type ResultCounts = Record<RuleResult, number>

/** Returns a byte for each rule and member, and counts. */
export async function evaluateCut(
  db: Knex,
  cut: PoolCut,
  rules: readonly EligibilityRule[],
): Promise<{ results: Uint8Array; counts: ResultCounts; byRule: { id: string; counts: ResultCounts }[] }> {
  const facts = await cutFacts(db, cut)
  const results = applyRules(rules, facts)
  const counts = noCounts()
  const byRule = rules.map(({ id }) => ({ id, counts: noCounts() }))
  for (let at = 0; at < results.length; at += rules.length) {
    const memberResults = results.subarray(at, at + rules.length)
    counts[combineResults(memberResults)]++
    for (const [index, code] of memberResults.entries()) {
      const result = RULE_RESULTS[code]
      const rule = byRule[index]
      if (result && rule) rule.counts[result]++
    }
  }
  return { results, counts, byRule }
}

function noCounts(): ResultCounts {
  return { MET: 0, NOT_MET: 0, MISSING: 0 }
}
