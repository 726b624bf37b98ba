import test from 'ava'
import { composePack } from '#shared/risk/packs/compose-pack.ts'
import type { PackRequest } from '#shared/risk/packs/request.ts'
import { createBreakers } from '#shared/risk/registries/breaker.ts'
import type { HttpRequest } from '#shared/risk/registries/connector.ts'
import { gatherRegistryResults } from '#shared/risk/registries/gather.ts'
import { createRegistrySet } from '#shared/risk/registries/registry-set.ts'
import { VirtualClock } from '../shared/risk/registries/virtual-clock.ts'
import { replayed, sampleOf } from './registry-gateway-samples.ts'

const NOW = Date.parse('2026-11-27T06:00:00.000Z')
const BORROWER = '29AAACR5678D1Z5'
const SUBCONTRACTOR = '24AAFFS4321K1ZA'

const samples = [
  ...['good', 'good-buyer', 'good-subcontractor'].map((name) => sampleOf('sandbox', name)),
  ...['turnover-borrower', 'turnover-subcontractor', 'trade-borrower', 'trade-subcontractor', 'good'].map((name) =>
    sampleOf('setu', name),
  ),
]

/** Sends each request of the product to a gateway with the recorded answers to exactly this request. */
const http: HttpRequest = async ({ method, url }) => {
  const { pathname: path, searchParams } = new URL(url)
  const query = Object.fromEntries(searchParams)
  const sample = samples.find(
    ({ request }) => request.path === path && JSON.stringify(request.query) === JSON.stringify(query),
  )
  if (!sample) return { status: 403, headers: {}, body: Buffer.from('{"code":"NOT_ENTITLED"}') }
  const { composition } = replayed(sample)
  const handle = sample.consent?.handle ?? null
  return await composition.gateway.answer({ method, path, query, handle, organisation: null }, 'pack-1', '')
}

const request: PackRequest = {
  mode: 'LIVE',
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: BORROWER,
  subcontractorGstin: SUBCONTRACTOR,
  poValue: 1_250_000,
  consents: { aa: 'h', gst: 'h' },
}

test('recorded provider answers compose a live pack with both legs verified', async (t) => {
  const clock = new VirtualClock(NOW)
  const gateway = { url: 'https://gateway.invalid' }
  const deps = { http, now: clock.now, sleep: clock.sleep, random: () => 0.5 }
  const config = { taxReturns: gateway, taxpayers: gateway, accounts: gateway }
  const registryResults = await gatherRegistryResults({
    registries: createRegistrySet(config, deps, createBreakers()),
    request,
    env: 'PRODUCTION',
    orgId: 'org-1',
    requestId: 'pack-1',
    now: NOW,
    signal: new AbortController().signal,
  })
  const { pack, evidence } = composePack({
    packId: '6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33',
    generatedAt: new Date(NOW).toISOString(),
    env: 'PRODUCTION',
    request,
    registryResults,
    registryFindings: { status: 'ANSWERED', matches: [] },
    eInvoiceTokens: [],
    invoiceKeys: [],
  })
  const { tradeRelationship, borrowerCapacity, subcontractorCapacity, aaCashflow } = pack.signals
  t.like(tradeRelationship.ab, { invoiceCount: 24, totalValueInr: 5_496_000, trend: 'STABLE', verified: true })
  t.like(tradeRelationship.bc, { invoiceCount: 24, totalValueInr: 2_196_000, trend: 'STABLE', verified: true })
  t.is(borrowerCapacity.annualTurnoverInr, 18_900_006)
  t.is(subcontractorCapacity.annualTurnoverInr, 9_300_006)
  t.like(aaCashflow, { avgMonthlyBalance: 865_268.94, balanceTier: 'SILVER' })
  t.is(pack.signalLevel, 'INCOMPLETE')
  const missing = pack.gradedSignals.filter(({ status }) => status === 'MISSING').map(({ key }) => key)
  t.deepEqual(missing, ['eInvoice', 'relatedParty', 'doubleFinancing'])
  t.true(pack.flags.includes('tradeRelationship.bc: credit notes and amendments are not in this source'))
  const accounts = evidence.find(({ key }) => key === 'aaCashflow')
  t.is(accounts?.tier, 'REGISTRY_VERIFIED')
  t.is(accounts?.consent?.purposeCode, '105')
})
