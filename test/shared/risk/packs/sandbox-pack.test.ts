import { readFileSync } from 'node:fs'
import test from 'ava'
import { AnchorSchema, PackBodySchema, PackSchema } from '#shared/risk/packs/pack-schema.ts'
import { GRADED_KEYS } from '#shared/risk/packs/policy.ts'
import { demoRequest, NOON, sandboxPack, scenarioGstins } from './demo-pack.ts'

test('the demo parties give a CLEAR pack with all members', async (t) => {
  const { pack } = await sandboxPack()
  t.deepEqual(PackBodySchema.parse(pack), pack)
  t.is(pack.signalLevel, 'CLEAR')
  t.false(JSON.stringify(pack.signals).includes('null'))
  t.deepEqual(Object.keys(pack), ['packId', 'generatedAt', 'signalLevel', 'signals', 'gradedSignals', 'flags'])
  t.deepEqual(
    pack.gradedSignals.map((signal) => signal.key),
    [...GRADED_KEYS],
  )
  t.true(pack.gradedSignals.every((signal) => signal.status === 'REGISTRY_VERIFIED'))
  const { tradeRelationship, doubleFinancing, aaCashflow, eInvoice } = pack.signals
  t.is(tradeRelationship.ab.counterpartyGstin, demoRequest.buyerGstin)
  t.is(tradeRelationship.bc.counterpartyGstin, demoRequest.subcontractorGstin)
  t.is(tradeRelationship.ab.source, 'GSTR1_TABLE4')
  t.deepEqual([tradeRelationship.ab.trend, tradeRelationship.bc.trend], ['GROWING', 'STABLE'])
  t.true(tradeRelationship.ab.verified && tradeRelationship.bc.verified)
  t.is(doubleFinancing.cersai.source, 'DEMO')
  t.is(aaCashflow.balanceTier, 'GOLD')
  t.is(aaCashflow.source, 'DEMO')
  t.deepEqual([eInvoice.provided, eInvoice.parsed, eInvoice.gstnSigned], [2, 2, 2])
  t.true(eInvoice.abLegCorroborated && eInvoice.bcLegCorroborated)
})

test('the example of the contract matches the response schema', (t) => {
  const vectors: unknown = JSON.parse(
    readFileSync(new URL('../../../vectors/pack-anchor.json', import.meta.url), 'utf8'),
  )
  const { pack } = vectors as { pack: { delivered: unknown; anchor: unknown } }
  t.deepEqual(PackSchema.parse(pack.delivered), pack.delivered)
  t.deepEqual(AnchorSchema.parse(pack.anchor), pack.anchor)
})

test('every value has an evidence record with source, tier, time and policy', async (t) => {
  const { evidence } = await sandboxPack()
  t.is(evidence.length, 19)
  t.is(new Set(evidence.map((record) => record.key)).size, evidence.length)
  for (const record of evidence) {
    t.truthy(record.source)
    t.truthy(record.policyVersion)
    t.is(record.missingReason, null)
    t.is(new Date(record.observedAt).toISOString(), record.observedAt)
  }
  const trade = evidence.find((record) => record.key === 'tradeRelationship.ab')
  t.regex(trade?.rawSha256 ?? '', /^[0-9a-f]{64}$/)
  t.is(trade?.consent?.handle, 'demo-consent')
  t.is(evidence.find((record) => record.key === 'borrowerCapacity.orderValueInr')?.tier, 'SELF_DECLARED')
})

for (const later of [1000, 3_600_000, 86_400_000]) {
  test(`an equal request ${later / 1000} s later gives the same signals`, async (t) => {
    const first = await sandboxPack()
    const second = await sandboxPack({}, { now: NOON + later, packId: 'a2f8f6f4-2a11-4c2f-9a52-1f0c9d3f7b10' })
    const timeless = (pack: typeof first.pack) => {
      const { doubleFinancing } = pack.signals
      const cersai = { ...doubleFinancing.cersai, searchedAt: null }
      return { ...pack.signals, doubleFinancing: { ...doubleFinancing, cersai } }
    }
    t.deepEqual(timeless(second.pack), timeless(first.pack))
    t.deepEqual(second.pack.gradedSignals, first.pack.gradedSignals)
    t.deepEqual(second.pack.flags, first.pack.flags)
    t.not(second.pack.packId, first.pack.packId)
  })
}

test('counts, totals and trends of the sandbox stay equal over the year', async (t) => {
  const first = await sandboxPack()
  const later = await sandboxPack({}, { now: Date.parse('2027-05-12T06:30:00.000Z') })
  t.deepEqual(later.pack.signals.tradeRelationship, first.pack.signals.tradeRelationship)
  t.is(later.pack.signalLevel, 'CLEAR')
})

test('digits without a scenario do not change the level', async (t) => {
  for (const digits of ['00', '15', '42', '99']) {
    const { pack } = await sandboxPack({
      buyerGstin: scenarioGstins.buyerGstin(digits),
      borrowerGstin: scenarioGstins.borrowerGstin(digits),
      subcontractorGstin: scenarioGstins.subcontractorGstin(digits),
    })
    t.is(pack.signalLevel, 'CLEAR')
  }
})

test('no sentence of a pack gives advice', async (t) => {
  const packs = await Promise.all(
    ['01', '03', '07', '09', '10'].map((digits) =>
      sandboxPack({ borrowerGstin: scenarioGstins.borrowerGstin(digits) }),
    ),
  )
  for (const { pack } of packs) {
    const text = [...pack.flags, ...pack.gradedSignals.map((signal) => signal.detail)].join(' ')
    t.notRegex(text, /risk|safe|approve|decline |recommend|should|suspicious|fraud/i)
  }
})
