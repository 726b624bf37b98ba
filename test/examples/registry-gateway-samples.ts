import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HttpRequest } from '#shared/risk/registries/connector.ts'
import type { Answer } from '../../examples/registry-gateway/adapter.ts'
import type { AnswerLine, CallLine } from '../../examples/registry-gateway/calls.ts'
import { type Composition, composeGateway } from '../../examples/registry-gateway/compose.ts'
import { loadSettings, type Settings } from '../../examples/registry-gateway/settings.ts'
import { memoryStore, type Store } from '../../examples/registry-gateway/store.ts'
import { root } from '../support/imports.ts'

const folder = join(root, 'test/vectors/registry-gateway')

export interface Exchange {
  request: { method: string; url: string; headers?: Record<string, string>; body?: unknown }
  response: { status: number; headers: Record<string, string>; body?: unknown; bodyText?: string }
}

export interface Sample {
  provider: string
  case: string
  operation: string
  now: string
  companyNumbers?: Record<string, string>
  consent?: {
    handle: string
    members: { pan: string; gstins: string[]; consentId: string }[]
    expiresAt?: string
  }
  files?: Record<string, string>
  request: {
    method: string
    path: string
    query: Record<string, string>
    headers: Record<string, string>
    command?: string
  }
  exchanges: Exchange[]
  expect: {
    status: number
    body?: { code?: string; data?: unknown }
    bodyText?: string
    headers?: Record<string, string>
    exit?: number
    keys?: object[]
    commands?: string[]
    message?: string
  }
}

export function samplesOf(provider: string): Sample[] {
  return readdirSync(join(folder, provider))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, provider, file), 'utf8')))
}

export function sampleOf(provider: string, name: string): Sample {
  return JSON.parse(readFileSync(join(folder, provider, `${name}.json`), 'utf8'))
}

/** Derived key of the hashes in the samples. */
const SAMPLE_HASH_KEY = Buffer.from('synthetic-gateway-key-of-32-byte')

const SECRETS = {
  GATEWAY_TOKEN: 'token-of-the-product-0123456789abcdef',
  GATEWAY_ADMIN_TOKEN: 'token-of-the-lender-0123456789abcdef',
  GATEWAY_KEY: Buffer.alloc(32, 7).toString('base64'),
  SANDBOX_API_KEY: 'key_live_synthetic',
  SANDBOX_API_SECRET: 'secret_live_synthetic',
  SETU_CLIENT_ID: 'client-synthetic',
  SETU_SECRET: 'setu-secret-synthetic',
  SETU_PRODUCT_INSTANCE: 'instance-synthetic',
  COMPANIES_HOUSE_KEY: 'companies-house-synthetic',
}
const REASON = 'registers of a purchase-order lender'

/** Settings with every adapter; the addresses are those of the samples unless `more` names others. */
export const sampleEnv = {
  ...SECRETS,
  GLEIF_URL: 'https://api.gleif.org/api/v1',
  GATEWAY_LEI_PATH: '0123456789abcdef0123456789abcdef',
  SETU_PURPOSE_CODE: '105',
}

function sampleSettings(sample: Pick<Sample, 'companyNumbers'>): Settings {
  const settings = loadSettings(sampleEnv)
  if (!sample.companyNumbers) return settings
  return { ...settings, SANDBOX_MCA_REASON: REASON, companyNumbers: new Map(Object.entries(sample.companyNumbers)) }
}

/** Replaces `<NAME>` of a recorded request with the setting that it names. */
function withSettings(text: string): string {
  const basic = Buffer.from(`${SECRETS.COMPANIES_HOUSE_KEY}:`).toString('base64')
  const values: Record<string, string> = { ...SECRETS, SANDBOX_MCA_REASON: REASON }
  return text
    .replace('<base64 of COMPANIES_HOUSE_KEY and a colon>', basic)
    .replaceAll(/<([A-Z_]+)>/g, (whole, name: string) => values[name] ?? whole)
}

export function bytesOf({ body, bodyText }: Exchange['response']): Buffer {
  return Buffer.from(bodyText ?? JSON.stringify(body))
}

/** Answers the recorded requests in their order, and collects differences from them. */
export function recordedHttp(exchanges: readonly Exchange[], differences: string[]): HttpRequest {
  let next = 0
  return async (request) => {
    const exchange = exchanges[next++]
    if (!exchange) throw new Error(`call ${next} is not recorded: ${request.method} ${request.url}`)
    const { request: expected, response } = exchange
    const hasBody = expected.body !== undefined
    const wanted = `${expected.method} ${expected.url} ${hasBody ? withSettings(JSON.stringify(expected.body)) : ''}`
    const made = `${request.method} ${request.url} ${hasBody ? request.body : ''}`
    if (made !== wanted) differences.push(`${made}\n  instead of ${wanted}`)
    for (const [name, value] of Object.entries(expected.headers ?? {})) {
      if (request.headers[name] !== withSettings(value)) differences.push(`header ${name} of ${request.url}`)
    }
    if ('x-accept-cache' in request.headers) differences.push('x-accept-cache is sent')
    return { status: response.status, headers: response.headers, body: bytesOf(response) }
  }
}

/** SHA-256 of the provider answers that an envelope rests on: all but access tokens and refused calls. */
export function evidenceOf(sample: Sample): string[] {
  return sample.exchanges
    .filter(({ request, response }) => !/\/(authenticate|login)$/.test(request.url) && response.status !== 403)
    .map(({ response }) => createHash('sha256').update(bytesOf(response)).digest('hex'))
}

/** A gateway in front of the recorded answers of a sample, with its clock. */
export function replayed(
  sample: Sample,
  store: Store = memoryStore(),
  report: (line: CallLine) => void = () => {},
  answered: (line: AnswerLine) => void = () => {},
) {
  const differences: string[] = []
  const faults: unknown[] = []
  const clock = { nowMs: Date.parse(sample.now) }
  const http = recordedHttp(sample.exchanges, differences)
  const deps = { http, now: () => clock.nowMs, sleep: async () => {}, report }
  const options = { store, hashKey: SAMPLE_HASH_KEY, answered, fault: (error: unknown) => void faults.push(error) }
  const composition = composeGateway(sampleSettings(sample), deps, options)
  if (sample.consent) adoptConsent(composition, sample.consent, clock.nowMs)
  return { composition, differences, faults, clock }
}

function adoptConsent({ consented }: Composition, consent: NonNullable<Sample['consent']>, nowMs: number): void {
  const { handle, members, expiresAt = null } = consent
  consented?.consents.adopt(
    handle,
    members.map((member) => ({ ...member, organisation: null, nowMs })),
  )
  for (const one of consented?.consents.all() ?? []) one.record.expiresAt = expiresAt
}

/** Sends the request of a sample. */
export async function answerTo(sample: Sample, { gateway }: Composition, requestId = 'pack-1'): Promise<Answer> {
  const { method, path, query, headers } = sample.request
  const request = { method, path, query, handle: headers['x-consent-handle'] ?? null, organisation: null }
  return await gateway.answer(request, requestId, '')
}
