import { z } from 'zod'
import { isDay } from '../../packs/money.ts'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { AccountData } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayReason, readEnvelope, rupees } from './gateway.ts'

export interface AccountsInput {
  pan: string
  from: string
  to: string
}

// Timestamps of the deposit schema have an offset; without one, Indian time applies.
const stamp = z.string().transform((text, ctx) => {
  const at = Date.parse(/(Z|[+-][0-9]{2}:?[0-9]{2})$/.test(text) ? text : `${text}+05:30`)
  if (!Number.isNaN(at) && isDay(text.slice(0, 10))) return new Date(at).toISOString()
  ctx.addIssue({ code: 'custom', message: 'not an instant' })
  return z.NEVER
})
const day = z
  .string()
  .transform((text) => text.slice(0, 10))
  .refine(isDay)

const account = z.object({
  type: z.string(),
  maskedAccNumber: z.string(),
  linkedAccRef: z.string(),
  Summary: z.object({
    currentBalance: rupees,
    type: z.string(),
    /** OD or CC; any other value is a plain deposit */
    facility: z.string().nullish(),
  }),
  Transactions: z.object({
    startDate: day,
    endDate: day,
    Transaction: z.array(
      z.object({
        type: z.enum(['CREDIT', 'DEBIT']),
        amount: rupees,
        currentBalance: rupees,
        transactionTimestamp: stamp,
      }),
    ),
  }),
})

/** Deposit data, already decrypted by the gateway. The member names follow ReBIT 1.x; 2.0.0 has others. */
export const AccountsAnswer = envelope(z.object({ Account: z.array(account) }))

export function createAccounts(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
  source = 'ACCOUNT_AGGREGATOR',
): Registry<AccountsInput, AccountData> {
  return createRegistry(
    {
      name: 'accounts',
      connectorVersion: '1.0.0',
      source,
      tier: 'REGISTRY_VERIFIED',
      needsConsent: true,
      request: (input, context) => gatewayGet(config, context, '/accounts/deposits', { ...input }),
      parse(body) {
        const parsed = readEnvelope(AccountsAnswer, body, (data) => ({
          accounts: data.Account.filter((row) => row.type === 'deposit').map(accountOf),
        }))
        return parsed && 'data' in parsed && parsed.data.accounts.length === 0 ? { missing: 'NOT_FOUND' } : parsed
      },
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}

function accountOf({ linkedAccRef, Summary, Transactions }: z.output<typeof account>) {
  const { facility } = Summary
  return {
    ref: linkedAccRef,
    type: Summary.type,
    facility: facility === 'OD' || facility === 'CC' ? facility : null,
    currentBalancePaise: Summary.currentBalance,
    from: Transactions.startDate,
    to: Transactions.endDate,
    transactions: Transactions.Transaction.map(({ type, amount, currentBalance, transactionTimestamp }) => ({
      at: transactionTimestamp,
      signedPaise: type === 'CREDIT' ? amount : -amount,
      balancePaise: currentBalance,
    })),
  }
}
