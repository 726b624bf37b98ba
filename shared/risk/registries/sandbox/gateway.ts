import { panOfGstin } from '../../identifiers/gstin.ts'
import {
  type HttpRequest,
  type IncomingResponse,
  type MissingReason,
  NoAnswerError,
  type OutgoingRequest,
  type RegistryDeps,
} from '../connector.ts'
import { PersonSearchBody } from '../http/companies.ts'
import { SecuritySearchBody } from '../http/security-interests.ts'
import {
  accountsAnswer,
  companyAnswer,
  invoiceActionAnswer,
  personAnswer,
  providentFundAnswer,
  type SandboxWorld,
  securityAnswer,
  suppliesAnswer,
  taxpayerAnswer,
  tradeAnswer,
} from './answers.ts'
import { foreignTradeAnswer, isForeignTrade } from './foreign-trade.ts'
import { leiAnswer, registryCompanyAnswer } from './lei.ts'
import { scenarioOfPan } from './scenarios.ts'

// Reserved by RFC 2606, so a request could not reach any server.
export const SANDBOX_URL = 'https://registries.invalid'

/** Longer than the synchronous wait of the API, shorter than the timeout of the tax returns. */
const SLOW_ANSWER_MS = 12_000

interface GatewayQuery {
  pans: string[]
  isConsentBound: boolean
  isTradeReturn: boolean
  /** undefined without a record */
  answer: () => object | undefined
}

/** In the process, so that the production connectors run without sockets. */
export function createSandboxGateway(
  world: Omit<SandboxWorld, 'nowMs'>,
  deps: Pick<RegistryDeps, 'now' | 'sleep'>,
): HttpRequest {
  return async (request) => {
    const nowMs = deps.now()
    const url = new URL(request.url)
    if (url.pathname.startsWith('/lei-records')) return leiResponse(world, url, nowMs)
    const query = readQuery({ ...world, nowMs }, url, request.body)
    const scenarios = query.pans.map(scenarioOfPan)
    if (scenarios.includes('TIMEOUT')) throw new NoAnswerError('timeout')
    const isSlowed =
      query.isTradeReturn ||
      isForeignTrade(url) ||
      (world.business !== undefined && url.pathname.startsWith('/taxpayers/'))
    if (scenarios.includes('SLOW') && isSlowed) await deps.sleep(SLOW_ANSWER_MS, request.signal)
    if (request.signal.aborted) throw new NoAnswerError('timeout')
    if (scenarios.includes('MALFORMED_ANSWER')) return respond(200, '{"asOf": null, "data": {')
    // Outside a pack every value of the party is missing, also of a register that needs no consent.
    const isRefused = query.isConsentBound || world.request === undefined
    if (scenarios.includes('CONSENT_REVOKED') && isRefused) return problem(403, 'CONSENT_REVOKED')
    const data = query.answer()
    if (!data) return problem(404, 'NOT_FOUND')
    const asOf = new Date(nowMs).toISOString()
    return respond(200, JSON.stringify({ asOf, consent: consentOf(request), data }))
  }
}

/** Scenario 43 has no record. */
function leiResponse(world: Omit<SandboxWorld, 'nowMs'>, url: URL, nowMs: number): IncomingResponse {
  const scenario = world.business?.pan === undefined ? undefined : scenarioOfPan(world.business.pan)
  if (scenario === 'NO_LEI') return problem(404, 'NOT_FOUND')
  return respond(200, JSON.stringify(leiAnswer(world.seed, url, nowMs, world.business, scenario === 'LEI_LAPSED')))
}

function readQuery(world: SandboxWorld, url: URL, body = ''): GatewayQuery {
  const parameter = (name: string) => url.searchParams.get(name) ?? ''
  const queryOf = (pans: string[], answer: GatewayQuery['answer'], isConsentBound = false): GatewayQuery => ({
    pans,
    isConsentBound,
    isTradeReturn: url.pathname === '/returns/trade',
    answer,
  })
  if (url.pathname === '/returns/trade') {
    const supplier = parameter('supplierGstin')
    const recipient = parameter('recipientGstin')
    const pans = [panOfGstin(supplier), panOfGstin(recipient)]
    return queryOf(pans, () => tradeAnswer(world, supplier, recipient), true)
  }
  if (isForeignTrade(url)) {
    const iec = url.searchParams.get('iec') ?? url.pathname.replace('/exporter-codes/', '')
    return queryOf([iec], () => foreignTradeAnswer(world, url, iec), true)
  }
  if (url.pathname === '/invoice-actions') {
    const pans = [panOfGstin(parameter('supplierGstin')), panOfGstin(parameter('buyerGstin'))]
    return queryOf(pans, () => invoiceActionAnswer(parameter('buyerGstin'), parameter('documentNumber')))
  }
  if (url.pathname === '/returns/outward-supplies') {
    return queryOf([panOfGstin(parameter('gstin'))], () => suppliesAnswer(world, parameter('gstin')), true)
  }
  if (url.pathname.startsWith('/registry-companies/')) {
    return queryOf([], () => registryCompanyAnswer(world.seed, url, world.business))
  }
  const pan = parameter('pan')
  if (url.pathname === '/companies') return queryOf([pan], () => companyAnswer(world, pan))
  if (url.pathname === '/establishments') return queryOf([pan], () => providentFundAnswer(world, pan), true)
  if (url.pathname === '/accounts/deposits') {
    return queryOf([pan], () => accountsAnswer(world, pan, parameter('from'), parameter('to')), true)
  }
  if (url.pathname === '/searches/security-interests') {
    const search = SecuritySearchBody.parse(JSON.parse(body))
    return queryOf([search.debtorPan], () => securityAnswer(world, search.debtorPan, search.searchType))
  }
  if (url.pathname === '/searches/persons') {
    const search = PersonSearchBody.parse(JSON.parse(body))
    return queryOf([search.identifier], () => personAnswer(search.registry, search.identifier), true)
  }
  const gstin = url.pathname.replace('/taxpayers/', '')
  return queryOf([panOfGstin(gstin)], () => taxpayerAnswer(world, gstin))
}

function consentOf(request: OutgoingRequest) {
  const handle = request.headers['x-consent-handle']
  return handle ? { handle, id: `demo-${handle}`, purposeCode: '104', expiresAt: null } : null
}

function problem(status: number, code: MissingReason): IncomingResponse {
  return respond(status, JSON.stringify({ code }))
}

function respond(status: number, body: string): IncomingResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) }
}
