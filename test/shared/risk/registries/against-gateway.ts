import { createBreakers } from '#shared/risk/registries/breaker.ts'
import type { RegistryContext, RegistryDeps, RegistryResult } from '#shared/risk/registries/connector.ts'
import { createRegistrySet, type RegistryConfig, type RegistrySet } from '#shared/risk/registries/registry-set.ts'
import { type Answer, fetchRequest, recordingGateway } from './recording-gateway.ts'
import { VirtualClock } from './virtual-clock.ts'

export const SUPPLIER = '29AAACR5678D1Z5'
export const RECIPIENT = '27AAACB1234C1ZF'
export const PAN = 'AAACR5678D'
export const START = Date.parse('2026-11-21T06:30:00.000Z')

export const consent = { handle: 'consent-1', id: null, purposeCode: null, expiresAt: null }

export function context(changes: Partial<RegistryContext> = {}): RegistryContext {
  return {
    env: 'PRODUCTION',
    orgId: 'org-1',
    consent,
    deadline: START + 20_000,
    signal: new AbortController().signal,
    requestId: 'request-1',
    ...changes,
  }
}

export const asks = {
  tradeReturns: (set: RegistrySet, ctx = context()) =>
    set.tradeReturns.fetch(ctx, { supplierGstin: SUPPLIER, recipientGstin: RECIPIENT, from: '2025-11', to: '2026-10' }),
  outwardSupplies: (set: RegistrySet, ctx = context()) => set.outwardSupplies.fetch(ctx, { gstin: SUPPLIER }),
  taxpayerStatus: (set: RegistrySet, ctx = context()) => set.taxpayerStatus.fetch(ctx, { gstin: SUPPLIER }),
  companyMaster: (set: RegistrySet, ctx = context()) => set.companyMaster.fetch(ctx, { pan: PAN }),
  providentFund: (set: RegistrySet, ctx = context()) => set.providentFund.fetch(ctx, { pan: PAN }),
  securityInterests: (set: RegistrySet, ctx = context()) =>
    set.securityInterests.fetch(ctx, { pan: PAN, searchType: 'SI' }),
  accounts: (set: RegistrySet, ctx = context()) =>
    set.accounts.fetch(ctx, { pan: PAN, from: '2026-04-01', to: '2026-11-20' }),
  leiRecords: (set: RegistrySet, ctx = context()) => set.leiRecords.fetch(ctx, { lei: '506700GE1G29325QX363' }),
}

/** Queries the connectors against one recording server. */
export async function against<T>(
  answers: Answer[],
  ask: (set: RegistrySet) => Promise<RegistryResult<T>>,
  clock: Pick<RegistryDeps, 'now' | 'sleep'> = new VirtualClock(START),
  { lei = {} }: { lei?: { token?: string } } = {},
) {
  await using gateway = await recordingGateway(answers)
  const at = { url: gateway.url, token: 'token-1' }
  const config: RegistryConfig = {
    taxReturns: at,
    taxpayers: at,
    companies: at,
    groups: at,
    registryCompanies: at,
    providentFund: at,
    securityInterests: at,
    accounts: at,
    lei: { url: gateway.url, ...lei },
  }
  const set = createRegistrySet(config, { http: fetchRequest, random: () => 0.5, ...clock }, createBreakers())
  return { result: await ask(set), requests: gateway.requests }
}

// Uses the real clock with a real server: the virtual one would skip the time that the socket needs.
export const realTime = {
  now: () => START,
  sleep: (delayMs: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

export const tradeData = {
  statement: 'GSTR1',
  gstin: SUPPLIER,
  periods: [
    {
      fp: '102026',
      filing: 'MONTHLY',
      status: 'FILED',
      filedOn: '11-11-2026',
      b2b: [
        {
          ctin: RECIPIENT,
          inv: [{ inum: 'INV/1', idt: '05-10-2026', val: 118000.5, pos: '27', rchrg: 'N', irn: 'a'.repeat(64) }],
        },
        { ctin: '07AABCT9012E2ZL', inv: [{ inum: 'INV/2', idt: '06-10-2026', val: 1 }] },
      ],
      b2ba: [
        {
          ctin: RECIPIENT,
          inv: [{ oinum: 'INV/0', oidt: '01-09-2026', inum: 'INV/0A', idt: '02-09-2026', val: '7.10' }],
        },
      ],
      cdnr: [{ ctin: RECIPIENT, nt: [{ ntty: 'C', nt_num: 'CN/1', nt_dt: '20-10-2026', val: 18000 }] }],
    },
    { fp: '112025', filing: 'MONTHLY', status: 'NOT_FILED' },
  ],
}
