import { toInr } from '../packs/money.ts'
import { ACCEPTANCE_TIERS, type AcceptanceTier, isAboveAmount } from './acceptance.ts'
import { receivableDilution } from './dilution.ts'
import type { Timeline } from './timeline.ts'

/** The latest `at` decides. Ratios are null while the amount is unknown. */
export function summaryOf({ records, adjustments, amountPaise }: Timeline) {
  const runs = runsOf(records)
  const last = runs.at(-1)
  const dilution =
    amountPaise === null
      ? null
      : receivableDilution(
          BigInt(amountPaise),
          adjustments.map(({ kind, paise }) => ({ kind, paise: BigInt(paise) })),
        )
  return {
    action: last?.first.action ?? null,
    acceptedInr: acceptedInr(runs),
    tier: ACCEPTANCE_TIERS.find((tier) => last?.tiers.has(tier)) ?? null,
    registryAction: last?.first.registryAction ?? null,
    conflict: records.some(
      (record) =>
        (record.registryAction !== null && record.registryAction !== record.action) ||
        (amountPaise !== null && isAboveAmount({ ...record, ...statedOf(record) }, amountPaise)),
    ),
    amountInr: amountPaise === null ? null : toInr(amountPaise),
    dilutedInr: dilution && toInr(Number(dilution.dilutedPaise)),
    dilutionBps: dilution?.dilutionBps ?? null,
    outstandingInr: dilution && toInr(Number(dilution.outstandingPaise)),
  }
}

type TimelineRecord = Timeline['records'][number]

interface Run {
  /** the first arrival, because a repeated action has no effect */
  first: TimelineRecord
  tiers: Set<AcceptanceTier>
}

function runsOf(records: readonly TimelineRecord[]): Run[] {
  // toSorted is stable, so the arrival decides between records of equal time.
  const stated = records.map((record, arrival) => ({ record, arrival, ...statedOf(record) }))
  const runs: (Run & { arrival: number })[] = []
  for (const { record, arrival, tier } of stated.toSorted((a, b) => compare(a.at, b.at))) {
    const run = runs.at(-1)
    if (run?.first.action !== record.action) {
      runs.push({ first: record, arrival, tiers: new Set([tier]) })
      continue
    }
    run.tiers.add(tier)
    if (arrival < run.arrival) Object.assign(run, { first: record, arrival })
  }
  return runs
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** Amounts count only while the latest action accepts. */
function acceptedInr(runs: readonly Run[]): number | null {
  const action = runs.at(-1)?.first.action
  if (action !== 'ACCEPTED' && action !== 'DEEMED_ACCEPTED') return null
  const amounts = runs.filter(({ first }) => first.action === action).map(({ first }) => statedOf(first).amountAccepted)
  return amounts.findLast((amount) => amount !== null) ?? null
}

function statedOf({ body }: TimelineRecord): { at: string; amountAccepted: number | null; tier: AcceptanceTier } {
  return JSON.parse(body)
}
