import test from 'ava'
import { composePack } from '#shared/risk/packs/compose-pack.ts'
import { PackBodySchema } from '#shared/risk/packs/pack-schema.ts'
import { defaultPolicy, PackPolicy } from '#shared/risk/packs/policy.ts'
import type { PackRequest } from '#shared/risk/packs/request.ts'
import { createBreakers } from '#shared/risk/registries/breaker.ts'
import type { HttpRequest } from '#shared/risk/registries/connector.ts'
import { gatherRegistryResults } from '#shared/risk/registries/gather.ts'
import { createRegistrySet, type RegistryConfig } from '#shared/risk/registries/registry-set.ts'
import { VirtualClock } from '../registries/virtual-clock.ts'
import { demoRequest, NOON, sandboxPack, scenarioGstins } from './demo-pack.ts'

const request: PackRequest = { ...demoRequest, mode: 'LIVE' }
const gateway = { url: 'https://gateway.invalid' }
const configured: RegistryConfig = {
  taxReturns: gateway,
  taxpayers: gateway,
  companies: gateway,
  providentFund: gateway,
  securityInterests: gateway,
  accounts: gateway,
}

async function livePack(config: RegistryConfig, http: HttpRequest, changes: Partial<PackRequest> = {}) {
  const clock = new VirtualClock(NOON)
  const deps = { http, now: clock.now, sleep: clock.sleep, random: () => 0.5 }
  const packRequest = { ...request, ...changes }
  const registryResults = await gatherRegistryResults({
    registries: createRegistrySet(config, deps, createBreakers()),
    request: packRequest,
    env: 'PRODUCTION',
    orgId: 'org-1',
    requestId: 'r',
    now: NOON,
    signal: new AbortController().signal,
  })
  const composed = composePack({
    packId: '6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33',
    generatedAt: new Date(clock.now()).toISOString(),
    env: 'PRODUCTION',
    request: packRequest,
    registryResults,
    registryFindings: { status: 'ANSWERED', matches: [] },
    eInvoiceTokens: [],
    invoiceKeys: [],
  })
  return { ...composed, tookMs: clock.now() - NOON }
}

test('without configured registries every value is missing with its reason', async (t) => {
  const { pack, evidence } = await livePack({}, () => Promise.reject(new Error('nothing may be contacted')))
  t.deepEqual(PackBodySchema.parse(pack), pack)
  t.is(pack.signalLevel, 'INCOMPLETE')
  t.is(pack.signals.borrowerCapacity.capacityRating, 'UNKNOWN')
  t.is(pack.signals.doubleFinancing.status, 'UNRESOLVED')
  t.is(pack.signals.counterpartyEstablishment.buyer.established, null)
  const missing = pack.gradedSignals.filter((signal) => signal.status === 'MISSING')
  t.is(missing.length, 7)
  for (const record of evidence.filter((entry) => entry.source !== 'REQUEST' && entry.source !== 'FIRST_FINANCING')) {
    t.is(record.missingReason, 'NOT_ENTITLED')
    t.is(record.tier, 'MISSING')
  }
  t.false(pack.flags.some((flag) => flag.startsWith('Sandbox')))
})

test('without consent the consent-bound registries are not contacted', async (t) => {
  const paths: string[] = []
  const { evidence } = await livePack(configured, async ({ url }) => {
    paths.push(new URL(url).pathname)
    return { status: 404, headers: {}, body: Buffer.from('') }
  })
  t.true(paths.every((path) => !path.startsWith('/returns') && !path.startsWith('/accounts')))
  t.is(evidence.find((record) => record.key === 'aaCashflow')?.missingReason, 'NO_CONSENT')
})

const registeredIn2019 = { status: 'ACTIVE', legalName: 'X', registeredOn: '2019-07-01' }

/** Answers turnover of these periods, and taxpayers that are registered since this day. */
function turnoverHttp(periods: readonly string[], registeredOn = registeredIn2019.registeredOn): HttpRequest {
  const answer = (data: object) => ({
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ asOf: null, data })),
  })
  return async ({ url }) => {
    const { pathname, searchParams } = new URL(url)
    const gstin = searchParams.get('gstin') ?? pathname.replace('/taxpayers/', '')
    if (pathname === '/returns/outward-supplies') {
      return answer({ gstin, periods: periods.map((period) => ({ period, value: '1000000.00' })) })
    }
    if (pathname.startsWith('/taxpayers/')) return answer({ ...registeredIn2019, gstin, registeredOn })
    return { status: 404, headers: {}, body: Buffer.from('') }
  }
}

