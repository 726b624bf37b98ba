import { LRUCache } from 'lru-cache'
import type { PackRequest } from '#shared/risk/packs/request.ts'
import { demoInvoiceTokens } from '#shared/risk/registries/sandbox/demo-invoices.ts'
import { SANDBOX_SEED } from '#shared/risk/registries/sandbox/registries.ts'

/** The sandbox's demo e-invoices of a request. RSA signatures are dear and these do not change within a day. */
export function createDemoTokens(): (request: PackRequest, privateKeyPem: string, nowMs: number) => string[] {
  const cache = new LRUCache<string, string[]>({ max: 5_000 })
  return (request, privateKeyPem, nowMs) => {
    const day = Math.floor(nowMs / 86_400_000)
    const key = [day, request.buyerGstin, request.borrowerGstin, request.subcontractorGstin].join('/')
    const known = cache.get(key)
    if (known) return known
    const tokens = demoInvoiceTokens(request, SANDBOX_SEED, privateKeyPem, nowMs)
    cache.set(key, tokens)
    return tokens
  }
}
