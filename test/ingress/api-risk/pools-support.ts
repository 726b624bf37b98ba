import { verifyCommand } from '#shared/transparency/anchoring/verify-cli.ts'
import { type ApiClient, send } from '../../support/platform-client.ts'

let requests = 0

/** Requests of a holder of a consumer key, below `/v1/securitisation`. */
export function consumerOf(base: string, { credentials }: Pick<ApiClient, 'credentials'>) {
  const key = { 'x-api-key': String(credentials.apiKey) }
  const url = (path: string) => `${base}/v1/securitisation${path}`
  return {
    get: (path: string, headers: Record<string, string> = {}) => send(url(path), { headers: { ...key, ...headers } }),
    post: (path: string, body: object | string, headers: Record<string, string> = {}) =>
      send(url(path), {
        method: 'POST',
        headers: { ...key, 'content-type': 'application/json', 'x-idempotency-key': `k${requests++}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    bytes: async (path: string) => {
      const response = await fetch(url(path), { headers: key })
      return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
    },
  }
}

let documents = 0

/** A new receivable of a pool. */
export const item = (receivableId: string, change: object = {}) => ({
  receivableId,
  supplierGstin: '29AAACR5678D1Z5',
  buyerGstin: '27AAACB1234C1ZF',
  documentNumber: `P/${documents++}`,
  documentType: 'INV',
  documentDate: '2026-05-01',
  amountInr: 118_000,
  dueDate: '2026-08-01',
  ...change,
})

export const items = (count: number, prefix = 'R') => Array.from({ length: count }, (_, n) => item(`${prefix}-${n}`))

/** Runs the offline verifier. */
export const verify = (...args: string[]) => verifyCommand(args)