test('a turnover of fewer than twelve months is flagged, except for a younger registration', async (t) => {
  const consents = { gst: 'h' }
  const five = ['2026-06', '2026-07', '2026-08', '2026-09', '2026-10']
  const flagsOf = async (http: HttpRequest) =>
    (await livePack(configured, http, { consents })).pack.flags.filter((flag) => flag.includes('of 12 months'))
  t.deepEqual(await flagsOf(turnoverHttp(five)), [
    'borrowerCapacity.annualTurnoverInr covers 5 of 12 months',
    'subcontractorCapacity.annualTurnoverInr covers 5 of 12 months',
  ])
  t.deepEqual(await flagsOf(turnoverHttp(five, '2026-06-01')), [])
  t.deepEqual(await flagsOf(turnoverHttp(['2025-12', '2026-03', '2026-06', '2026-09'])), [])
})

test('registries that never respond delay a pack only by its budget', async (t) => {
  const consents = { gst: 'h', aa: 'h', epfo: 'h' }
  const { pack, evidence, tookMs } = await livePack(configured, () => new Promise(() => {}), { consents })
  t.is(tookMs, 20_000)
  t.is(pack.signalLevel, 'INCOMPLETE')
  t.is(evidence.find((record) => record.key === 'tradeRelationship.ab')?.missingReason, 'TIMEOUT')
})

test('grades are configurable, and every record has their version', async (t) => {
  const policy = PackPolicy.parse({
    policyVersion: 'house-7',
    grades: { ...defaultPolicy.grades, eInvoice: 'OTHER' },
  })
  const { pack, evidence } = await sandboxPack({}, { compose: { policy } })
  t.is(pack.gradedSignals.find((signal) => signal.key === 'eInvoice')?.grade, 'OTHER')
  t.true(evidence.every((record) => record.policyVersion === 'house-7'))
})

test('a failed registry does not hide a contradiction from another one', async (t) => {
  const { pack } = await sandboxPack({
    buyerGstin: scenarioGstins.buyerGstin('03'),
    subcontractorGstin: scenarioGstins.subcontractorGstin('09'),
  })
  t.is(pack.signalLevel, 'CONFLICTED')
})

test('two registrations of one legal entity are the same legal entity', async (t) => {
  const { pack } = await sandboxPack({ buyerGstin: '27AAACR5678D1Z9' })
  t.is(pack.signalLevel, 'CONFLICTED')
  t.regex(pack.gradedSignals.find((signal) => signal.key === 'relatedParty')?.detail ?? '', /the same PAN/)
})

test('an earlier registration of the same organisation is a flag, not a duplicate', async (t) => {
  const match = { class: 'EXACT', state: 'FINANCED', ownRegistration: true, firstSeenMonth: '2026-09' } as const
  const { pack } = await sandboxPack(
    { poNumber: 'PO-1' },
    { compose: { registryFindings: { status: 'ANSWERED', matches: [match] } } },
  )
  t.is(pack.signalLevel, 'CLEAR')
  t.true(pack.flags.some((flag) => flag.includes('EXACT match financed by the same organisation, first seen 2026-09')))
})

test('an unavailable first-financing registry leaves double financing UNRESOLVED', async (t) => {
  const { pack } = await sandboxPack({}, { compose: { registryFindings: { status: 'UNAVAILABLE' } } })
  t.is(pack.signals.doubleFinancing.status, 'UNRESOLVED')
  t.is(pack.signalLevel, 'INCOMPLETE')
})

test('a requested subcontract value replaces the subcontractor’s order', async (t) => {
  const { pack } = await sandboxPack({ subcontractValue: 400_000.25 })
  t.is(pack.signals.subcontractorCapacity.orderValueInr, 400_000.25)
  t.is(pack.signals.borrowerCapacity.orderValueInr, demoRequest.poValue)
})

test('a legacy state code is accepted with a flag', async (t) => {
  const { pack } = await sandboxPack({ buyerGstin: '28AAACB1234C1ZD' })
  t.true(pack.flags.some((flag) => flag.includes('legacy state code')))
})
