import test from 'ava'
import { isModeAllowed, parsePackRequest } from '#shared/risk/packs/request.ts'
import { demoRequest } from './demo-pack.ts'

function faults(body: unknown): string[] {
  const result = parsePackRequest(body)
  return result.ok ? [] : result.errors.map((error) => `${error.path} ${error.code}`)
}

test('the request of the contract is accepted unchanged', (t) => {
  t.deepEqual(parsePackRequest(demoRequest), { ok: true, request: demoRequest })
})

test('registrations of a request are normalised', (t) => {
  const result = parsePackRequest({ ...demoRequest, buyerGstin: ' 27aaacb1234c1zf\n' })
  t.true(result.ok)
  if (result.ok) t.is(result.request.buyerGstin, '27AAACB1234C1ZF')
})

test('all optional members of a pack request are accepted', (t) => {
  const body = {
    ...demoRequest,
    dealId: 'deal-1',
    poNumber: 'PO/2026/17',
    poDate: '2026-11-01',
    subcontractValue: 500_000.25,
    eInvoices: ['a.b.c'],
    consents: { gst: 'handle-1', aa: 'handle-2' },
  }
  t.deepEqual(parsePackRequest(body), { ok: true, request: body })
})

const bad: [string, object, string[]][] = [
  [
    'no members',
    {},
    [
      'mode REQUIRED',
      'buyerGstin REQUIRED',
      'borrowerGstin REQUIRED',
      'subcontractorGstin REQUIRED',
      'poValue REQUIRED',
    ],
  ],
  ['an unknown mode', { ...demoRequest, mode: 'TEST' }, ['mode UNKNOWN_VALUE']],
  ['a wrong check character', { ...demoRequest, buyerGstin: '27AAACB1234C1ZG' }, ['buyerGstin CHECK_DIGIT']],
  ['a Cyrillic look-alike', { ...demoRequest, buyerGstin: '27\u0410AACB1234C1ZF' }, ['buyerGstin FORMAT']],
  ['fourteen characters', { ...demoRequest, buyerGstin: '27AAACB1234C1Z' }, ['buyerGstin LENGTH']],
  ['sixteen characters', { ...demoRequest, buyerGstin: '27AAACB1234C1ZF0' }, ['buyerGstin LENGTH']],
  ['a collector registration', { ...demoRequest, buyerGstin: '27AAACB1234C1CQ' }, ['buyerGstin NOT_REGULAR']],
  ['a number for a registration', { ...demoRequest, buyerGstin: 27 }, ['buyerGstin TYPE']],
  ['null for a registration', { ...demoRequest, buyerGstin: null }, ['buyerGstin TYPE']],
  [
    'one registration in two roles',
    { ...demoRequest, subcontractorGstin: ' 29aaacr5678d1z5' },
    ['subcontractorGstin DUPLICATE_ROLE'],
  ],
  ['a negative order', { ...demoRequest, poValue: -1 }, ['poValue TOO_SMALL']],
  ['a zero order', { ...demoRequest, poValue: 0 }, ['poValue TOO_SMALL']],
  ['a text order', { ...demoRequest, poValue: '100' }, ['poValue TYPE']],
  ['an order of three decimals', { ...demoRequest, poValue: 1.005 }, ['poValue TOO_MANY_DECIMALS']],
  ['an order of 1e-7', { ...demoRequest, poValue: 1e-7 }, ['poValue TOO_MANY_DECIMALS']],
  ['an order beyond the limit', { ...demoRequest, poValue: 1e13 + 1 }, ['poValue TOO_LARGE']],
  ['a subcontract of zero', { ...demoRequest, subcontractValue: 0 }, ['subcontractValue TOO_SMALL']],
  ['an unknown member', { ...demoRequest, packId: 'x', grade: 'y' }, ['packId UNKNOWN_FIELD', 'grade UNKNOWN_FIELD']],
  ['an unknown consent family', { ...demoRequest, consents: { pan: 'x' } }, ['consents.pan UNKNOWN_FIELD']],
  [
    'a consent handle that a header cannot contain (H4)',
    { ...demoRequest, consents: { gst: '€' } },
    ['consents.gst FORMAT'],
  ],
  ['a consent handle with a space', { ...demoRequest, consents: { epfo: 'a b' } }, ['consents.epfo FORMAT']],
  ['an empty consent handle', { ...demoRequest, consents: { aa: '' } }, ['consents.aa TOO_SMALL']],
  ['a date that does not exist', { ...demoRequest, poDate: '2026-02-30' }, ['poDate FORMAT']],
  ['a control character in the order number', { ...demoRequest, poNumber: 'PO\u001f1' }, ['poNumber FORMAT']],
  ['a token over 64 KiB', { ...demoRequest, eInvoices: ['a.b.c', 'x'.repeat(65_537)] }, ['eInvoices[1] TOO_LARGE']],
  [
    'fifty-one tokens',
    { ...demoRequest, eInvoices: Array.from({ length: 51 }, () => 'a.b.c') },
    ['eInvoices TOO_MANY'],
  ],
  ['a token that is no text', { ...demoRequest, eInvoices: [1] }, ['eInvoices[0] TYPE']],
]
for (const [fault, body, expected] of bad) {
  test(`a pack request with ${fault} is refused with the name of its member`, (t) =>
    t.deepEqual(faults(body), expected))
}

test('an amount above the range of a number is refused', (t) => {
  const body: unknown = JSON.parse(JSON.stringify(demoRequest).replace('1250000', '1e309'))
  t.deepEqual(faults(body), ['poValue TYPE'])
})

for (const body of [null, [], 'x', 7, undefined]) {
  test(`a pack request that is ${JSON.stringify(body)} is refused`, (t) => t.is(faults(body).length, 1))
}

test('amounts at the limits are accepted', (t) => {
  for (const poValue of [0.01, 1.1, 1e13, 9_999_999_999_999.99]) {
    t.true(parsePackRequest({ ...demoRequest, poValue }).ok)
  }
})

test('every error message of a pack request begins with its member', (t) => {
  for (const [, body] of bad) {
    const result = parsePackRequest(body)
    t.false(result.ok)
    if (!result.ok) t.true(result.errors.every((error) => error.message.startsWith(error.path)))
  }
})

test('registrations of the e-invoice sandbox are accepted only with the option', (t) => {
  const body = { ...demoRequest, buyerGstin: '01AMBPG7773M002' }
  t.true(parsePackRequest(body, { sandboxRegistrations: true }).ok)
  t.deepEqual(faults(body), ['buyerGstin ENTITY_CODE'])
})

test('each environment accepts only its mode', (t) => {
  t.true(isModeAllowed('DEMO', 'SANDBOX'))
  t.false(isModeAllowed('LIVE', 'SANDBOX'))
  t.true(isModeAllowed('LIVE', 'PRODUCTION'))
  t.false(isModeAllowed('DEMO', 'PRODUCTION'))
})
