import { randomUUID } from 'node:crypto'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Adapter } from './adapter.ts'
import { createCompaniesHouse } from './adapters/companies-house.ts'
import { GleifAdapter } from './adapters/gleif.ts'
import { SandboxAdapter, type Taxpayers } from './adapters/sandbox.ts'
import { createSetuClient, type SetuClient } from './adapters/setu.ts'
import { SetuAdapter } from './adapters/setu-answers.ts'
import type { AnswerLine, CallDeps, Work } from './calls.ts'
import { type ConsentApi, createConsentApi } from './consent-api.ts'
import { type ConsentData, ConsentPoller } from './consent-data.ts'
import { type Consents, openConsents } from './consents.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { type KeyHealth, keyHealth } from './keys.ts'
import { type Settings, testSettings } from './settings.ts'
import { derivedKey, type Store } from './store.ts'

export interface Composition {
  gateway: Gateway
  adapters: readonly Adapter[]
  /** undefined without the account aggregator */
  consented: { consents: Consents; data: ConsentData; api: ConsentApi; tick: () => Promise<void> } | undefined
  metrics: Metrics
  /** days left of the certificates of each e-invoice portal; empty without INVOICE_KEYS */
  keys: (nowMs: number) => Record<string, KeyHealth>
}

export interface ComposeOptions {
  store: Store
  hashKey?: Buffer
  /** reports a fault of this program */
  fault?: (error: unknown) => void
  /** receives one line per answer, without personal data */
  answered?: (line: AnswerLine) => void
}

/** Creates the adapters that are configured, and the gateway in front of them. */
export function composeGateway(
  settings: Settings,
  deps: CallDeps,
  {
    store,
    hashKey = derivedKey(settings.GATEWAY_KEY, 'hashes'),
    fault = () => {},
    answered = () => {},
  }: ComposeOptions,
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
  const setu = openSetu(settings, store, { hashKey, taxpayers: sandbox, ended: () => gateway.forgetConsented() })
  if (setu) adapters.push(setu.adapter)
  const count = (operation: string, code: string) => metrics.answers.inc({ operation, code })
  const gateway = createGateway({ adapters, deps: observed, count, fault, answered, tests: testAdapters(settings) })
  const consented = setu && createConsentParts(setu, gateway, settings, observed)
  const { INVOICE_KEYS: folder } = settings
  const keys = (nowMs: number) => (folder === undefined ? {} : keyHealth(folder, nowMs))
  return { gateway, adapters, consented, metrics, keys }
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
  { hashKey, taxpayers, ended }: { hashKey: Buffer; taxpayers: Taxpayers | undefined; ended: () => void },
): OpenSetu | undefined {
  const { SETU_CLIENT_ID: clientId, SETU_SECRET: secret, SETU_PRODUCT_INSTANCE: productInstance } = settings
  const { SETU_PURPOSE_CODE: purposeCode, SETU_URL: url, SETU_LOGIN_URL: loginUrl } = settings
  const dataLifeDays = settings.SETU_DATA_LIFE_DAYS
  if (!clientId || !secret || !productInstance || !purposeCode) return undefined
  const client = createSetuClient({ url, loginUrl, clientId, secret, productInstance, purposeCode, dataLifeDays })
  const consents = openConsents(store)
  const data = new ConsentPoller(client, consents, { hashKey, dataLifeDays, ended })
  return { client, consents, data, adapter: new SetuAdapter({ client, consents, data, taxpayers, hashKey }) }
}

const STEP_MS = 6500

function createConsentParts(setu: OpenSetu, gateway: Gateway, settings: Settings, deps: CallDeps) {
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
    forget: () => gateway.forgetConsented(),
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
  keys: Gauge<'issuer'>
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
    keys: new Gauge({
      name: 'gateway_key_days',
      help: 'Days until the last certificate of an e-invoice portal ends',
      labelNames: ['issuer'],
      registers,
    }),
  }
}

/** Returns the state of each adapter, known or not configured. No provider is called. */
export function healthOf({ adapters, gateway, consented, keys }: Composition, nowMs: number): object {
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
  return { adapters: states, consents: consented?.api.states() ?? {}, keys: keys(nowMs) }
}
