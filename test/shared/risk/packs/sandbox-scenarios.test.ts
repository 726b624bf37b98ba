import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { validateGstin } from '#shared/risk/identifiers/gstin.ts'
import { PackBodySchema, type SignalLevel } from '#shared/risk/packs/pack-schema.ts'
import { flagText } from '#shared/risk/packs/pdf/labels.ts'
import { root } from '../../../support/imports.ts'
import { sandboxPack, scenarioGstins } from './demo-pack.ts'

type Outcome = Awaited<ReturnType<typeof sandboxPack>>

/** Each scenario of the borrower with its documented effect. */
const scenarios: {
  digits: string
  effect: string
  level: SignalLevel
  expect(t: ExecutionContext, o: Outcome): void
}[] = [
  {
    digits: '01',
    effect: 'the trade declines',
    level: 'ATTENTION',
    expect: (t, { pack }) => {
      t.is(pack.signals.tradeRelationship.ab.trend, 'DECLINING')
      t.is(pack.signals.tradeRelationship.bc.trend, 'DECLINING')
    },
  },
  {
    digits: '02',
    effect: 'too few periods are filed for a trend',
    level: 'INCOMPLETE',
    expect: (t, { pack }) => {
      t.is(pack.signals.tradeRelationship.ab.trend, 'INSUFFICIENT_DATA')
      t.false(pack.signals.tradeRelationship.ab.verified)
      t.true(pack.flags.includes('tradeRelationship.ab: 4 of 12 periods not filed or not obtainable'))
    },
  },
  {
    digits: '03',
    effect: 'registries time out and nothing is invented',
    level: 'INCOMPLETE',
    expect: (t, { pack, evidence, tookMs }) => {
      const { tradeRelationship, borrowerCapacity, doubleFinancing, aaCashflow } = pack.signals
      t.deepEqual(tradeRelationship.ab, {
        counterpartyGstin: '27AAACB1234C1ZF',
        invoiceCount: null,
        totalValueInr: null,
        monthsActive: null,
        trend: null,
        verified: false,
        source: null,
      })
      t.is(borrowerCapacity.capacityRating, 'UNKNOWN')
      t.is(borrowerCapacity.annualTurnoverInr, null)
      t.is(borrowerCapacity.activeEmployeeCount, null)
      t.is(doubleFinancing.status, 'UNRESOLVED')
      t.is(doubleFinancing.cersai.activeCharges, null)
      t.is(aaCashflow.avgMonthlyBalance, null)
      t.is(evidence.find((record) => record.key === 'tradeRelationship.ab')?.missingReason, 'TIMEOUT')
      t.true(pack.flags.some((flag) => flag.startsWith('tradeRelationship.ab is missing') && flag.includes('TIMEOUT')))
      t.true(tookMs < 10_000)
    },
  },
  {
    digits: '04',
    effect: 'the registration is cancelled',
    level: 'ATTENTION',
    expect: (t, { pack }) => {
      t.false(pack.signals.tradeRelationship.ab.verified)
      t.true(pack.flags.some((flag) => flag.includes('of the borrower is CANCELLED')))
    },
  },
  {
    digits: '05',
    effect: 'without a provident-fund record the turnover decides the rating',
    level: 'CLEAR',
    expect: (t, { pack }) => {
      t.is(pack.signals.borrowerCapacity.activeEmployeeCount, null)
      t.is(pack.signals.borrowerCapacity.capacityRating, 'ADEQUATE')
      t.regex(pack.signals.borrowerCapacity.innocentExplanations[0] ?? '', /^HEADCOUNT_NOT_AVAILABLE: /)
      t.true(pack.flags.some((flag) => flag.startsWith('borrowerCapacity.activeEmployeeCount is missing')))
    },
  },
  {
    digits: '06',
    effect: 'the order is large for the turnover',
    level: 'ATTENTION',
    expect: (t, { pack }) => {
      t.is(pack.signals.borrowerCapacity.capacityRating, 'STRETCHED')
      t.regex(pack.signals.borrowerCapacity.innocentExplanations[0] ?? '', /^ORDER_LARGE_FOR_TURNOVER: /)
    },
  },
  {
    digits: '07',
    effect: 'the order is too large for the turnover',
    level: 'ATTENTION',
    expect: (t, { pack }) => t.is(pack.signals.borrowerCapacity.capacityRating, 'CONSTRAINED'),
  },
  {
    digits: '08',
    effect: 'an active charge covers receivables',
    level: 'ATTENTION',
    expect: (t, { pack }) => {
      t.is(pack.signals.doubleFinancing.status, 'CHARGE_FOUND')
      const [charge] = pack.signals.doubleFinancing.cersai.activeCharges ?? []
      t.true(charge?.coversReceivables)
      t.regex(charge?.securityInterestId ?? '', /^[0-9]{12}$/)
    },
  },
  {
    digits: '09',
    effect: 'the document is financed elsewhere',
    level: 'CONFLICTED',
    expect: (t, { pack }) => {
      t.is(pack.signals.doubleFinancing.status, 'DUPLICATE_FINANCED')
      t.is(pack.gradedSignals.find((signal) => signal.key === 'doubleFinancing')?.status, 'LENDER_SIDE')
    },
  },
  {
    digits: '10',
    effect: 'a director is shared with the borrower',
    level: 'CONFLICTED',
    expect: (t, { pack }) => {
      t.regex(pack.gradedSignals.find((signal) => signal.key === 'relatedParty')?.detail ?? '', /a shared director/)
    },
  },
  {
    digits: '11',
    effect: 'the complete response takes twelve seconds',
    level: 'CLEAR',
    expect: (t, { tookMs, pack }) => {
      t.is(tookMs, 12_000)
      t.true(pack.signals.tradeRelationship.ab.verified)
    },
  },
  {
    digits: '12',
    effect: 'a revoked consent makes the consented values missing',
    level: 'INCOMPLETE',
    expect: (t, { pack, evidence }) => {
      t.is(pack.signals.tradeRelationship.ab.invoiceCount, null)
      t.is(pack.signals.aaCashflow.avgMonthlyBalance, null)
      t.is(evidence.find((record) => record.key === 'aaCashflow')?.missingReason, 'CONSENT_REVOKED')
    },
  },
  {
    digits: '13',
    effect: 'a malformed response is missing, not zero',
    level: 'INCOMPLETE',
    expect: (t, { pack, evidence }) => {
      t.is(pack.signals.borrowerCapacity.annualTurnoverInr, null)
      const record = evidence.find((entry) => entry.key === 'borrowerCapacity.annualTurnoverInr')
      t.is(record?.missingReason, 'UNPARSEABLE')
      t.regex(record?.rawSha256 ?? '', /^[0-9a-f]{64}$/)
    },
  },
  {
    digits: '14',
    effect: 'a near match is a possible match only',
    level: 'ATTENTION',
    expect: (t, { pack }) => t.is(pack.signals.doubleFinancing.status, 'POSSIBLE_MATCH'),
  },
]

