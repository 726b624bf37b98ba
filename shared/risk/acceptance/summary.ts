import { toInr } from '../packs/money.ts'
import { ACCEPTANCE_TIERS, type AcceptanceTier, isAboveAmount } from './acceptance.ts'
import { receivableDilution } from './dilution.ts'
import type { Timeline } from './timeline.ts'

/** What a receivable's records and adjustments come to. Ratios are null while its amount is not known. */
export function summaryOf({ records, adjustments, amountPaise }: Timeline) {
  const last = records.findLast(({ isRepeat }) => !isRepeat) ?? records.at(-1)
  const dilution =
    amountPaise === null
      ? null
      : receivableDilution(
          BigInt(amountPaise),
          adjustments.map(({ kind, paise }) => ({ kind, paise: BigInt(paise) })),
        )
  return {
    action: last?.action ?? null,
    acceptedInr: acceptedInr(records),
    tier: strongestTier(records),
    registryAction: last?.registryAction ?? null,
    conflict: records.some(
      (record) =>
        (record.registryAction !== null && record.registryAction !== record.action) ||
        (amountPaise !== null && isAboveAmount({ ...record, amountAccepted: amountOf(record) }, amountPaise)),
    ),
    amountInr: amountPaise === null ? null : toInr(amountPaise),
    dilutedInr: dilution && toInr(Number(dilution.dilutedPaise)),
    dilutionBps: dilution?.dilutionBps ?? null,
    outstandingInr: dilution && toInr(Number(dilution.outstandingPaise)),
  }
}

/** What was said to be accepted, while that is what was said last: amounts of other actions are kept and not counted. */
function acceptedInr(records: Timeline['records']): number | null {
  const action = records.at(-1)?.action
  if (action !== 'ACCEPTED' && action !== 'DEEMED_ACCEPTED') return null
  // A repeated action is stored and changes nothing.
  const amounts = records.filter((record) => record.action === action && !record.isRepeat).map(amountOf)
  return amounts.findLast((amount) => amount !== null) ?? null
}

function amountOf({ body }: Timeline['records'][number]): number | null {
  // Stored as we anchored it.
  return (JSON.parse(body) as { amountAccepted: number | null }).amountAccepted
}

/** What was said last may have been said by several: the strongest source of it counts. */
function strongestTier(records: Timeline['records']): AcceptanceTier | null {
  const action = records.at(-1)?.action
  const since = records.findLastIndex((record) => record.action !== action) + 1
  // Stored as we anchored them.
  const tiers = records.slice(since).map(({ body }) => (JSON.parse(body) as { tier: AcceptanceTier }).tier)
  return ACCEPTANCE_TIERS.find((tier) => tiers.includes(tier)) ?? null
}
