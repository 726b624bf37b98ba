import type { AcceptanceAction } from './acceptance.ts'
import type { AdjustmentKind } from './dilution.ts'

/** All that is known of a receivable, records and adjustments in the order of their arrival. */
export interface Timeline {
  records: { body: string; action: AcceptanceAction; registryAction: AcceptanceAction | null }[]
  adjustments: { body: string; kind: AdjustmentKind; paise: number }[]
  amountPaise: number | null
}
