import { gstinCheckCharacter } from '#shared/risk/identifiers/gstin.ts'
import { type ComposeInput, composePack } from '#shared/risk/packs/compose-pack.ts'
import type { PackRequest } from '#shared/risk/packs/request.ts'
import { gatherRegistryResults } from '#shared/risk/registries/gather.ts'
import {
  demoInvoiceTokens,
  generateSandboxKey,
  sandboxInvoiceKey,
} from '#shared/risk/registries/sandbox/demo-invoices.ts'
import { demoFirstSeenMonth } from '#shared/risk/registries/sandbox/demo-trade.ts'
import { createSandboxRegistries, SANDBOX_SEED, withDemoConsents } from '#shared/risk/registries/sandbox/registries.ts'
import { withSandboxFindings } from '#shared/risk/registries/sandbox/scenarios.ts'
import { VirtualClock } from '../registries/virtual-clock.ts'

export const signingKey = generateSandboxKey()

export const demoRequest: PackRequest = {
  mode: 'DEMO',
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: '29AAACR5678D1Z5',
  subcontractorGstin: '24AAFFS4321K1ZA',
  poValue: 1_250_000,
}

export const NOON = Date.parse('2026-11-21T06:30:00.000Z')

/** Returns a registration whose PAN ends in these two digits. */
function gstinEnding(prefix: string, digits: string): string {
  const first14 = `${prefix}${digits}C1Z`
  return first14 + (gstinCheckCharacter(first14) ?? '')
}

export const scenarioGstins = {
  buyerGstin: (digits: string) => gstinEnding('27AAACB12', digits),
  borrowerGstin: (digits: string) => gstinEnding('29AAACR56', digits),
  subcontractorGstin: (digits: string) => gstinEnding('24AAFCS43', digits),
}

/** Composes a sandbox pack as the worker does, without its database. */
export async function sandboxPack(
  changes: Partial<PackRequest> = {},
  options: { now?: number; packId?: string; compose?: Partial<ComposeInput> } = {},
) {
  const request = withDemoConsents({ ...demoRequest, ...changes })
  const clock = new VirtualClock(options.now ?? NOON)
  const registries = createSandboxRegistries(
    { seed: SANDBOX_SEED, request },
    { now: clock.now, random: () => 0.5, sleep: clock.sleep },
  )
  const startedAt = clock.now()
  const registryResults = await gatherRegistryResults({
    registries,
    request,
    env: 'SANDBOX',
    orgId: 'org-1',
    requestId: 'request-1',
    now: startedAt,
    signal: new AbortController().signal,
  })
  const composed = composePack({
    packId: options.packId ?? '6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33',
    generatedAt: new Date(clock.now()).toISOString(),
    env: 'SANDBOX',
    request,
    registryResults,
    registryFindings: withSandboxFindings({ status: 'ANSWERED', matches: [] }, request, demoFirstSeenMonth(startedAt)),
    eInvoiceTokens: request.eInvoices ?? demoInvoiceTokens(request, SANDBOX_SEED, signingKey, startedAt),
    invoiceKeys: [sandboxInvoiceKey(signingKey)],
    ...options.compose,
  })
  return { ...composed, registryResults, tookMs: clock.now() - startedAt }
}
