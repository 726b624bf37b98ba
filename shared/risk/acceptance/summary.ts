import { toInr } from '../packs/money.ts'
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
    tier: tierOf(records.at(-1)?.body),
    registryAction: last?.registryAction ?? null,
    conflict: records.some(({ action, registryAction }) => registryAction !== null && registryAction !== action),
    amountInr: amountPaise === null ? null : toInr(amountPaise),
    dilutedInr: dilution && toInr(Number(dilution.dilutedPaise)),
    dilutionBps: dilution?.dilutionBps ?? null,
    outstandingInr: dilution && toInr(Number(dilution.outstandingPaise)),
  }
}

function tierOf(body: string | undefined): string | null {
  // Stored as we anchored it.
  return body === undefined ? null : (JSON.parse(body) as { tier: string }).tier
}
