import { z } from 'zod'
import type { IncomingResponse } from '#shared/risk/registries/connector.ts'
import { callProvider, createAccessToken, createLimits, type Provider, type Upstream, type Work } from '../calls.ts'
import {
  consentExpired,
  consentRevoked,
  filled,
  incomplete,
  instantOf,
  limited,
  listOf,
  noConsent,
  notEntitled,
  parsed,
  parseJson,
  type Refusal,
  upstreamFailed,
} from '../rules.ts'

export interface SetuSettings {
  url: string
  loginUrl: string
  clientId: string
  secret: string
  productInstance: string
  purposeCode: string
  dataLifeDays: number
}

const TOKEN_LIFE_MS = 25 * 60_000
const CONFIRM_MS = 2500
const MONTHS_BACK = 16
/** A notification names this error if the frequency of the consent is exceeded; a consent is fetched at most hourly. */
const FREQUENCY_SECONDS = 3600

const CONSENT_STATUSES = ['PENDING', 'ACTIVE', 'REJECTED', 'FAILED', 'REVOKED', 'PAUSED', 'EXPIRED'] as const

const range = z.object({ from: z.string(), to: z.string() })
const consent = z.object({
  id: filled,
  status: z.string().toUpperCase().pipe(z.enum(CONSENT_STATUSES)),
  detail: z.object({
    consentExpiry: z.string().nullish(),
    consentTypes: listOf(z.string()),
    fiTypes: listOf(z.string()),
    purpose: z.object({ code: z.coerce.string() }).nullish(),
    dataRange: range.nullish(),
  }),
})
const created = z.object({ id: filled, url: z.url(), status: z.string() })
const session = z.object({ id: filled, status: z.string().toUpperCase() })
const problem = z.object({ errorCode: z.string().default(''), errorMsg: z.string().default('') })

interface ConsentState {
  status: (typeof CONSENT_STATUSES)[number]
  consentTypes: string[]
  fiTypes: string[]
  purposeCode: string | null
  expiresAt: string | null
  dataRange: { from: string; to: string } | null
  evidence: Upstream
}

export interface SetuClient {
  create(input: NewSetuConsent, work: Work): Promise<{ id: string; url: string }>
  read(consentId: string, work: Work): Promise<ConsentState>
  revoke(consentId: string, work: Work): Promise<void>
  startSession(consentId: string, dataRange: { from: string; to: string }, work: Work): Promise<string>
  session(id: string, work: Work): Promise<{ status: string; body: unknown; evidence: Upstream }>
  health(nowMs: number): { placesLeft: number; tokenUntil: string | null }
}

interface NewSetuConsent {
  mobile: string
  fiTypes: readonly string[]
  redirectUrl: string
}

