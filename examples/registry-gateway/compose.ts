import { randomUUID } from 'node:crypto'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { HttpClientError } from '#shared/platform/http/http-error.ts'
import { type HttpRequest, NoAnswerError } from '#shared/risk/registries/connector.ts'
import type { Adapter } from './adapter.ts'
import { createCompaniesHouse } from './adapters/companies-house.ts'
import { GleifAdapter } from './adapters/gleif.ts'
import { SandboxAdapter, type Taxpayers } from './adapters/sandbox.ts'
import { createSetuClient, type SetuClient } from './adapters/setu.ts'
import { SetuAdapter } from './adapters/setu-answers.ts'
import type { CallDeps, Work } from './calls.ts'
import { type ConsentApi, createConsentApi } from './consent-api.ts'
import { type ConsentData, ConsentFollower } from './consent-data.ts'
import { type Consents, openConsents } from './consents.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { unparseable } from './rules.ts'
import { type Settings, testSettings } from './settings.ts'
import { derivedKey, type Store } from './store.ts'

const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** Opens the HTTP client for providers: no redirects, no plain http except loopback, at most 8 MiB. */
export function openProviderHttp(): { http: HttpRequest } & AsyncDisposable {
  const client = createHttpClient({
    policy: { allowPrivate: ['127.0.0.0/8', '::1/128'], plainHttp: 'allowed-networks' },
    userAgent: 'signalbox-registry-gateway',
    maxBodyBytes: MAX_ANSWER_BYTES,
  })
  const http: HttpRequest = async (request) => {
    const answer = await client.request(request).catch((error: unknown) => {
      const isTimeout = error instanceof HttpClientError && ['timeout', 'aborted'].includes(error.failure)
      throw new NoAnswerError(isTimeout ? 'timeout' : 'connection', { cause: error })
    })
    if (answer.truncated) throw unparseable()
    return { status: answer.status, headers: answer.headers, body: answer.body }
  }
  return { http, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() }
}

export interface Composition {
  gateway: Gateway
  adapters: readonly Adapter[]
  /** undefined without the account aggregator */
  consented: { consents: Consents; data: ConsentData; api: ConsentApi; tick: () => Promise<void> } | undefined
  metrics: Metrics
}

export interface ComposeOptions {
  store: Store
  hashKey?: Buffer
  /** reports a fault of this program */
  fault?: (error: unknown) => void
}

/** Creates the adapters that are configured, and the gateway in front of them. */
export function composeGateway(
  settings: Settings,
  deps: CallDeps,
  { store, hashKey = derivedKey(settings.GATEWAY_KEY, 'hashes'), fault = () => {} }: ComposeOptions,
): Composition {
  const metrics = createMetrics()
  const adapters: Adapter[] = []
  const observed: CallDeps = {
    ...deps,
    report(line) {
      metrics.upstream.observe({ adapter: line.adapter, outcome: line.code }, line.ms / 1000)
      deps.report(line)
    },
  }
  if (settings.GLEIF_URL) adapters.push(new GleifAdapter({ url: settings.GLEIF_URL }))
  const sandbox = openSandbox(settings, hashKey)
  if (sandbox) adapters.push(sandbox)
  if (settings.COMPANIES_HOUSE_KEY) {
    const { COMPANIES_HOUSE_URL: url, COMPANIES_HOUSE_KEY: key } = settings
    adapters.push(createCompaniesHouse({ url, key }, hashKey))
  }
  const setu = openSetu(settings, store, hashKey, sandbox)
  if (setu) adapters.push(setu.adapter)
  const count = (operation: string, code: string) => metrics.answers.inc({ operation, code })
  const gateway = createGateway({ adapters, deps: observed, count, fault, tests: testAdapters(settings) })
  const consented = setu && followConsents(setu, gateway, settings, observed)
  return { gateway, adapters, consented, metrics }
}

function testAdapters(settings: Settings): ReadonlySet<string> {
  return new Set(testSettings(settings).map((name) => (name.startsWith('SETU') ? 'setu' : 'sandbox')))
}

