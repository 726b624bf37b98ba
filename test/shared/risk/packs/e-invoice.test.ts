import { generateKeyPairSync, sign } from 'node:crypto'
import test from 'ava'
import { parsePaise } from '#shared/risk/packs/money.ts'
import { type TokenReason, verifyInvoiceToken } from '#shared/risk/packs/signals/e-invoice-token.ts'
import type { InvoiceKey } from '#shared/risk/packs/signals/invoice-keys.ts'
import {
  generateSandboxKey,
  sandboxInvoiceKey,
  signDemoInvoice,
} from '#shared/risk/registries/sandbox/demo-invoices.ts'
import { latestDemoInvoice } from '#shared/risk/registries/sandbox/demo-trade.ts'
import { SANDBOX_SEED } from '#shared/risk/registries/sandbox/registries.ts'
import { demoRequest, NOON, sandboxPack, signingKey } from './demo-pack.ts'

const keys = [sandboxInvoiceKey(signingKey)]
const context = { env: 'SANDBOX' as const, keys, ...demoRequest }
const { buyerGstin, borrowerGstin, subcontractorGstin } = demoRequest
const demo = latestDemoInvoice(SANDBOX_SEED, borrowerGstin, buyerGstin, NOON)
const fields = {
  sellerGstin: borrowerGstin,
  buyerGstin,
  documentNumber: demo.number,
  documentDate: demo.date,
  totalInr: demo.valuePaise / 100,
}
const good = signDemoInvoice(fields, signingKey)