for (const { digits, effect, level, expect } of scenarios) {
  test(`a borrower whose PAN ends in ${digits}: ${effect}, the level is ${level}`, async (t) => {
    const outcome = await sandboxPack({ borrowerGstin: scenarioGstins.borrowerGstin(digits) })
    t.deepEqual(PackBodySchema.parse(outcome.pack), outcome.pack)
    t.is(outcome.pack.signalLevel, level)
    expect(t, outcome)
    // A JSON path, a code, or a word in capitals except a registration or an abbreviation.
    for (const note of outcome.pack.flags.map(flagText))
      t.notRegex(note, /[a-z]\.[a-z]|[a-z][A-Z]|[A-Z]_[A-Z]|\([A-Z_]+\)|\b[A-Z]{4,}\b(?!\d)/)
  })

  test(`a subcontractor whose PAN ends in ${digits} also gives the level ${level}`, async (t) => {
    const outcome = await sandboxPack({ subcontractorGstin: scenarioGstins.subcontractorGstin(digits) })
    t.deepEqual(PackBodySchema.parse(outcome.pack), outcome.pack)
    t.is(outcome.pack.signalLevel, level)
  })
}

const buyerLevels = { '03': 'INCOMPLETE', '04': 'ATTENTION', '08': 'ATTENTION', '09': 'CONFLICTED', '10': 'CONFLICTED' }
for (const [digits, level] of Object.entries(buyerLevels)) {
  test(`a buyer whose PAN ends in ${digits} gives the level ${level}`, async (t) => {
    const outcome = await sandboxPack({ buyerGstin: scenarioGstins.buyerGstin(digits) })
    t.is<string, string>(outcome.pack.signalLevel, level)
  })
}

for (const poValue of [0.01, 100, 1_250_000.5, 10_000_000_000_000]) {
  test(`the capacity scenarios hold for an order of ${poValue}`, async (t) => {
    const stretched = await sandboxPack({ poValue, borrowerGstin: scenarioGstins.borrowerGstin('06') })
    const constrained = await sandboxPack({ poValue, borrowerGstin: scenarioGstins.borrowerGstin('07') })
    t.is(stretched.pack.signals.borrowerCapacity.capacityRating, 'STRETCHED')
    t.is(constrained.pack.signals.borrowerCapacity.capacityRating, 'CONSTRAINED')
  })
}

test('a flag names its value and replaces codes by words', (t) => {
  t.is(
    flagText('tradeRelationship.ab is missing: the registry did not answer in time (TIMEOUT)'),
    'Buyer to borrower trade is missing: the registry did not answer in time',
  )
  t.is(
    flagText('Leg B_TO_C has no e-invoice token; e-invoicing is mandatory only above 5 crore turnover'),
    'Leg borrower to subcontractor has no e-invoice token; e-invoicing is mandatory only above 5 crore turnover',
  )
  t.is(
    flagText('Registration 29AAACR5604D1ZX of the borrower is CANCELLED'),
    'Registration 29AAACR5604D1ZX of the borrower is cancelled',
  )
  t.is(
    flagText('First-financing registry: EXACT match registered by another organisation, first seen 2026-09'),
    'First-financing registry: exact match registered by another organisation, first seen 2026-09',
  )
})

test('the ready registrations of the guide give the documented levels', async (t) => {
  const guide = readFileSync(join(root, 'docs/risk-signals.md'), 'utf8')
  const rows = [...guide.matchAll(/^\| (\d\d(?:, \d\d)*) \| .+ \| ([A-Z]+)(?:, [^|]+)? \| (`.+`) \|$/gm)]
  t.is(rows.length, 13)
  for (const [, digits = '', level = '', listed = ''] of rows) {
    const gstins = listed.split(', ').map((gstin) => gstin.replaceAll('`', ''))
    t.is(gstins.map((gstin) => gstin.slice(9, 11)).join(', '), digits)
    for (const gstin of gstins) {
      t.true(validateGstin(gstin).valid, gstin)
      const party = gstin.startsWith('29') ? 'borrowerGstin' : 'subcontractorGstin'
      const { pack } = await sandboxPack({ [party]: gstin })
      t.is(String(pack.signalLevel), level, gstin)
    }
  }
})