interface OpenSetu {
  client: SetuClient
  consents: Consents
  data: ConsentData
  adapter: Adapter
}

function openSetu(
  settings: Settings,
  store: Store,
  hashKey: Buffer,
  taxpayers: Taxpayers | undefined,
): OpenSetu | undefined {
  const { SETU_CLIENT_ID: clientId, SETU_SECRET: secret, SETU_PRODUCT_INSTANCE: productInstance } = settings
  const { SETU_PURPOSE_CODE: purposeCode, SETU_URL: url, SETU_LOGIN_URL: loginUrl } = settings
  const dataLifeDays = settings.SETU_DATA_LIFE_DAYS
  if (!clientId || !secret || !productInstance || !purposeCode) return undefined
  const client = createSetuClient({ url, loginUrl, clientId, secret, productInstance, purposeCode, dataLifeDays })
  const consents = openConsents(store)
  const data = new ConsentFollower(client, consents, { hashKey, dataLifeDays })
  return { client, consents, data, adapter: new SetuAdapter({ client, consents, data, taxpayers, hashKey }) }
}

const STEP_MS = 6500

function followConsents(setu: OpenSetu, gateway: Gateway, settings: Settings, deps: CallDeps) {
  const { client, consents, data } = setu
  const work = (operation: string): Work => ({
    deps,
    operation,
    requestId: randomUUID(),
    deadline: deps.now() + STEP_MS,
    upstream: [],
  })
  const notifySecret = notifySecretOf(settings)
  const api = createConsentApi({
    client,
    consents,
    data,
    notifySecret,
    work,
    forget: (handle) => gateway.forget(handle),
  })
  return { consents, data, api, tick: () => data.tick(() => work('/consents')) }
}

/** Returns the last part of the address that the aggregator notifies: GATEWAY_PUBLIC_URL/notify/{secret}. */
export function notifySecretOf(settings: Settings): string {
  return derivedKey(settings.GATEWAY_KEY, 'notifications').toString('hex')
}

function openSandbox(settings: Settings, hashKey: Buffer) {
  const { SANDBOX_API_KEY: key, SANDBOX_API_SECRET: secret, SANDBOX_URL: url } = settings
  if (key === undefined || secret === undefined) return undefined
  const { SANDBOX_MCA_REASON: mcaReason, companyNumbers } = settings
  return new SandboxAdapter({ url, key, secret, mcaReason, companyNumbers }, hashKey)
}

interface Metrics {
  registry: Registry
  upstream: Histogram<'adapter' | 'outcome'>
  answers: Counter<'operation' | 'code'>
  consents: Gauge<'state'>
}

function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    upstream: new Histogram({
      name: 'gateway_upstream_seconds',
      help: 'Duration of provider calls',
      labelNames: ['adapter', 'outcome'],
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    answers: new Counter({
      name: 'gateway_answers_total',
      help: 'Answers by operation and code',
      labelNames: ['operation', 'code'],
      registers,
    }),
    consents: new Gauge({
      name: 'gateway_consents',
      help: 'Consents by state',
      labelNames: ['state'],
      registers,
    }),
  }
}

/** Returns the state of each adapter, known or not configured. No provider is called. */
export function healthOf({ adapters, gateway, consented }: Composition, nowMs: number): object {
  const names = ['gleif', 'sandbox', 'setu', 'companies-house']
  const states = Object.fromEntries(
    names.map((name) => {
      const adapter = adapters.find((one) => one.name === name)
      const state = gateway.states.get(name)
      if (!adapter || !state) return [name, { configured: false }]
      const { lastOkAt, lastFailure, recent } = state
      const isFailing = recent.length === 5 && !recent.includes(true)
      return [name, { configured: true, lastOkAt, lastFailure, isFailing, ...adapter.health(nowMs) }]
    }),
  )
  return { adapters: states, consents: consented?.api.states() ?? {} }
}
