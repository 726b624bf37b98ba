import { nameSimilarity } from '../businesses/entity.ts'
import { parsePaise } from '../packs/money.ts'
import type { RegistryResult } from '../registries/connector.ts'
import type { ExportCertificate, ExporterCode, ShippingBill, ShippingBillName } from '../registries/registry-data.ts'
import type { TradeRequest } from './requests.ts'

export interface TradeCheck {
  key: string
  result: 'MATCH' | 'MISMATCH' | 'MISSING'
  tier: string
  detail: string
}

type RequestOf<Kind extends TradeRequest['subjectKind']> = Extract<TradeRequest, { subjectKind: Kind }>

const MATCH_PERMILLE = 850

export function iecChecks({ legalName }: RequestOf<'IEC'>, answer: RegistryResult<ExporterCode>): TradeCheck[] {
  const keys = ['iec.status', ...(legalName === undefined ? [] : ['iec.legalName'])]
  if (answer.status !== 'OK') return keys.map((key) => missing(key, answer.missingReason))
  const { status, issuedOn } = answer.data
  const since = issuedOn === null ? 'active' : `active since ${issuedOn}`
  const checks = [found('iec.status', status === 'ACTIVE', answer.tier, status === 'ACTIVE' ? since : status)]
  if (legalName === undefined) return checks
  const permille = nameSimilarity(answer.data.legalName, legalName)
  return [
    ...checks,
    permille === null
      ? missing('iec.legalName', 'NOT_FOUND')
      : found('iec.legalName', permille >= MATCH_PERMILLE, answer.tier, `similarity ${permille} of 1000`),
  ]
}

/** No registry confirms the shipping bill, which the exporter assigned. */
export function ebrcChecks(request: RequestOf<'EBRC'>, answer: RegistryResult<ExportCertificate>): TradeCheck[] {
  const keys = [
    'ebrc.exists',
    'ebrc.remittance',
    ...(request.shippingBill ? ['ebrc.shippingBill'] : []),
    ...(request.realised ? ['ebrc.realised'] : []),
  ]
  if (answer.status !== 'OK') return keys.map((key) => missing(key, answer.missingReason))
  const { data, tier } = answer
  const isIssued = data.status === 'ISSUED'
  const { remittance } = data
  return [
    found('ebrc.exists', isIssued, tier, isIssued ? `issued ${data.issuedOn}` : 'CANCELLED'),
    remittance
      ? found('ebrc.remittance', true, tier, `${remittance.currency} on ${remittance.date}`)
      : missing('ebrc.remittance', 'NOT_FOUND'),
    ...(request.shippingBill ? [tiedBill(request.shippingBill, data.shippingBill)] : []),
    ...(request.realised ? [realised(request.realised, data.realised, tier)] : []),
  ]
}

function tiedBill(bill: ShippingBillName, tied: ShippingBillName | null): TradeCheck {
  const key = 'ebrc.shippingBill'
  if (!tied) return missing(key, 'NOT_FOUND')
  const isSame = sameNumber(bill.number, tied.number) && bill.date === tied.date && bill.portCode === tied.portCode
  return found(key, isSame, 'SELF_DECLARED', isSame ? 'matched by the exporter' : 'the exporter tied another bill')
}

function realised(
  expected: { amount: number; currency: string },
  stated: ExportCertificate['realised'],
  tier: string,
): TradeCheck {
  const key = 'ebrc.realised'
  if (!stated) return missing(key, 'NOT_FOUND')
  if (stated.currency !== expected.currency) return missing(key, 'OTHER_CURRENCY')
  const difference = tenThousandths(String(expected.amount)) - tenThousandths(stated.amount)
  const isWithin = difference <= UNIT && difference >= -UNIT
  return found(key, isWithin, tier, isWithin ? 'within one currency unit' : 'more than one currency unit apart')
}

const UNIT = 10_000n

/** At most four decimals. */
function tenThousandths(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * UNIT + BigInt(fraction.padEnd(4, '0'))
}

