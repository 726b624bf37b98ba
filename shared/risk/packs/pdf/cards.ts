import type { PackSignals } from '../pack-schema.ts'
import { type Card, type CardInput, type CardValue, gradedCard, plainCard } from './card.ts'
import { countFigure, dayText, inrFigure, instantText, legName, MISSING, words, yesNo } from './figures.ts'

/** In the reading order of page and document. */
export function packCards(input: CardInput): Card[] {
  const { signals } = input.pack
  return [
    gradedCard(input, 'tradeRelationship.ab', tradeValues(signals.tradeRelationship.ab)),
    gradedCard(input, 'tradeRelationship.bc', tradeValues(signals.tradeRelationship.bc)),
    gradedCard(input, 'eInvoice', invoiceValues(signals.eInvoice), invoiceKeys(input)),
    gradedCard(input, 'subcontractorCapacity', capacityValues(signals.subcontractorCapacity)),
    gradedCard(input, 'borrowerCapacity', capacityValues(signals.borrowerCapacity)),
    gradedCard(input, 'relatedParty', []),
    gradedCard(input, 'doubleFinancing', financingValues(signals.doubleFinancing)),
    plainCard(input, { key: 'aaCashflow', title: 'Account cash flow', values: cashflowValues(signals.aaCashflow) }, [
      'aaCashflow',
    ]),
    plainCard(
      input,
      {
        key: 'counterpartyEstablishment',
        title: 'Counterparty establishment',
        values: establishmentValues(signals.counterpartyEstablishment),
      },
      ['taxpayerStatus'],
    ),
  ]
}

function tradeValues(leg: PackSignals['tradeRelationship']['ab']): CardValue[] {
  return [
    { label: 'Counterparty', value: leg.counterpartyGstin },
    { label: 'Invoices', value: countFigure(leg.invoiceCount) },
    { label: 'Total value', value: inrFigure(leg.totalValueInr) },
    { label: 'Months with trade', value: leg.monthsActive === null ? MISSING : `${leg.monthsActive} of 12` },
    { label: 'Trend', value: words(leg.trend) },
    { label: 'Verified', value: yesNo(leg.verified) },
  ]
}

function invoiceKeys({ evidence }: CardInput): string[] {
  return evidence.map(({ key }) => key).filter((key) => key.startsWith('eInvoice'))
}

function invoiceValues(invoices: PackSignals['eInvoice']): CardValue[] {
  return [
    { label: 'Tokens provided', value: countFigure(invoices.provided) },
    { label: 'Readable', value: countFigure(invoices.parsed) },
    { label: 'Signed by the portal', value: countFigure(invoices.gstnSigned) },
    { label: 'Buyer leg', value: corroboration(invoices.abLegCorroborated) },
    { label: 'Subcontractor leg', value: corroboration(invoices.bcLegCorroborated) },
    ...invoices.invoices.flatMap((invoice, index) => [
      { label: `Invoice ${index + 1} reference`, value: invoice.irn },
      { label: `Invoice ${index + 1} leg`, value: legName(invoice.leg) },
      { label: `Invoice ${index + 1} value`, value: inrFigure(invoice.totalValueInr) },
      { label: `Invoice ${index + 1} signature`, value: invoice.signatureVerified ? 'verifies' : 'does not verify' },
    ]),
  ]
}

function corroboration(isCorroborated: boolean): string {
  return isCorroborated ? 'corroborated' : 'not corroborated'
}

function capacityValues(capacity: PackSignals['borrowerCapacity'] | PackSignals['subcontractorCapacity']): CardValue[] {
  return [
    { label: 'Annual turnover', value: inrFigure(capacity.annualTurnoverInr) },
    { label: 'Employees', value: countFigure(capacity.activeEmployeeCount) },
    { label: 'Order value', value: inrFigure(capacity.orderValueInr) },
    { label: 'Capacity rating', value: words(capacity.capacityRating) },
    ...capacity.innocentExplanations.map((text) => ({ label: 'May also be because', value: explained(text) })),
  ]
}

function explained(text: string): string {
  return text.replace(/^[A-Z]+(?:_[A-Z]+)+: /, '')
}

function financingValues({ status, cersai }: PackSignals['doubleFinancing']): CardValue[] {
  return [
    { label: 'Status', value: words(status) },
    { label: 'Search type', value: cersai.searchType },
    { label: 'Searched', value: cersai.searchedAt === null ? MISSING : instantText(cersai.searchedAt) },
    { label: 'Active charges', value: cersai.activeCharges === null ? MISSING : String(cersai.activeCharges.length) },
    ...(cersai.activeCharges ?? []).flatMap((charge, index) => [
      { label: `Charge ${index + 1}`, value: `${charge.securityInterestId}, ${words(charge.assetCategory)}` },
      { label: `Charge ${index + 1} created`, value: dayText(charge.createdOn) },
      { label: `Charge ${index + 1} secures`, value: inrFigure(charge.securedAmountInr) },
      { label: `Charge ${index + 1} on receivables`, value: yesNo(charge.coversReceivables) },
      { label: `Charge ${index + 1} holder`, value: words(charge.chargeHolderType) },
    ]),
  ]
}

function cashflowValues(cashflow: PackSignals['aaCashflow']): CardValue[] {
  return [
    { label: 'Average monthly balance', value: inrFigure(cashflow.avgMonthlyBalance) },
    { label: 'Balance tier', value: words(cashflow.balanceTier) },
  ]
}

function establishmentValues({ buyer, subcontractor }: PackSignals['counterpartyEstablishment']): CardValue[] {
  return [...establishment('Buyer', buyer), ...establishment('Subcontractor', subcontractor)]
}

function establishment(name: string, party: PackSignals['counterpartyEstablishment']['buyer']): CardValue[] {
  const traded = party.invoiceCount === null ? MISSING : `${countFigure(party.invoiceCount)} invoices`
  const months = party.monthsActive === null ? MISSING : `${party.monthsActive} of 12 months`
  return [
    { label: name, value: party.gstin },
    { label: `${name} established`, value: yesNo(party.established) },
    { label: `${name} traded`, value: traded === months ? MISSING : `${traded} in ${months}` },
  ]
}
