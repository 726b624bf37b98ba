import type { DisclosedMatch } from '../../first-financing/check-answer.ts'
import type { ReceivableFields } from '../../first-financing/receivable.ts'
import { panOfGstin } from '../../identifiers/gstin.ts'
import { type Scenario, scenarioOfPan } from './scenarios.ts'

/** Results of the sandbox scenarios for a receivable, by either party (docs/spec/risk-signals.md#sandbox-digits). */
export interface FinancingScenario {
  /** matches that nobody has registered */
  added: DisclosedMatch[]
  /** the registry did not say enough */
  isResolved: boolean
  /** it is financed elsewhere: it cannot be registered */
  isRegisteredElsewhere: boolean
  /** the answer takes longer than a caller waits */
  isSlow: boolean
}

const UNRESOLVED: readonly Scenario[] = ['TIMEOUT', 'CONSENT_REVOKED', 'MALFORMED_ANSWER']

/** @param firstSeenMonth `YYYY-MM` of what is added */
export function financingScenario(
  { supplierGstin, buyerGstin }: Pick<ReceivableFields, 'supplierGstin' | 'buyerGstin'>,
  firstSeenMonth: string,
): FinancingScenario {
  const scenarios = [supplierGstin, buyerGstin].map((gstin) => scenarioOfPan(panOfGstin(gstin)))
  const foreign = { requireRegistration: false, contested: false, firstSeenMonth }
  const isRegisteredElsewhere = scenarios.includes('DUPLICATE_FINANCED')
  return {
    added: [
      ...(isRegisteredElsewhere ? [{ class: 'EXACT' as const, state: 'FINANCED' as const, ...foreign }] : []),
      ...(scenarios.includes('NEAR_MATCH')
        ? [{ class: 'NEAR' as const, state: 'REGISTERED' as const, ...foreign }]
        : []),
    ],
    isResolved: !scenarios.some((scenario) => scenario !== undefined && UNRESOLVED.includes(scenario)),
    isRegisteredElsewhere,
    isSlow: scenarios.includes('SLOW'),
  }
}