export function shippingBillChecks(
  request: RequestOf<'SHIPPING_BILL'>,
  answer: RegistryResult<ShippingBill>,
): TradeCheck[] {
  const { fobValueInr } = request
  const keys = [
    'shippingBill.exists',
    'shippingBill.date',
    'shippingBill.port',
    ...(fobValueInr === undefined ? [] : ['shippingBill.fob']),
  ]
  if (answer.status !== 'OK') return keys.map((key) => missing(key, answer.missingReason))
  const { data, tier } = answer
  return [
    found('shippingBill.exists', sameNumber(data.number, request.number), tier, 'customs have a bill of this number'),
    found('shippingBill.date', data.date === request.date, tier, `dated ${data.date}`),
    found('shippingBill.port', data.portCode === request.portCode, tier, `of ${data.portCode}`),
    ...(fobValueInr === undefined ? [] : [fob(fobValueInr, data.fobPaise, tier)]),
  ]
}

/** Accepts one percent of difference, by cross-multiplication in paise. */
function fob(requestedInr: number, stated: number | null, tier: string): TradeCheck {
  const key = 'shippingBill.fob'
  const requestedPaise = parsePaise(requestedInr)
  if (stated === null || requestedPaise === undefined) return missing(key, 'NOT_FOUND')
  const difference = BigInt(requestedPaise) - BigInt(stated)
  const isWithin = (difference < 0n ? -difference : difference) * 100n <= BigInt(stated)
  return found(key, isWithin, tier, isWithin ? 'within one percent' : 'more than one percent apart')
}

export interface ChainDocument {
  type: string
  tier: string
  invoiceNumber: string | null
}

/** strong to weak */
const TIERS = ['REGISTRY_VERIFIED', 'LENDER_SIDE', 'ISSUER_CONFIRMED', 'DOCUMENT_SIGNED', 'SELF_DECLARED', 'MISSING']

/**
 * Compares with numbers at customs, otherwise with those of documents, by the lower tier. `customs` is null without a
 * verified bill. Returns null without documents to compare.
 */
export function chainCheck(documents: readonly ChainDocument[], customs: readonly string[] | null): TradeCheck | null {
  const invoices = documents.filter(({ type }) => type === 'COMMERCIAL_INVOICE')
  const bills = documents.filter(({ type }) => type === 'SHIPPING_BILL')
  if (invoices.length === 0 || (customs === null && bills.length === 0)) return null
  const stated = bills.flatMap(({ invoiceNumber }) => invoiceNumber ?? [])
  const numbers = (customs ?? stated).map(normalised)
  const invoiceNumbers = invoices.map(({ invoiceNumber }) => invoiceNumber)
  if (numbers.length === 0 || invoiceNumbers.includes(null)) return missing('chain.invoice', 'NOT_FOUND')
  const isEqual = invoiceNumbers.every((number) => number !== null && numbers.includes(normalised(number)))
  const tier = lowest([...invoices, ...(customs === null ? bills : [])].map((document) => document.tier))
  return found('chain.invoice', isEqual, tier, isEqual ? 'invoice and bill agree' : 'invoice and bill differ')
}

function lowest(tiers: readonly string[]): string {
  return TIERS[Math.max(...tiers.map((tier) => TIERS.indexOf(tier)))] ?? 'MISSING'
}

function normalised(number: string): string {
  return number.normalize('NFKC').replaceAll(/\s/gu, '').toUpperCase()
}

/** Customs pad numbers with zeros. */
function sameNumber(one: string, other: string): boolean {
  return one.replace(/^0+/, '') === other.replace(/^0+/, '')
}

function found(key: string, isMatch: boolean, tier: string, detail: string): TradeCheck {
  return { key, result: isMatch ? 'MATCH' : 'MISMATCH', tier, detail }
}

function missing(key: string, reason: string | null): TradeCheck {
  return { key, result: 'MISSING', tier: 'MISSING', detail: reason ?? 'NOT_FOUND' }
}
