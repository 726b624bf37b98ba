import test from 'ava'
import { drawnText } from '#shared/risk/packs/pdf/typeface.ts'
import { renderTradePdf } from '#shared/risk/trade/pdf.ts'
import { readPdf } from '../../../support/risk-poppler.ts'

test('the PDF of a trade pack breaks no tier name and shows no control character', async (t) => {
  const anchor = { network: 'public-registry', txId: 'a'.repeat(64), payloadSha256: 'b'.repeat(64) }
  const tiers = ['REGISTRY_VERIFIED', 'ISSUER_CONFIRMED', 'DOCUMENT_SIGNED', 'SELF_DECLARED', 'LENDER_SIDE'] as const
  const timestamp = '2026-11-21T10:15:30.123Z'
  const documents = tiers.map((tier, index) => ({
    documentId: `0b1f6c1a-7f31-4c0e-9d57-3c1f7d2a9e1${index}`,
    type: 'CERTIFICATE_OF_ORIGIN',
    sha256: 'c'.repeat(64),
    sizeBytes: null,
    mediaType: null,
    ...{ tier, timestamp, anchor },
  }))
  const results = tiers.map((tier) => ({
    key: 'shippingBill.exists',
    result: 'MATCH' as const,
    tier,
    detail: 'as stated',
  }))
  const finding = { verificationId: 'v', subjectKind: 'EBRC', results, eventType: 'trade.verified', timestamp, anchor }
  const read = await readPdf(
    await renderTradePdf({
      ...{ packId: 'p', title: null, issuedAt: timestamp, env: 'SANDBOX', statementSha256: 'd'.repeat(64) },
      ...{ txId: anchor.txId, documents, findings: [finding], chain: null },
    }),
  )
  if (!read) return void t.pass('poppler is not installed')
  t.notRegex(read.text, /\[U\+/)
  for (const tier of tiers) t.is(read.text.match(new RegExp(`\\b${tier}\\b`, 'g'))?.length, 2, tier)
  t.is(read.text.match(/\bCERTIFICATE_OF_ORIGIN\b/g)?.length, documents.length)
  for (const { sha256, documentId } of documents) {
    t.regex(read.text, new RegExp(`^[^\\n]*${sha256}`, 'm'))
    t.regex(read.text, new RegExp(`^ *${documentId}`, 'm'))
  }
})

test('every kind of line break starts a line in a PDF', (t) => {
  t.is(drawnText('Mono', 'a\r\nb\nc\u2028d').text, 'a\nb\nc\nd')
})
