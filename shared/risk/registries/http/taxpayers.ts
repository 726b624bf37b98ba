import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { OutwardSupplies, ProvidentFund, TaxpayerStatus } from '../registry-data.ts'
import { createRegistry, TAX_CALL_TIMEOUT_MS } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayReason, readEnvelope, rupees } from './gateway.ts'

const month = z.string().regex(/^[0-9]{4}-(0[1-9]|1[0-2])$/)

export const TaxpayerAnswer = envelope(
  z.object({
    gstin: z.string(),
    legalName: z.string(),
    status: z.enum(['ACTIVE', 'SUSPENDED', 'CANCELLED', 'INACTIVE']),
    registeredOn: z.iso.date().nullable(),
    otherGstins: z.array(z.string()).default([]),
  }),
)

export const OutwardSuppliesAnswer = envelope(
  z.object({
    gstin: z.string(),
    /** filed periods only: taxable plus exempt plus zero-rated supplies, in rupees */
    periods: z.array(z.object({ period: month, value: rupees })).max(12),
  }),
)

export function createTaxpayerStatus(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<{ gstin: string }, TaxpayerStatus> {
  return createRegistry(
    {
      name: 'taxpayer-status',
      connectorVersion: '1.0.0',
      source: 'GST_TAXPAYER_SEARCH',
      tier: 'REGISTRY_VERIFIED',
      timeoutMs: TAX_CALL_TIMEOUT_MS,
      request: ({ gstin }, context) => gatewayGet(config, context, `/taxpayers/${encodeURIComponent(gstin)}`),
      parse: (body, { gstin }) =>
        readEnvelope(TaxpayerAnswer, body, (data) => (data.gstin === gstin ? data : undefined)),
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}

/** Needs a live consent of the taxpayer. */
export function createOutwardSupplies(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<{ gstin: string }, OutwardSupplies> {
  return createRegistry(
    {
      name: 'outward-supplies',
      connectorVersion: '1.0.0',
      source: 'GSTR1_3B',
      tier: 'REGISTRY_VERIFIED',
      timeoutMs: TAX_CALL_TIMEOUT_MS,
      needsConsent: true,
      request: ({ gstin }, context) => gatewayGet(config, context, '/returns/outward-supplies', { gstin }),
      parse(body, { gstin }) {
        const parsed = readEnvelope(OutwardSuppliesAnswer, body, (data) =>
          data.gstin === gstin
            ? { gstin, periods: data.periods.map(({ period, value }) => ({ period, valuePaise: value })) }
            : undefined,
        )
        // Without a filed period the turnover is missing, not zero.
        return parsed && 'data' in parsed && parsed.data.periods.length === 0 ? { missing: 'NOT_FILED' } : parsed
      },
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}

export const ProvidentFundAnswer = envelope(
  z.object({
    pan: z.string(),
    establishmentId: z.string(),
    wageMonth: z.string().regex(/^[0-9]{4}-(0[1-9]|1[0-2])$/),
    /** members with a contribution in that wage month */
    activeMembers: z.int().min(0),
  }),
)

/** Uses the latest wage month; needs consent. */
export function createProvidentFund(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<{ pan: string }, ProvidentFund> {
  return createRegistry(
    {
      name: 'provident-fund',
      connectorVersion: '1.0.0',
      source: 'EPFO',
      tier: 'REGISTRY_VERIFIED',
      needsConsent: true,
      request: ({ pan }, context) => gatewayGet(config, context, '/establishments', { pan }),
      parse: (body, { pan }) =>
        readEnvelope(ProvidentFundAnswer, body, (data) => (data.pan === pan ? data : undefined)),
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}
