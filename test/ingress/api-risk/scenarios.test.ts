import test from 'ava'
import { gstinCheckCharacter } from '#shared/risk/identifiers/gstin.ts'
import { indianDay } from '#shared/risk/packs/money.ts'
import { PackSchema } from '#shared/risk/packs/pack-schema.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, demoRequest, openClient, type Reply } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let product: HttpProduct
let client: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['pack-composer'] })
  const base = product.url
  client = await openClient(product, base)
})

/** A registration whose PAN ends in these two digits. */
function withDigits(prefix: string, digits: string, suffix: string): string {
  const first14 = `${prefix}${digits}${suffix}`
  return `${first14}${gstinCheckCharacter(first14)}`
}

const subcontractor = (digits: string) => ({ subcontractorGstin: withDigits('24AAFFS43', digits, 'K1Z') })
const borrower = (digits: string) => ({ borrowerGstin: withDigits('29AAACR56', digits, 'D1Z') })

/** Expected level and value of each scenario of docs/spec/risk-signals.md#registry-results. */
const scenarios: { name: string; parties: object; level: string; shows: [path: string, value: unknown][] }[] = [
  {
    name: 'any other digits',
    parties: subcontractor('99'),
    level: 'CLEAR',
    shows: [['doubleFinancing.status', 'CLEAN']],
  },
  {
    name: '01 declining trade',
    parties: subcontractor('01'),
    level: 'ATTENTION',
    shows: [['tradeRelationship.bc.trend', 'DECLINING']],
  },
  {
    name: '02 too few periods',
    parties: subcontractor('02'),
    level: 'INCOMPLETE',
    shows: [
      ['tradeRelationship.bc.trend', 'INSUFFICIENT_DATA'],
      ['tradeRelationship.bc.verified', false],
    ],
  },
  {
    name: '03 registry does not answer',
    parties: subcontractor('03'),
    level: 'INCOMPLETE',
    shows: [
      ['tradeRelationship.bc.invoiceCount', null],
      ['tradeRelationship.bc.verified', false],
      ['subcontractorCapacity.capacityRating', 'UNKNOWN'],
    ],
  },
  {
    name: '04 registration cancelled',
    parties: subcontractor('04'),
    level: 'ATTENTION',
    shows: [['tradeRelationship.bc.verified', false]],
  },
  {
    name: '05 no provident-fund record',
    parties: subcontractor('05'),
    level: 'CLEAR',
    shows: [
      ['subcontractorCapacity.activeEmployeeCount', null],
      ['subcontractorCapacity.capacityRating', 'ADEQUATE'],
    ],
  },
  {
    name: '06 stretched',
    parties: subcontractor('06'),
    level: 'ATTENTION',
    shows: [['subcontractorCapacity.capacityRating', 'STRETCHED']],
  },
  {
    name: '07 constrained',
    parties: borrower('07'),
    level: 'ATTENTION',
    shows: [['borrowerCapacity.capacityRating', 'CONSTRAINED']],
  },
  {
    name: '08 active charge on receivables',
    parties: borrower('08'),
    level: 'ATTENTION',
    shows: [['doubleFinancing.status', 'CHARGE_FOUND']],
  },
  {
    name: '09 financed elsewhere',
    parties: borrower('09'),
    level: 'CONFLICTED',
    shows: [['doubleFinancing.status', 'DUPLICATE_FINANCED']],
  },
  { name: '10 a director in common', parties: subcontractor('10'), level: 'CONFLICTED', shows: [] },
  {
    name: '12 consent revoked',
    parties: borrower('12'),
    level: 'INCOMPLETE',
    shows: [
      ['tradeRelationship.ab.invoiceCount', null],
      ['aaCashflow.avgMonthlyBalance', null],
    ],
  },
  {
    name: '13 malformed answer',
    parties: borrower('13'),
    level: 'INCOMPLETE',
    shows: [['doubleFinancing.status', 'UNRESOLVED']],
  },
  {
    name: '14 near match',
    parties: borrower('14'),
    level: 'ATTENTION',
    shows: [['doubleFinancing.status', 'POSSIBLE_MATCH']],
  },
]