/** Changes the contents of the good token and signs it again with a key. */
function resigned(
  change: (parts: { header: Record<string, unknown>; data: Record<string, unknown>; iss: string }) => void,
  pem = signingKey,
): string {
  const [header64 = '', payload64 = ''] = good.split('.')
  const payload = JSON.parse(Buffer.from(payload64, 'base64url').toString())
  const parts = {
    header: JSON.parse(Buffer.from(header64, 'base64url').toString()),
    data: JSON.parse(payload.data),
    iss: payload.iss,
  }
  change(parts)
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${encode(parts.header)}.${encode({ data: JSON.stringify(parts.data), iss: parts.iss })}`
  return `${input}.${sign('RSA-SHA256', Buffer.from(input), pem).toString('base64url')}`
}

function tampered(): string {
  const [header, payload64 = '', signature] = good.split('.')
  const payload = Buffer.from(payload64, 'base64url')
    .toString()
    .replace(/TotInvVal\\":[0-9.]+/, 'TotInvVal\\":99999')
  return `${header}.${Buffer.from(payload).toString('base64url')}.${signature}`
}

test('a token with a trusted signature between the parties of a leg is valid', (t) => {
  const check = verifyInvoiceToken(good, context)
  t.is(check.reason, null)
  t.true(check.signatureVerified)
  t.is(check.leg, 'A_TO_B')
  t.is(check.document?.totalPaise, demo.valuePaise)
})

test('a token may name RS256 by its XML signature identifier', (t) => {
  const named = resigned(({ header }) => {
    header.alg = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
  })
  const { reason, signatureVerified } = verifyInvoiceToken(named, context)
  t.deepEqual([reason, signatureVerified], [null, true])
})

const attacker = generateSandboxKey()
const failures: [string, () => string, TokenReason, boolean][] = [
  ['garbage', () => 'not a token', 'UNPARSEABLE', false],
  ['two parts', () => 'a.b', 'UNPARSEABLE', false],
  ['more than 64 KiB', () => `${good}${'A'.repeat(65_536)}`, 'TOO_LARGE', false],
  ['an altered total', tampered, 'BAD_SIGNATURE', false],
  ['an attacker key under a trusted key id', () => resigned(() => {}, attacker), 'BAD_SIGNATURE', false],
  ['an attacker key under its own key id', () => signDemoInvoice(fields, attacker), 'KEY_UNKNOWN', false],
  [
    'a key in the header',
    () =>
      resigned(({ header }) => {
        header.kid = 'F'.repeat(40)
        header.jku = 'https://keys.invalid/'
        header.x5c = ['AAAA']
      }, attacker),
    'KEY_UNKNOWN',
    false,
  ],
  [
    'the algorithm none',
    () =>
      resigned(({ header }) => {
        header.alg = 'none'
      }),
    'ALG_NOT_ALLOWED',
    false,
  ],
  [
    'a foreign reference number',
    () =>
      resigned(({ data }) => {
        data.Irn = 'a'.repeat(64)
      }),
    'IRN_MISMATCH',
    true,
  ],
  [
    'other parties',
    () => signDemoInvoice({ ...fields, sellerGstin: subcontractorGstin }, signingKey),
    'WRONG_PARTIES',
    true,
  ],
  ['an unregistered buyer', () => signDemoInvoice({ ...fields, buyerGstin: 'URP' }, signingKey), 'WRONG_PARTIES', true],
  [
    'a missing field',
    () =>
      resigned(({ data }) => {
        delete data.BuyerGstin
      }),
    'FIELD_MISSING',
    true,
  ],
  [
    'an issue date before its document date',
    () =>
      resigned(({ data }) => {
        data.IrnDt = '2020-01-01 00:00:00'
      }),
    'DATE_ORDER',
    true,
  ],
  ['a total of zero', () => signDemoInvoice({ ...fields, totalInr: 0 }, signingKey), 'BAD_TOTAL', true],
  ['a total of three decimals', () => signDemoInvoice({ ...fields, totalInr: 1.005 }, signingKey), 'BAD_TOTAL', true],
]
for (const [description, token, reason, isSigned] of failures) {
  test(`a token with ${description} fails with ${reason}`, (t) => {
    const check = verifyInvoiceToken(token(), context)
    t.is(check.reason, reason)
    t.is(check.signatureVerified, isSigned)
  })

  test(`a pack with a token with ${description} is never clear`, async (t) => {
    const { pack, evidence } = await sandboxPack({ eInvoices: [token()] })
    t.not(pack.signalLevel, 'CLEAR')
    t.is(pack.signals.eInvoice.provided, 1)
    t.false(pack.signals.eInvoice.abLegCorroborated)
    t.is(evidence.find((record) => record.key === 'eInvoice.tokens[0]')?.finding, reason)
    t.true(pack.flags.some((flag) => flag.includes(`E-invoice token 1 (${reason})`)))
  })
}

for (const [description, token, reason] of failures.filter(([, , reason]) =>
  ['BAD_SIGNATURE', 'IRN_MISMATCH', 'WRONG_PARTIES', 'ALG_NOT_ALLOWED'].includes(reason),
)) {
  test(`a token with ${description} (${reason}) contradicts the request`, async (t) => {
    const { pack } = await sandboxPack({ eInvoices: [token()] })
    t.is(pack.signalLevel, 'CONFLICTED')
  })
}

test('a sandbox key is not trusted in production', (t) => {
  t.is(verifyInvoiceToken(good, { ...context, env: 'PRODUCTION' }).reason, 'KEY_UNKNOWN')
  const mislabelled = keys.map((key) => ({ ...key, env: 'PRODUCTION' as const }))
  t.is(verifyInvoiceToken(good, { ...context, env: 'PRODUCTION', keys: mislabelled }).reason, 'KEY_UNKNOWN')
})

test('a key is trusted only on the days of its validity', (t) => {
  const later: InvoiceKey[] = keys.map((key) => ({ ...key, notBefore: '2027-01-01' }))
  const check = verifyInvoiceToken(good, { ...context, keys: later })
  t.is(check.reason, 'KEY_NOT_VALID_THEN')
  t.false(check.signatureVerified)
})

test('a key that is not RSA verifies no token', (t) => {
  const { publicKey } = generateKeyPairSync('ed25519')
  const spkiPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const check = verifyInvoiceToken(good, { ...context, keys: keys.map((key) => ({ ...key, spkiPem })) })
  t.is(check.reason, 'BAD_SIGNATURE')
})

test('a single leg without a token is CLEAR with a neutral flag', async (t) => {
  const { pack } = await sandboxPack({ eInvoices: [good] })
  t.is(pack.signalLevel, 'CLEAR')
  t.true(pack.signals.eInvoice.abLegCorroborated)
  t.false(pack.signals.eInvoice.bcLegCorroborated)
  t.true(pack.flags.includes('Leg B_TO_C has no e-invoice token; e-invoicing is mandatory only above 5 crore turnover'))
})

test('an invoice counts once even if its token is repeated', async (t) => {
  const other = signDemoInvoice({ ...fields, documentNumber: 'X-1' }, signingKey)
  const once = await sandboxPack({ eInvoices: [good, other] })
  t.is(once.pack.signals.eInvoice.gstnSigned, 2, 'different invoices stay separate')
  for (const eInvoices of [
    [good, good, other],
    [good, other, good, other, good],
  ]) {
    const { pack, evidence } = await sandboxPack({ eInvoices })
    t.deepEqual(pack.signals.eInvoice, once.pack.signals.eInvoice)
    t.deepEqual(pack.flags, once.pack.flags)
    t.is(evidence.filter(({ key }) => key.startsWith('eInvoice.tokens')).length, 2)
  }
  const renamed = resigned(({ data }) => {
    data.Note = 'the same invoice in another token'
  })
  t.is((await sandboxPack({ eInvoices: [good, renamed] })).pack.signals.eInvoice.gstnSigned, 1)
  const bad = await sandboxPack({ eInvoices: [tampered(), tampered()] })
  t.is(bad.pack.flags.filter((flag) => flag.startsWith('E-invoice token')).length, 1)
})

test('a pack without tokens is CLEAR', async (t) => {
  const { pack } = await sandboxPack({ eInvoices: [] })
  t.is(pack.signalLevel, 'CLEAR')
  t.deepEqual(pack.signals.eInvoice, {
    provided: 0,
    parsed: 0,
    gstnSigned: 0,
    abLegCorroborated: false,
    bcLegCorroborated: false,
    invoices: [],
  })
})

for (const [difference, level] of [
  [1, 'CLEAR'],
  [1.01, 'ATTENTION'],
] as const) {
  test(`a total ${difference} rupees different from the filed return gives ${level}`, async (t) => {
    const totalInr = ((parsePaise(fields.totalInr) ?? 0) + Math.round(difference * 100)) / 100
    const { pack } = await sandboxPack({ eInvoices: [signDemoInvoice({ ...fields, totalInr }, signingKey)] })
    t.is(pack.signalLevel, level)
    t.is(pack.signals.eInvoice.abLegCorroborated, level === 'CLEAR')
  })
}

test('a signed invoice missing in the filed return corroborates nothing', async (t) => {
  const { pack } = await sandboxPack({ eInvoices: [signDemoInvoice({ ...fields, documentNumber: 'X-1' }, signingKey)] })
  t.is(pack.signalLevel, 'ATTENTION')
  t.is(pack.signals.eInvoice.gstnSigned, 1)
})

test('the signature corroborates an invoice of a period not yet due', async (t) => {
  const fresh = { ...fields, documentNumber: 'X-2', documentDate: '2026-11-10' }
  const { pack } = await sandboxPack({ eInvoices: [signDemoInvoice(fresh, signingKey)] })
  t.is(pack.signalLevel, 'CLEAR')
  t.is(pack.gradedSignals.find((signal) => signal.key === 'eInvoice')?.status, 'DOCUMENT_SIGNED')
})

for (const [description, irn] of [
  ['36,000 letters', 'x'.repeat(36_000)],
  ['half a character', '\ud800'],
  ['markup', '<b>'.padEnd(64, '0')],
  ['a reference with a trailing space', `${'0'.repeat(64)} `],
] as const) {
  test(`a token whose reference is ${description} adds no document`, (t) => {
    const token = resigned(({ data }) => {
      data.Irn = irn
    })
    const check = verifyInvoiceToken(token, context)
    t.like(check, { reason: 'IRN_MISMATCH', document: null, signatureVerified: true })
  })
}
