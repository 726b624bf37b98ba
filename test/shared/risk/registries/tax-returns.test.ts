import { createHash } from 'node:crypto'
import test from 'ava'
import { against, asks, consent, context, RECIPIENT, realTime, tradeData } from './against-gateway.ts'
import { type Answer, ok, refused } from './recording-gateway.ts'

test('tax returns are parsed from the rows of Table 4 in exact paise', async (t) => {
  const { result, requests } = await against([ok(tradeData)], asks.tradeReturns, realTime)
  t.is(result.status, 'OK')
  t.is(result.source, 'GSTR1_TABLE4')
  t.is(result.tier, 'REGISTRY_VERIFIED')
  t.is(result.asOf, '2026-11-20T17:30:00.000Z')
  t.is(result.observedAt, '2026-11-21T06:30:00.000Z')
  t.deepEqual(result.consent, consent)
  t.is(result.attempts, 1)
  t.is(
    result.rawSha256,
    createHash('sha256')
      .update(JSON.stringify({ asOf: '2026-11-20T23:00:00+05:30', data: tradeData }))
      .digest('hex'),
  )
  t.deepEqual(result.data?.invoices, [
    { period: '2026-10', number: 'INV/1', date: '2026-10-05', valuePaise: 11_800_050, irn: 'a'.repeat(64) },
  ])
  t.deepEqual(result.data?.amendments, [
    {
      period: '2026-10',
      number: 'INV/0A',
      date: '2026-09-02',
      valuePaise: 710,
      irn: null,
      originalNumber: 'INV/0',
      originalDate: '2026-09-01',
    },
  ])
  t.deepEqual(result.data?.notes, [
    { period: '2026-10', kind: 'CREDIT', number: 'CN/1', date: '2026-10-20', valuePaise: 1_800_000 },
  ])
  t.deepEqual(result.data?.periods[1], { period: '2025-11', filing: 'MONTHLY', status: 'NOT_FILED' })
  const [request] = requests
  t.is(request?.url.pathname, '/gw/returns/trade')
  t.is(request?.url.searchParams.get('recipientGstin'), RECIPIENT)
  t.is(request?.headers.authorization, 'Bearer token-1')
  t.is(request?.headers['x-consent-handle'], 'consent-1')
  t.is(request?.headers['x-request-id'], 'request-1')
})

test('a filed period without notes or amendments in its source is marked', async (t) => {
  const [filed, unfiled] = tradeData.periods
  const ledgerOf = async (sections: string[]) => {
    const periods = [{ ...filed, sections }, unfiled]
    return (await against([ok({ ...tradeData, periods })], asks.tradeReturns, realTime)).result.data
  }
  t.is((await ledgerOf(['b2b']))?.hasNotes, false)
  t.is((await ledgerOf(['b2b', 'b2ba', 'cdnr']))?.hasNotes, undefined)
})

test('data of a test environment is unparseable', async (t) => {
  const body = JSON.stringify({ asOf: null, environment: 'TEST', data: tradeData })
  const { result } = await against([{ status: 200, body }], asks.tradeReturns, realTime)
  t.is(result.missingReason, 'UNPARSEABLE')
})

test('a gateway receives the same opaque identifier for each call of an organisation', async (t) => {
  const organisationOf = async (orgId: string) => {
    const { requests } = await against([ok(tradeData)], (set) => asks.tradeReturns(set, context({ orgId })), realTime)
    return requests[0]?.headers['x-organisation']
  }
  const first = await organisationOf('org-1')
  t.regex(String(first), /^[0-9a-f]{32}$/)
  t.is(await organisationOf('org-1'), first)
  t.not(await organisationOf('org-2'), first)
})

test('rows of the recipient’s statement have its source', async (t) => {
  const { result } = await against([ok({ ...tradeData, statement: 'GSTR2B' })], asks.tradeReturns, realTime)
  t.is(result.source, 'GSTR2B_B2B')
})

test('the consent reported by the registry is recorded', async (t) => {
  const stated = { handle: 'consent-1', id: 'c-77', purposeCode: '104', expiresAt: '2027-01-01T00:00:00+05:30' }
  const body = JSON.stringify({ asOf: null, consent: stated, data: tradeData })
  const { result } = await against([{ status: 200, body }], asks.tradeReturns, realTime)
  t.deepEqual(result.consent, { ...stated, expiresAt: '2026-12-31T18:30:00.000Z' })
})

const malformed: [string, Answer][] = [
  ['no JSON text', { status: 200, body: '<html>' }],
  ['half a document', { status: 200, body: '{"asOf": null, "data": {' }],
  ['another shape', ok({ rows: [] })],
  ['another taxpayer', ok({ ...tradeData, gstin: RECIPIENT })],
  [
    'a third of a paisa',
    ok({
      ...tradeData,
      periods: [
        {
          ...tradeData.periods[0],
          cdnr: [],
          b2ba: [],
          b2b: [{ ctin: RECIPIENT, inv: [{ inum: '1', idt: '05-10-2026', val: 1.005 }] }],
        },
      ],
    }),
  ],
  [
    'a date that does not exist',
    ok({
      ...tradeData,
      periods: [
        {
          ...tradeData.periods[0],
          cdnr: [],
          b2ba: [],
          b2b: [{ ctin: RECIPIENT, inv: [{ inum: '1', idt: '31-02-2026', val: 1 }] }],
        },
      ],
    }),
  ],
  ['an empty body', { status: 200, body: '' }],
]
for (const [fault, answer] of malformed) {
  test(`a response with ${fault} is UNPARSEABLE, hashed, and not requested again`, async (t) => {
    const { result, requests } = await against([answer], asks.tradeReturns, realTime)
    t.is(result.status, 'MISSING')
    t.is(result.missingReason, 'UNPARSEABLE')
    t.is(result.data, null)
    t.regex(result.rawSha256 ?? '', /^[0-9a-f]{64}$/)
    t.is(requests.length, 1)
  })
}

const refusals: [Answer, string, string][] = [
  [refused(403, 'CONSENT_REVOKED'), 'MISSING', 'CONSENT_REVOKED'],
  [refused(403, 'CONSENT_EXPIRED'), 'MISSING', 'CONSENT_EXPIRED'],
  [refused(404, 'NOT_FILED'), 'MISSING', 'NOT_FILED'],
  [{ status: 404, body: '' }, 'MISSING', 'NOT_FOUND'],
  [{ status: 401, body: 'no' }, 'MISSING', 'NOT_ENTITLED'],
  [refused(422, 'SOMETHING_ELSE'), 'ERROR', 'UPSTREAM_ERROR'],
  [{ status: 429, body: '{}' }, 'ERROR', 'UPSTREAM_ERROR'],
  [{ status: 302, body: '' }, 'ERROR', 'UPSTREAM_ERROR'],
]
for (const [answer, status, reason] of refusals) {
  test(`a refusal ${JSON.stringify(answer)} is ${status}/${reason} without another attempt`, async (t) => {
    const { result, requests } = await against([answer], asks.tradeReturns, realTime)
    t.is<string, string>(result.status, status)
    t.is(result.missingReason, reason as typeof result.missingReason)
    t.is(requests.length, 1)
  })
}
