import { type ApiClient, openClient, type Reply, send } from '../../support/platform-client.ts'
import type { Product } from '../../support/product.ts'

/** A client that also changes and deletes, and whose POST may have no body. */
export interface WebhooksClient extends Omit<ApiClient, 'post'> {
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  patch(path: string, body: unknown): Promise<Reply>
  delete(path: string): Promise<Reply>
}

export async function openWebhooksClient(
  product: Product,
  base: string,
  options: Parameters<typeof openClient>[2] = {},
): Promise<WebhooksClient> {
  const client = await openClient(product, base, options)
  const authorization = `Bearer ${client.token}`
  return {
    ...client,
    patch: (path, body) =>
      send(`${base}${path}`, {
        method: 'PATCH',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    delete: (path) => send(`${base}${path}`, { method: 'DELETE', headers: { authorization } }),
  }
}
