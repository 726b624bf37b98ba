import type { AntiDilution } from '../../acceptance/anti-dilution.ts'
import type { Card } from './card.ts'
import { countFigure, dayText, inrFigure, instantText, MISSING } from './figures.ts'

const percent = (bps: number | null) => (bps === null ? MISSING : `${(bps / 100).toFixed(2)} %`)

/** The anchored pack does not contain the dilution. */
export function dilutionCard(measured: AntiDilution): Card {
  const { window, worstMonth, acceptance, disputes, observations } = measured
  return {
    key: 'antiDilution',
    title: 'Dilution of the pair (beside the pack)',
    tier: measured.tier,
    grade: null,
    detail: `measured ${instantText(measured.observedAt)} by rules ${measured.policyVersion}, on the day of the pack`,
    values: [
      { label: 'Supplier', value: measured.supplierGstin },
      { label: 'Buyer', value: measured.buyerGstin },
      { label: 'Window', value: window === null ? MISSING : `${window.from} to ${window.to}` },
      { label: 'Months known', value: countFigure(measured.monthsKnown) },
      { label: 'Invoiced', value: inrFigure(measured.grossValueInr) },
      { label: 'Credit notes', value: inrFigure(measured.creditNoteValueInr) },
      { label: 'Credit notes by invoices', value: percent(measured.creditNoteRatioBps) },
      {
        label: 'Worst month',
        value: worstMonth === null ? MISSING : `${monthText(worstMonth.month)}: ${percent(worstMonth.ratioBps)}`,
      },
      {
        label: 'Accepted, deemed, rejected, pending',
        value: `${acceptance.accepted}, ${acceptance.deemed}, ${acceptance.rejected}, ${acceptance.pending}`,
      },
      { label: 'Open disputes', value: `${disputes.open}, ${inrFigure(disputes.valueInr)}` },
      ...observations.map(({ code, text }) => ({ label: code, value: text })),
    ],
    evidence: [],
  }
}

function monthText(month: string): string {
  return dayText(`${month}-01`).replace(/^1 /, '')
}
