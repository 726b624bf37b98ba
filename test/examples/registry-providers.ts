import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { financialYear } from '#shared/risk/identifiers/financial-year.ts'
import { addDays, addMonths, indianDay, monthsFrom } from '#shared/risk/packs/money.ts'
import { type Sample, sampleOf } from './registry-gateway-samples.ts'

/** Settings that point a gateway at these providers. */
export interface Providers extends AsyncDisposable {
  env: Record<string, string>
  /** provider calls, as `METHOD path` */
  calls: string[]
}

const CONSENTS = ['5b7f0c1e-2a34-4c56-8d78-9e0f1a2b3c4d', '6c8a1d2f-3b45-4d67-9e89-0f1a2b3c4d5e']
const SUBJECTS = ['borrower', 'subcontractor'] as const
type Subject = (typeof SUBJECTS)[number]

/**
 * Serves the recorded answers of the providers over HTTP. Months and days are those of the real clock, since packs
 * need the periods that are due now.
 */
export async function openProviders(): Promise<Providers> {
  const calls: string[] = []
  const created: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    const url = new URL(request.url ?? '/', 'http://provider')
    calls.push(`${request.method} ${url.pathname}`)
    const answer = sandboxAnswer(url, body) ?? setuAnswer(request, url, body, created) ?? gleifAnswer(url)
    reply(response, answer ?? { status: 404, body: {} })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server on a TCP port has an address object.
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    calls,
    env: {
      GLEIF_URL: `${base}/gleif`,
      SANDBOX_URL: `${base}/sandbox`,
      SETU_URL: `${base}/setu`,
      SETU_LOGIN_URL: `${base}/login`,
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface ProviderAnswer {
  status: number
  body: unknown
}

function reply(response: ServerResponse, { status, body }: ProviderAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function bodyOf(sample: Sample, part: string): unknown {
  return sample.exchanges.find(({ request }) => request.url.includes(part))?.response.body
}

const searches = ['good', 'good-buyer', 'good-subcontractor'].map((name) => sampleOf('sandbox', name))

function sandboxAnswer(url: URL, body: { gstin?: string }): ProviderAnswer | undefined {
  if (url.pathname === '/sandbox/authenticate')
    return { status: 200, body: { code: 200, access_token: 'synthetic-token' } }
  if (url.pathname.endsWith('/gstin/search')) {
    const found = searches.find(({ request }) => request.path.endsWith(body.gstin ?? '-'))
    const none = { data: { error: { error_cd: 'FO8000' }, status_cd: '0' } }
    return { status: 200, body: found ? bodyOf(found, '/gstin/search') : none }
  }
  if (!url.pathname.endsWith('/gstrs/track')) return undefined
  const year = (url.searchParams.get('financial_year') ?? '').replace('FY ', '')
  const rtntype = (url.searchParams.get('gstr') ?? '').replace('-', '').toUpperCase()
  const EFiledlist = dueMonths()
    .filter((month) => financialYear(`${month}-01`) === year)
    .map((month) => ({ ret_prd: periodOf(month), rtntype, status: 'Filed', valid: 'Y' }))
  return { status: 200, body: { data: { data: { EFiledlist }, status_cd: '1' } } }
}

/** @param created ids of consents, each of which the customer approves at once */
function setuAnswer(
  request: IncomingMessage,
  url: URL,
  body: { consentId?: string },
  created: string[],
): ProviderAnswer | undefined {
  if (url.pathname === '/login') return { status: 200, body: { access_token: 'synthetic-setu-token' } }
  if (url.pathname === '/setu/consents') {
    const id = CONSENTS[created.length] ?? ''
    created.push(id)
    return { status: 201, body: { id, url: `https://fiu.setu.co/v2/consents/webview/${id}`, status: 'PENDING' } }
  }
  const consentId = /^\/setu\/consents\/([0-9a-f-]+)$/.exec(url.pathname)?.[1]
  if (consentId !== undefined) return { status: 200, body: consentState(consentId) }
  if (url.pathname === '/setu/sessions' && request.method === 'POST')
    return { status: 201, body: { id: body.consentId, status: 'PENDING' } }
  const session = /^\/setu\/sessions\/([0-9a-f-]+)$/.exec(url.pathname)?.[1]
  const subject = SUBJECTS[CONSENTS.indexOf(session ?? '')]
  return subject && { status: 200, body: delivery(session ?? '', subject) }
}

function consentState(id: string): object {
  const good = Object(bodyOf(sampleOf('setu', 'good'), '/consents/'))
  const expiry = new Date(Date.now() + 20 * 86_400_000).toISOString()
  return {
    ...good,
    id,
    detail: { ...good.detail, consentExpiry: expiry, fiTypes: ['DEPOSIT', 'GSTR1_3B'] },
  }
}

/** The bank account of sample good and the returns of one taxpayer, moved to the present. */
function delivery(id: string, subject: Subject): object {
  const deposit = sessionOf(sampleOf('setu', 'good'))
  const returns = sessionOf(sampleOf('setu', `trade-${subject}`))
  const yesterday = addDays(indianDay(Date.now()), -1)
  const months = monthsBetween('2026-11', yesterday.slice(0, 7))
  const moved = JSON.parse(
    JSON.stringify(deposit.fips).replaceAll(
      /"(20[0-9]{2}-[0-9]{2})-([0-9]{2})/g,
      (_, month: string, day: string) => `"${addMonths(month, months)}-${day}`,
    ),
  )
  const account = moved[0].accounts[0].data.account
  account.transactions.endDate = yesterday
  account.summary.balanceDateTime = `${yesterday}T20:00:00+05:30`
  return { ...deposit, id, fips: [...moved, ...Object(present(returns.fips))] }
}

// biome-ignore lint/suspicious/noExplicitAny: a recorded answer
function sessionOf(sample: Sample): any {
  return bodyOf(sample, '/sessions/')
}

/** Repeats the first period of both returns for each month that is due. */
function present(value: unknown): unknown {
  if (Array.isArray(value)) {
    const [first] = value
    const isPeriods = typeof first === 'object' && first !== null && ('retPrd' in first || 'ret_prd' in first)
    return isPeriods ? dueMonths().map((month) => inMonth(first, month)) : value.map(present)
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, present(member)]))
}

/** Moves a recorded period, which is November 2025, to another month. */
function inMonth(period: object, month: string): unknown {
  const [year = '', number = ''] = month.split('-')
  const text = JSON.stringify(period)
    .replaceAll('"112025"', `"${periodOf(month)}"`)
    .replaceAll(/-11-2025"/g, `-${number}-${year}"`)
    .replaceAll(/"((?:INV|SF)\/00[0-9])"/g, `"$1-${year}${number}"`)
  return JSON.parse(text)
}

function dueMonths(): string[] {
  const last = addMonths(indianDay(Date.now()), -1)
  return monthsFrom(addMonths(last, -15), 16)
}

function periodOf(month: string): string {
  return `${month.slice(5)}${month.slice(0, 4)}`
}

function monthsBetween(from: string, to: string): number {
  return (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) * 12 + Number(to.slice(5)) - Number(from.slice(5))
}

function gleifAnswer(url: URL): ProviderAnswer | undefined {
  const good = sampleOf('gleif', 'good')
  return url.pathname === `/gleif${good.request.path}` ? { status: 200, body: bodyOf(good, '/lei-records') } : undefined
}