/** Calls the account-aggregator gateway. No method retries. @throws Refusal */
export function createSetuClient(settings: SetuSettings): SetuClient {
  const provider: Provider = { adapter: 'setu', limits: createLimits(60), retryAfterSeconds: 60 }
  const base = settings.url.replace(/\/$/, '')
  const accessToken = createAccessToken(login, { lifeMs: TOKEN_LIFE_MS, renewOn: [401] })

  async function login(work: Work): Promise<string> {
    const body = { clientID: settings.clientId, grant_type: 'client_credentials', secret: settings.secret }
    const response = await callProvider(provider, work, {
      method: 'POST',
      url: settings.loginUrl,
      headers: { client: 'bridge', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      isEvidence: false,
    })
    if (response.status === 401 || response.status === 403) throw notEntitled()
    if (response.status >= 300) throw incomplete()
    return parsed(z.object({ access_token: filled }), parseJson(response.body)).access_token
  }

  async function call(
    work: Work,
    method: 'GET' | 'POST',
    path: string,
    { body, timeoutMs }: { body?: object; timeoutMs?: number } = {},
  ): Promise<IncomingResponse> {
    const response = await accessToken.use(work, (token) =>
      callProvider(provider, work, {
        method,
        url: `${base}${path}`,
        headers: {
          authorization: `Bearer ${token}`,
          'x-product-instance-id': settings.productInstance,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      }),
    )
    if (response.status >= 400) throw refusalOf(response)
    return response
  }

  function lastEvidence(work: Work): Upstream {
    const last = work.upstream.at(-1)
    if (!last) throw new Error('a provider call left no evidence')
    return last
  }

  return {
    async create({ mobile, fiTypes, redirectUrl }, work) {
      const response = await call(work, 'POST', '/consents', {
        body: newConsent(settings, { mobile, fiTypes, redirectUrl }, work.deps.now()),
      })
      return parsed(created, parseJson(response.body))
    },
    async read(consentId, work) {
      const path = `/consents/${encodeURIComponent(consentId)}?expanded=true`
      const response = await call(work, 'GET', path, { timeoutMs: CONFIRM_MS })
      const { id, status, detail } = parsed(consent, parseJson(response.body))
      if (id !== consentId) throw incomplete()
      return {
        status,
        consentTypes: detail.consentTypes,
        fiTypes: detail.fiTypes,
        purposeCode: detail.purpose?.code ?? null,
        expiresAt: detail.consentExpiry ? instantOf(detail.consentExpiry) : null,
        dataRange: detail.dataRange ?? null,
        evidence: lastEvidence(work),
      }
    },
    async revoke(consentId, work) {
      await call(work, 'POST', `/consents/${encodeURIComponent(consentId)}/revoke`, { body: {} })
    },
    async startSession(consentId, dataRange, work) {
      const response = await call(work, 'POST', '/sessions', { body: { consentId, dataRange, format: 'json' } })
      return parsed(session, parseJson(response.body)).id
    },
    async session(id, work) {
      const response = await call(work, 'GET', `/sessions/${encodeURIComponent(id)}`)
      const body = parseJson(response.body)
      return { status: parsed(session, body).status, body, evidence: lastEvidence(work) }
    },
    health(nowMs) {
      const until = accessToken.until()
      return {
        placesLeft: provider.limits.placesLeft(nowMs),
        tokenUntil: until === null ? null : new Date(until).toISOString(),
      }
    },
  }
}

function refusalOf(response: IncomingResponse): Refusal {
  if (response.status === 403) return notEntitled()
  if (response.status === 404) return noConsent()
  const { errorCode, errorMsg } = problemOf(response)
  if (errorCode === 'InvalidConsentUse') return limited(FREQUENCY_SECONDS)
  if (errorCode === 'InvalidConsentStatus' || /consent has expired/i.test(errorMsg)) return consentExpired()
  if (errorCode === 'ConsentRevoked') return consentRevoked()
  if (['SessionExpired', 'DataFetchFailure', 'UpstreamServerDown'].includes(errorCode)) return upstreamFailed()
  return incomplete()
}

function problemOf(response: IncomingResponse): z.output<typeof problem> {
  try {
    return problem.parse(JSON.parse(response.body.toString('utf8')))
  } catch {
    return { errorCode: '', errorMsg: '' }
  }
}

function newConsent(settings: SetuSettings, { mobile, fiTypes, redirectUrl }: NewSetuConsent, nowMs: number): object {
  const now = new Date(nowMs)
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS_BACK, 1))
  return {
    vua: `${mobile}@setu`,
    consentDuration: { unit: 'DAY', value: 30 },
    fetchType: 'ONETIME',
    consentMode: 'STORE',
    consentTypes: ['PROFILE', 'SUMMARY', 'TRANSACTIONS'],
    fiTypes,
    dataRange: { from: from.toISOString(), to: now.toISOString() },
    dataLife: { unit: 'DAY', value: settings.dataLifeDays },
    frequency: { unit: 'DAY', value: 1 },
    purpose: {
      code: settings.purposeCode,
      text: 'loan',
      category: { type: 'string' },
      refUri: `https://api.rebit.org.in/aa/purpose/${settings.purposeCode}.xml`,
    },
    redirectUrl,
    context: [],
  }
}
