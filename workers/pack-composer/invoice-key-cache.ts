import type { InvoiceKey } from '#shared/risk/packs/signals/invoice-keys.ts'

interface Loaded {
  keys: InvoiceKey[]
  /** private key of the sandbox's demo invoices */
  sandboxPem: string
  loadedAt: number
}

/** A portal's key that the operator adds is used within this time. */
const MAX_AGE_MS = 30_000

/** The e-invoice keys of this installation, read at most every 30 s. */
export function createInvoiceKeyCache(load: { list: () => Promise<InvoiceKey[]>; sandboxKey: () => Promise<string> }): {
  get(): Promise<Loaded>
} {
  let loading: Promise<Loaded> | null = null
  return {
    async get() {
      const known = await loading
      if (known && Date.now() - known.loadedAt < MAX_AGE_MS) return known
      const attempt = (async () => {
        const sandboxPem = known?.sandboxPem ?? (await load.sandboxKey())
        return { sandboxPem, keys: await load.list(), loadedAt: Date.now() }
      })()
      loading = attempt
      try {
        return await attempt
      } catch (error) {
        loading = known ? Promise.resolve(known) : null
        throw error
      }
    },
  }
}
