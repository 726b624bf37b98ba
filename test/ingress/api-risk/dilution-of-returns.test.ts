import test from 'ava'
import { addMonths } from '#shared/risk/packs/money.ts'
import { returnWindow } from '#shared/risk/packs/signals/return-window.ts'
import { ok, recordingGateway } from '../../shared/risk/registries/recording-gateway.ts'
import { openClient } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'

const SUPPLIER = '29AAACR5678D1Z5'
const BUYER = '27AAACB1234C1ZF'
const WITHOUT_SALES = 5

const window = returnWindow(Date.now())
const monthAt = (slot: number) => addMonths(window[0] ?? '', slot)
const dayIn = (slot: number, day: string) => `${day}-${monthAt(slot).slice(5)}-${monthAt(slot).slice(0, 4)}`
const invoiceOf = (slot: number, val = 100_000) => ({ inum: `INV/${slot}`, idt: dayIn(slot, '05'), val })
const creditNote = (slot: number, val: number) => ({ ntty: 'C', nt_num: `CN/${slot}`, nt_dt: dayIn(slot, '20'), val })
const amendmentOf = (slot: number, val: number) => ({
  ...invoiceOf(slot, val),
  oinum: `INV/${slot}`,
  oidt: dayIn(slot, '05'),
})

/** The returns filed for a month of the window, whose first is 0; earlier months are negative. */
interface Filed {
  inv?: readonly object[]
  amended?: readonly object[]
  notes?: readonly object[]
}

function periodOf(slot: number, { inv = [invoiceOf(slot)], amended = [], notes = [] }: Filed = {}) {
  return {
    fp: `${monthAt(slot).slice(5)}${monthAt(slot).slice(0, 4)}`,
    filing: 'MONTHLY',
    status: 'FILED',
    b2b: [{ ctin: BUYER, inv }],
    b2ba: [{ ctin: BUYER, inv: amended }],
    cdnr: [{ ctin: BUYER, nt: notes }],
  }
}

const SPECIAL: Record<number, Filed> = {
  [-1]: { amended: [amendmentOf(-2, 70_000)] },
  2: { notes: [creditNote(2, 2_000)] },
  [WITHOUT_SALES]: { inv: [], notes: [creditNote(WITHOUT_SALES, 1_234.56)] },
  7: { amended: [amendmentOf(6, 90_000)] },
  8: { amended: [amendmentOf(7, 110_000), amendmentOf(-1, 60_000)] },
}

test('credit notes in months without sales and amended invoices are measured separately', async (t) => {
  const slots = Array.from({ length: 15 }, (_, n) => n - 3)
  const data = { statement: 'GSTR1', gstin: SUPPLIER, periods: slots.map((slot) => periodOf(slot, SPECIAL[slot])) }
  await using gateway = await recordingGateway([ok(data)])
  await using product = await openProduct({ env: { REGISTRIES: JSON.stringify({ taxReturns: { url: gateway.url } }) } })
  const { base } = await product.ingress()
  await product.workers(['dilution-measurer'])
  const lender = await openClient(product, base, { env: 'PRODUCTION' })
  const path = `/v1/risk-signals/anti-dilution?supplierGstin=${SUPPLIER}&buyerGstin=${BUYER}&gstConsent=consent-1`
  const { status, json, text } = await lender.get(path, { prefer: 'wait=20' })
  t.is(status, 200, text)
  t.like(json, {
    window: { from: monthAt(0), to: monthAt(11) },
    monthsKnown: 12,
    invoiceCount: 11,
    grossValueInr: 1_100_000,
    creditNoteCount: 2,
    creditNoteValueInr: 3_234.56,
    creditInMonthsWithoutSalesInr: 1_234.56,
    amendedInvoiceCount: 2,
    worstMonth: { month: monthAt(2), ratioBps: 200 },
    tier: 'REGISTRY_VERIFIED',
  })
  t.is(gateway.requests[0]?.headers['x-consent-handle'], 'consent-1')
})

test('in production a pair without the taxpayer’s consent is MISSING, and no figure is zero', async (t) => {
  await using gateway = await recordingGateway([ok({})])
  await using product = await openProduct({ env: { REGISTRIES: JSON.stringify({ taxReturns: { url: gateway.url } }) } })
  const { base } = await product.ingress()
  await product.workers(['dilution-measurer'])
  const lender = await openClient(product, base, { env: 'PRODUCTION' })
  const path = `/v1/risk-signals/anti-dilution?supplierGstin=${SUPPLIER}&buyerGstin=${BUYER}`
  const { status, json, text } = await lender.get(path, { prefer: 'wait=20' })
  t.is(status, 200, text)
  t.like(json, {
    creditInMonthsWithoutSalesInr: null,
    amendedInvoiceCount: null,
    invoiceCount: null,
    tier: 'MISSING',
    missingReason: 'NO_CONSENT',
  })
  t.is(gateway.requests.length, 0)
})

test('returns without notes in their source give no dilution', async (t) => {
  const slots = Array.from({ length: 12 }, (_, n) => n)
  const periods = slots.map((slot) => {
    const { b2b, fp, filing, status } = periodOf(slot)
    return { fp, filing, status, b2b, sections: ['b2b'] }
  })
  await using gateway = await recordingGateway([ok({ statement: 'GSTR1', gstin: SUPPLIER, periods })])
  await using product = await openProduct({ env: { REGISTRIES: JSON.stringify({ taxReturns: { url: gateway.url } }) } })
  const { base } = await product.ingress()
  await product.workers(['dilution-measurer'])
  const lender = await openClient(product, base, { env: 'PRODUCTION' })
  const path = `/v1/risk-signals/anti-dilution?supplierGstin=${SUPPLIER}&buyerGstin=${BUYER}&gstConsent=consent-1`
  const { status, json, text } = await lender.get(path, { prefer: 'wait=20' })
  t.is(status, 200, text)
  t.like(json, { creditNoteCount: null, creditNoteValueInr: null, tier: 'MISSING', missingReason: 'NOT_ENTITLED' })
})
