import { daysBetween, parsePaise } from '../packs/money.ts'
import type { Receivable } from '../receivables/evidence-object.ts'

/** Input of strata, replines and rules. Null means unknown, never zero or adverse. */
export interface PoolFact {
  paise: bigint | null
  /** days from the cut-off date to the due date; negative after it */
  daysToDue: number | null
  /** days from the issue date to the cut-off date */
  ageDays: number | null
  currency: string | null
  irnPresent: boolean | null
  acceptance: string | null
  doubleFinancing: string | null
  buyerVei: string | null
  /** existence of the receivable */
  tier: string | null
}

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
    // UNRESOLVED means that a registry did not respond, so the value is unknown.
    doubleFinancing: doubleFinancing === 'UNRESOLVED' ? null : doubleFinancing,
    buyerVei: receivable.buyerVei,
    tier: evidence[0]?.tier ?? null,
  }
}
