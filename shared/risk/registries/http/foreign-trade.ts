import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { ExportCertificate, ExporterCode, ShippingBill, ShippingBillName } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayReason, readEnvelope, rupees } from './gateway.ts'

const SOURCES = {
  'exporter-codes': 'EXPORTER_CODES',
  'export-certificates': 'EXPORT_CERTIFICATES',
  'shipping-bills': 'CUSTOMS_SHIPPING_BILLS',
} as const

const common = { connectorVersion: '1.0.0', tier: 'REGISTRY_VERIFIED', reasonOf: gatewayReason } as const

export const ExporterCodeAnswer = envelope(
  z.object({
    iec: z.string(),
    legalName: z.string(),
    status: z.enum(['ACTIVE', 'SUSPENDED', 'CANCELLED']),
    issuedOn: z.iso.date().nullable(),
  }),
)

export function createExporterCodes(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<{ iec: string }, ExporterCode> {
  const name = 'exporter-codes'
  return createRegistry(
    {
      ...common,
      name,
      source: SOURCES[name],
      request: ({ iec }, context) => gatewayGet(config, context, `/exporter-codes/${iec}`),
      parse: (body, { iec }) => readEnvelope(ExporterCodeAnswer, body, (data) => (data.iec === iec ? data : undefined)),
    },
    deps,
    breakers,
  )
}

/** Kept as exact text. */
const foreignAmount = z.object({
  amount: z.union([z.string(), z.number()]).transform((amount, ctx) => {
    if (/^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,4})?$/.test(String(amount))) return String(amount)
    ctx.addIssue({ code: 'custom', message: 'not an amount' })
    return z.NEVER
  }),
  currency: z.string().regex(/^[A-Z]{3}$/),
})

const billName = z.object({ number: z.string(), date: z.iso.date(), portCode: z.string() })

export const ExportCertificateAnswer = envelope(
  z.object({
    iec: z.string(),
    brcNumber: z.string(),
    status: z.enum(['ISSUED', 'CANCELLED']),
    issuedOn: z.iso.date(),
    shippingBill: billName.nullable(),
    realised: foreignAmount.nullable(),
    remittance: foreignAmount.extend({ date: z.iso.date() }).nullable(),
  }),
)

export function createExportCertificates(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<{ iec: string; brcNumber: string }, ExportCertificate> {
  const name = 'export-certificates'
  return createRegistry(
    {
      ...common,
      name,
      source: SOURCES[name],
      request: (input, context) => gatewayGet(config, context, '/export-certificates', { ...input }),
      parse: (body, { iec, brcNumber }) =>
        readEnvelope(ExportCertificateAnswer, body, (data) =>
          data.iec === iec && data.brcNumber === brcNumber ? data : undefined,
        ),
    },
    deps,
    breakers,
  )
}

export const ShippingBillAnswer = envelope(
  billName.extend({ iec: z.string(), fobInr: rupees.nullable(), invoiceNumbers: z.array(z.string()).max(200) }),
)

export function createShippingBills(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<ShippingBillName & { iec: string }, ShippingBill> {
  const name = 'shipping-bills'
  return createRegistry(
    {
      ...common,
      name,
      source: SOURCES[name],
      request: (input, context) => gatewayGet(config, context, '/shipping-bills', { ...input }),
      parse: (body, { iec, number }) =>
        readEnvelope(ShippingBillAnswer, body, ({ fobInr, ...data }) =>
          data.iec === iec && Number(data.number) === Number(number) ? { ...data, fobPaise: fobInr } : undefined,
        ),
    },
    deps,
    breakers,
  )
}
