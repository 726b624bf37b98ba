import type { AcceptanceAction } from '../../acceptance/acceptance.ts'
import { panOfGstin } from '../../identifiers/gstin.ts'
import { scenarioOfPan } from './scenarios.ts'

/** Scenario 45: a sandbox buyer that rejects each receivable (docs/spec/risk-signals.md#sandbox-digits). */
export function rejectsEverything(buyerGstin: string): boolean {
  return scenarioOfPan(panOfGstin(buyerGstin)) === 'REJECTIONS'
}

/** What such a buyer said besides what is recorded: it rejected two documents. */
export function addedActions(buyerGstin: string): AcceptanceAction[] {
  return rejectsEverything(buyerGstin) ? ['REJECTED', 'REJECTED'] : []
}
