import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { InvoiceAction, InvoiceActionQuery } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayReason, readEnvelope } from './gateway.ts'

export const InvoiceActionAnswer = envelope(
  z.object({
    documentNumber: z.string(),
    action: z.enum(['ACCEPTED', 'REJECTED', 'PENDING', 'DEEMED_ACCEPTED']),
    actedOn: z.iso.date().nullable(),
  }),
)

export function createInvoiceActions(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<InvoiceActionQuery, InvoiceAction> {
  return createRegistry(
    {
      name: 'invoice-actions',
      connectorVersion: '1.0.0',
      source: 'GST_INVOICE_MANAGEMENT',
      tier: 'REGISTRY_VERIFIED',
      request: (input, context) => gatewayGet(config, context, '/invoice-actions', { ...input }),
      parse: (body, { documentNumber }) =>
        readEnvelope(InvoiceActionAnswer, body, (data) => (data.documentNumber === documentNumber ? data : undefined)),
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}
