import { daysBetween, parsePaise } from '../packs/money.ts'
import type { Receivable } from '../receivables/evidence-object.ts'

/** What strata, replines and rules look at. Null is what nobody knows: never zero, and never adverse. */
export interface PoolFact {
  paise: bigint | null
  /** days from the cut-off date to the due date; negative when it is past */
  daysToDue: number | null
  /** days from the issue date to the cut-off date */
  ageDays: number | null
  currency: string | null
  irnPresent: boolean | null
  acceptance: string | null
  doubleFinancing: string | null
  buyerVei: string | null
  /** of what says that the receivable exists */
  tier: string | null
}

/** @param cutOffDate YYYY-MM-DD */
export function factOf(receivable: Receivable, cutOffDate: string): PoolFact {
  const { amountInr, issueDate, dueDate, evidence, doubleFinancing } = receivable
  const paise = amountInr === null ? undefined : parsePaise(amountInr)
  return {
    paise: paise === undefined ? null : BigInt(paise),
    daysToDue: dueDate === null ? null : daysBetween(cutOffDate, dueDate),
    ageDays: issueDate === null ? null : daysBetween(issueDate, cutOffDate),
    currency: receivable.currency,
    irnPresent: receivable.irnPresent,
    acceptance: receivable.acceptance,
    // A registry that did not answer leaves open what is so.
    doubleFinancing: doubleFinancing === 'UNRESOLVED' ? null : doubleFinancing,
    buyerVei: receivable.buyerVei,
    tier: evidence[0]?.tier ?? null,
  }
}