for (const { name, parties, level, shows } of scenarios) {
  test(`sandbox scenario ${name} is ${level}`, async (t) => {
    const { status, json, text } = await client.post('/v1/po/risk-signals', { ...demoRequest, ...parties })
    t.is(status, 200, text)
    PackSchema.parse(json)
    t.is(json.signalLevel, level)
    for (const [path, value] of shows) {
      let found = json.signals
      for (const step of path.split('.')) found = found[step]
      t.is(found, value, path)
    }
  })
}

test('a flag and the evidence explain a missing value', async (t) => {
  const { json } = await client.post('/v1/po/risk-signals', { ...demoRequest, ...borrower('12') })
  const { json: record } = await client.get(`/v1/po/risk-signals/packs/${json.packId}/evidence`)
  const cashflow = record.evidence.find(({ key }: { key: string }) => key === 'aaCashflow')
  t.like(cashflow, { tier: 'MISSING', missingReason: 'CONSENT_REVOKED' })
  t.true(json.flags.length > 0)
  t.is(record.payloadSha256, json.anchor.payloadSha256)
})

test('a slow registry gives 202, the pack by polling, and 202 again for the same key', async (t) => {
  const key = { 'x-idempotency-key': 'slow-1', prefer: 'wait=1' }
  const body = { ...demoRequest, ...subcontractor('11') }
  const first = await client.post('/v1/po/risk-signals', body, key)
  t.is(first.status, 202, first.text)
  t.is(first.headers.get('preference-applied'), 'wait=1')
  t.truthy(first.headers.get('retry-after'))
  const self = first.headers.get('location') ?? ''
  t.is((await client.get(self)).status, 202)
  const again = await client.post('/v1/po/risk-signals', body, key)
  t.is(again.text, first.text)
  t.is(again.headers.get('location'), self)
  const polled = await eventually('the slow registry', async () => {
    const answer = await client.get(self)
    return answer.status === 202 ? undefined : answer
  })
  t.is(polled.status, 200)
  t.is(polled.json.packId, first.json.packId)
  t.is(PackSchema.parse(polled.json).signalLevel, 'CLEAR')
})

test('the same request under another key gives another pack with the same signals', async (t) => {
  const dayOf = ({ json }: Reply) => indianDay(Date.parse(json.generatedAt))
  let one = await client.post('/v1/po/risk-signals', demoRequest)
  let other = await client.post('/v1/po/risk-signals', demoRequest)
  // Midnight may separate the first two requests, but not the next two.
  if (dayOf(one) !== dayOf(other)) {
    one = other
    other = await client.post('/v1/po/risk-signals', demoRequest)
  }
  t.not(one.json.packId, other.json.packId)
  t.deepEqual(one.json.signals, other.json.signals)
  t.deepEqual(one.json.gradedSignals, other.json.gradedSignals)
  t.deepEqual(one.json.flags, other.json.flags)
})

test('respond-async returns 202 at once, and the list pages packs newest first', async (t) => {
  const { base } = await product.ingress()
  const lister = await openClient(product, base)
  const ids: string[] = []
  for (const dealId of ['d-1', 'd-2', 'd-3']) {
    const answer = await lister.post('/v1/po/risk-signals', { ...demoRequest, dealId }, { prefer: 'respond-async' })
    t.is(answer.status, 202)
    t.is(answer.headers.get('preference-applied'), 'respond-async')
    ids.unshift(answer.json.packId)
  }
  const first = await lister.get('/v1/po/risk-signals/packs?limit=2')
  const second = await lister.get(`/v1/po/risk-signals/packs?limit=2&cursor=${first.json.nextCursor}`)
  const listed = [...first.json.packs, ...second.json.packs]
  t.deepEqual(
    listed.map(({ packId }) => packId),
    ids,
  )
  t.is(second.json.nextCursor, null)
  t.is((await lister.get('/v1/po/risk-signals/packs?cursor=nonsense')).status, 400)
})
