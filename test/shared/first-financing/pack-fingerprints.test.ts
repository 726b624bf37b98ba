import test from 'ava'
import { packFingerprints } from '#shared/first-financing/pack-fingerprints.ts'
import { verifyInvoiceToken } from '#shared/packs/signals/e-invoice-token.ts'
import { signDemoInvoice } from '#shared/registries/sandbox/demo-invoices.ts'
import { sandboxInvoiceKey } from '#shared/registries/sandbox/invoice-key.ts'
import { demoRequest, signingKey } from '../packs/demo-pack.ts'

const key = Buffer.alloc(32, 1)
const token = (documentNumber: string) =>
  signDemoInvoice(
    {
      sellerGstin: demoRequest.borrowerGstin,
      buyerGstin: demoRequest.buyerGstin,
      documentNumber,
      documentDate: '2026-11-10',
      totalInr: 118_000,
    },
    signingKey,
  )
const context = { env: 'SANDBOX' as const, keys: [sandboxInvoiceKey(signingKey)], ...demoRequest }
const verdict = (text: string) => verifyInvoiceToken(text, context)

test('a request without a number and without e-invoices is matched by nothing', (t) => {
  t.deepEqual(packFingerprints(key, demoRequest, []), { po1: null, receivables: [] })
})

test('a numbered order is matched, whatever the borrower’s own subcontractor', (t) => {
  const one = packFingerprints(key, { ...demoRequest, poNumber: 'PO-1' }, [])
  const other = packFingerprints(key, { ...demoRequest, poNumber: 'po-1', subcontractorGstin: '07AABCT9012E2ZL' }, [])
  t.truthy(one.po1)
  t.is(one.po1, other.po1)
})

test('e-invoices that passed every check are matched, others are not', (t) => {
  const { receivables } = packFingerprints(key, demoRequest, [verdict(token('A-1')), verdict('garbage')])
  t.is(receivables.length, 1)
  t.is(packFingerprints(key, demoRequest, [verdict(token('A-001'))]).receivables[0]?.rf2, receivables[0]?.rf2)
})
