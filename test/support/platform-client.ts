import { randomUUID } from 'node:crypto'
import type { ApiEnv } from '#shared/environment.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { CLIENT_SCOPES, type ClientScope, FAMILIES, type Family } from '#shared/tenancy/oauth/families.ts'
import { type CreatedClient, createClient } from '../../ingress/admin/create-client.ts'
import type { Product } from './product.ts'

/** The demo parties, which have no negative signal. */
export const demoTriple = {
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: '29AAACR5678D1Z5',
  subcontractorGstin: '24AAFFS4321K1ZA',
}

export const demoRequest = { mode: 'DEMO', ...demoTriple, poValue: 1_250_000 }

export interface Reply {
  status: number
  headers: Headers
  text: string
  // Any JSON of the server: tests assert the parts that they expect.
  // biome-ignore lint/suspicious/noExplicitAny: the body under test
  json: any
}

/** Waits for queued answers as long as the API allows. Tests request the interim answer with a Prefer header. */
const PATIENT = { prefer: 'wait=25' }

/** An API client with a token, speaking plain HTTP. */
export interface ApiClient {
  credentials: CreatedClient
  token: string
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>
}

export async function send(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parseOrNull(text) }
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export async function makeCredentials(
  product: Product,
  options: { name?: string; env?: ApiEnv; families?: readonly Family[]; scopes?: readonly ClientScope[] } = {},
): Promise<CreatedClient> {
  return await createClient(product.db, createSecrets(product.config.secretKey), {
    name: options.name ?? `Org ${randomUUID()}`,
    env: options.env ?? 'SANDBOX',
    families: options.families ?? FAMILIES,
    scopes: options.scopes ?? CLIENT_SCOPES,
    hasApiKey: true,
    hasLmsSecret: true,
  })
}

export async function requestToken(
  base: string,
  form: Record<string, string> | string,
  headers: Record<string, string> = {},
) {
  return await send(`${base}/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form), headers })
}

export async function openClient(
  product: Product,
  base: string,
  options: Parameters<typeof makeCredentials>[1] = {},
): Promise<ApiClient> {
  const credentials = await makeCredentials(product, options)
  const answer = await requestToken(base, {
    grant_type: 'client_credentials',
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
  })
  return clientWith(base, answer.json.access_token, credentials)
}

export function clientWith(base: string, token: string, credentials: CreatedClient): ApiClient {
  const authorization = `Bearer ${token}`
  return {
    credentials,
    token,
    get: (path, headers = {}) => send(`${base}${path}`, { headers: { authorization, ...PATIENT, ...headers } }),
    post: (path, body, headers = {}) =>
      send(`${base}${path}`, {
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/json',
          'x-idempotency-key': randomUUID(),
          ...PATIENT,
          ...headers,
        },
        body: typeof body === 'string' ? body : Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      }),
  }
}
