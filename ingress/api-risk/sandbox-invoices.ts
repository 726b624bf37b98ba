import { z } from 'zod'
import { ForbiddenError } from '#shared/errors.ts'
import { day, gstin } from '#shared/risk/evidence/values.ts'
import { ReceivableFields } from '#shared/risk/first-financing/receivable.ts'
import { ensureSandboxKey } from '#shared/risk/invoice-keys/store.ts'
import { signDemoInvoice } from '#shared/risk/registries/sandbox/demo-invoices.ts'
import { withScope } from './access.ts'
import { write } from './risk-route.ts'

const InvoiceBody = z.strictObject({
  supplierGstin: gstin,
  buyerGstin: gstin,
  documentNumber: ReceivableFields.shape.documentNumber,
  documentDate: day,
  totalInr: ReceivableFields.shape.totalInr,
})

/** Signs a demo e-invoice as the portal would, so that a receivable can be presented without an operator. */
export const sandboxInvoiceRoute = write({
  tags: ['Risk signals'],
  access: withScope('risk-signals:run'),
  path: '/v1/sandbox/e-invoices',
  operationId: 'signSandboxInvoice',
  summary: 'Sign a demo e-invoice, for the sandbox alone',
  description: 'The token goes into `eInvoices` of a pack request, between its parties. No portal knows the document.',
  params: {},
  body: InvoiceBody,
  returns: z.object({ eInvoice: z.string() }),
  status: 201,
  async handle({ caller, body, tx, deps }) {
    if (caller.env !== 'SANDBOX') throw new ForbiddenError('demo e-invoices are signed in the sandbox alone')
    const { supplierGstin: sellerGstin, ...rest } = body
    return { eInvoice: signDemoInvoice({ sellerGstin, ...rest }, await ensureSandboxKey(tx, deps.secrets)) }
  },
})
