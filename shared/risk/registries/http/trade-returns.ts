import { z } from 'zod'
import { dayFromIndianText } from '../../packs/money.ts'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { TradeLedger } from '../registry-data.ts'
import { createRegistry, TAX_CALL_TIMEOUT_MS } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayReason, readEnvelope, rupees } from './gateway.ts'

export interface TradeReturnsInput {
  supplierGstin: string
  recipientGstin: string
  from: string
  to: string
}

// The return's own formats: date DD-MM-YYYY, period MMYYYY.
const returnDate = z.string().transform((text, ctx) => {
  const day = dayFromIndianText(text)
  if (day) return day
  ctx.addIssue({ code: 'custom', message: 'not a date DD-MM-YYYY' })
  return z.NEVER
})
const returnPeriod = z
  .string()
  .regex(/^(0[1-9]|1[0-2])[0-9]{4}$/)
  .transform((text) => `${text.slice(2)}-${text.slice(0, 2)}`)

const documentNumber = z.string().min(1).max(32)
const invoice = z.object({ inum: documentNumber, idt: returnDate, val: rupees, irn: z.string().nullish() })

/** Table 4 (`b2b`), its amendments and notes, per filed period. */
export const TradeReturnsAnswer = envelope(
  z.object({
    /** the supplier's or the recipient's */
    statement: z.enum(['GSTR1', 'GSTR2B']),
    gstin: z.string(),
    periods: z.array(
      z.object({
        fp: returnPeriod,
        filing: z.enum(['MONTHLY', 'QUARTERLY']),
        status: z.enum(['FILED', 'NOT_FILED', 'NOT_OBTAINABLE']),
        /** sections that the source has; absent means all three */
        sections: z.array(z.enum(['b2b', 'b2ba', 'cdnr'])).optional(),
        b2b: z.array(z.object({ ctin: z.string(), inv: z.array(invoice) })).default([]),
        b2ba: z
          .array(
            z.object({ ctin: z.string(), inv: z.array(invoice.extend({ oinum: documentNumber, oidt: returnDate })) }),
          )
          .default([]),
        cdnr: z
          .array(
            z.object({
              ctin: z.string(),
              nt: z.array(
                z.object({ ntty: z.enum(['C', 'D']), nt_num: documentNumber, nt_dt: returnDate, val: rupees }),
              ),
            }),
          )
          .default([]),
      }),
    ),
  }),
)

type ReturnsData = z.output<typeof TradeReturnsAnswer>['data']

/** Needs consent. */
export function createTradeReturns(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<TradeReturnsInput, TradeLedger> {
  return createRegistry(
    {
      name: 'trade-returns',
      connectorVersion: '1.0.0',
      source: 'GSTR1_TABLE4',
      tier: 'REGISTRY_VERIFIED',
      timeoutMs: TAX_CALL_TIMEOUT_MS,
      needsConsent: true,
      request: (input, context) => gatewayGet(config, context, '/returns/trade', { ...input }),
      parse(body, input) {
        const parsed = readEnvelope(TradeReturnsAnswer, body, (data) => ledgerOf(data, input))
        return parsed && 'data' in parsed ? { ...parsed, source: parsed.data.source } : parsed
      },
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}

function ledgerOf(data: ReturnsData, input: TradeReturnsInput): TradeLedger | undefined {
  // Reject a response about another supplier.
  if (data.gstin !== input.supplierGstin) return undefined
  const { periods } = data
  const isRefreshing = (group: { ctin: string }) => group.ctin === input.recipientGstin
  const rows = <Group extends { ctin: string }, Row>(
    groups: (period: ReturnsData['periods'][number]) => Group[],
    of: (group: Group, period: string) => Row[],
  ) =>
    periods
      .filter((period) => period.status === 'FILED')
      .flatMap((period) =>
        groups(period)
          .filter(isRefreshing)
          .flatMap((group) => of(group, period.fp)),
      )
  return {
    source: data.statement === 'GSTR1' ? 'GSTR1_TABLE4' : 'GSTR2B_B2B',
    supplierGstin: input.supplierGstin,
    recipientGstin: input.recipientGstin,
    ...(periods.every(hasNotes) ? {} : { hasNotes: false }),
    periods: periods.map(({ fp, filing, status }) => ({ period: fp, filing, status })),
    invoices: rows(
      (period) => period.b2b,
      (group, period) => group.inv.map((row) => invoiceOf(row, period)),
    ),
    amendments: rows(
      (period) => period.b2ba,
      (group, period) =>
        group.inv.map((row) => ({ ...invoiceOf(row, period), originalNumber: row.oinum, originalDate: row.oidt })),
    ),
    notes: rows(
      (period) => period.cdnr,
      (group, period) =>
        group.nt.map((note) => ({
          period,
          kind: note.ntty === 'C' ? ('CREDIT' as const) : ('DEBIT' as const),
          number: note.nt_num,
          date: note.nt_dt,
          valuePaise: note.val,
        })),
    ),
  }
}

function hasNotes({ status, sections }: ReturnsData['periods'][number]): boolean {
  return status !== 'FILED' || !sections || (sections.includes('b2ba') && sections.includes('cdnr'))
}

function invoiceOf(row: z.output<typeof invoice>, period: string) {
  return { period, number: row.inum, date: row.idt, valuePaise: row.val, irn: row.irn ?? null }
}
