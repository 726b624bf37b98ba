import test from 'ava'
import { packDocument } from '#shared/risk/packs/pdf/document.ts'
import { evidenceColumns } from '#shared/risk/packs/pdf/draw-evidence.ts'
import { qrMatrix } from '#shared/risk/packs/pdf/draw-qr.ts'
import { inrFigure, instantText } from '#shared/risk/packs/pdf/figures.ts'
import { gradeText, missingText, sourceName } from '#shared/risk/packs/pdf/labels.ts'
import { openDocument } from '#shared/risk/packs/pdf/open-document.ts'
import { renderPackPdf } from '#shared/risk/packs/pdf/render.ts'
import { CONTENT_WIDTH, createSheet, PAGE, STYLES } from '#shared/risk/packs/pdf/sheet.ts'
import { drawnText } from '#shared/risk/packs/pdf/typeface.ts'
import { readQr } from '../../../support/read-qr.ts'
import { NO_POPPLER, pictureOfPage, readPdf, wordsOfPdf } from '../../../support/risk-poppler.ts'
import { scenarioGstins } from './demo-pack.ts'
import { pdfInput } from './pdf-input.ts'

let rendered: Promise<Buffer> | undefined
let read: ReturnType<typeof readPdf> | undefined

/** The PDF of the default pack, rendered once for all tests that use it unchanged. */
const plainPdf = () => (rendered ??= pdfInput().then(renderPackPdf))
const readPlainPdf = () => (read ??= plainPdf().then(readPdf))

test('a PDF of the same pack has the same bytes', async (t) => {
  t.true((await plainPdf()).equals(await renderPackPdf(await pdfInput())))
})

test('a PDF of another log index has other bytes', async (t) => {
  const input = await pdfInput()
  const other = { ...input, proof: { ...input.proof, index: 40 } }
  t.false((await plainPdf()).equals(await renderPackPdf(other)))
})

test('the PDF has its figures, tiers, anchor and commands as selectable text', async (t) => {
  const input = await pdfInput()
  const read = await readPlainPdf()
  if (!read) return void t.pass(NO_POPPLER)
  const { anchor } = JSON.parse(input.body)
  for (const part of [
    'Risk Signals Pack',
    'SANDBOX — NOT EVIDENCE',
    'never a recommendation',
    '6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33',
    '₹7,25,71,120.30 (7.26 crore)',
    'Registry verified',
    anchor.payloadSha256,
    anchor.txId,
    '41 in a tree of 57',
    'npm run -s verify -- pack-6f1c9a52.json --proof proof.json --policy policy.txt',
  ])
    t.true(read.text.includes(part), part)
})

test('a live PDF has no sandbox band and names the live log', async (t) => {
  const read = await readPdf(await renderPackPdf({ ...(await pdfInput()), env: 'PRODUCTION' }))
  if (!read) return void t.pass(NO_POPPLER)
  t.regex(read.text, /Mode\s+Live/)
  t.false(read.text.includes('NOT EVIDENCE'))
  t.true(read.text.includes('/v1/transparency/production/policy'))
})

test('the PDF is tagged with headings, tables and a described QR code', async (t) => {
  const bytes = await plainPdf()
  t.true(bytes.includes('/Alt (QR code of https://signalbox.example/verify?txId='))
  const read = await readPlainPdf()
  if (!read) return void t.pass(NO_POPPLER)
  t.regex(read.info, /Tagged:\s+yes/)
  t.regex(read.info, /CreationDate:.*Nov 21 06:30:00 2026/)
  t.is(read.structure.match(/^\s*H1\b/gm)?.length, 1)
  t.is(read.structure.match(/^\s*H2\b/gm)?.length, 11)
  t.regex(read.structure, /Table[\s\S]*TR[\s\S]*TH[\s\S]*TD/)
  t.regex(read.structure, /^\s*Figure$/m)
})

test('the QR code on the first page opens the verification page', async (t) => {
  for (const publicUrl of ['https://signalbox.example', `https://${'signals.'.repeat(7)}example`]) {
    const input = { ...(await pdfInput()), publicUrl }
    const picture = await pictureOfPage(await renderPackPdf(input), 1)
    if (!picture) return void t.pass(NO_POPPLER)
    t.is(readQr(picture), `${publicUrl}/verify?txId=${JSON.parse(input.body).anchor.txId}`)
  }
})

test('the pack, evidence and proof are attached to the PDF byte for byte', async (t) => {
  const input = await pdfInput()
  const read = await readPlainPdf()
  if (!read) return void t.pass(NO_POPPLER)
  t.is(read.files.get('pack-6f1c9a52.json')?.toString(), input.body)
  t.is(read.files.get('evidence-6f1c9a52.json')?.toString(), input.evidence ?? '')
  t.is(read.files.get('proof-6f1c9a52.txt')?.toString(), input.proof.tlogProof ?? '')
})

test('the PDF shows missing values in words', async (t) => {
  const input = await pdfInput({ borrowerGstin: scenarioGstins.borrowerGstin('12') })
  const document = packDocument(input)
  const missing = document.tiers.find(({ tier }) => tier === 'MISSING')
  const evidence = JSON.parse(input.evidence ?? '').evidence.filter((one: { tier: string }) => one.tier === 'MISSING')
  t.true(evidence.length > 0)
  t.is(missing?.count, evidence.length)
  const read = await readPdf(await renderPackPdf(input))
  if (!read) return void t.pass(NO_POPPLER)
  t.regex(read.text, /Missing: [a-z]/)
  t.regex(read.text, /No turnover \(consent revoked\)/)
  t.notRegex(read.text, /GST_|DEPTH_|NOT_FOUND|UPSTREAM_|TURNOVER_/, 'words replace codes')
})

test('a note about missing invoices does not contradict the sandbox examples', async (t) => {
  const { cards, flags } = packDocument(await pdfInput())
  const shown = cards.flatMap(({ values }) => values).find(({ label }) => label === 'Tokens provided')
  t.is(shown?.value, '2')
  const notes = flags.filter((flag) => /e-invoice/i.test(flag))
  t.deepEqual(notes, [
    'The e-invoices shown are examples of the sandbox. The request gave no purchase-order number or e-invoice: the first-financing registry was searched by parties and value alone',
  ])
})

test('codes of sources, classes and reasons are shown as words', (t) => {
  t.is(sourceName('GST_TAXPAYER_SEARCH'), 'GST taxpayer search')
  t.is(sourceName('GSTR1_3B'), 'GSTR-1 and GSTR-3B')
  t.is(sourceName('PERSON_REGISTRIES'), 'Person registries')
  t.is(gradeText('DEPTH_PRIMARY'), 'do the parties trade? Main evidence')
  t.is(gradeText('OWN_CLASS'), 'own class')
  t.is(missingText('NOT_ENTITLED'), 'Missing: no access to the registry')
  t.is(missingText('CONSENT_EXPIRED'), 'Missing: consent expired')
  t.is(missingText(null), 'Missing')
})

test('the band of a sandbox PDF is on every page', async (t) => {
  const read = await readPlainPdf()
  if (!read) return void t.pass(NO_POPPLER)
  const pages = Number(/Pages:\s+(\d+)/.exec(read.info)?.[1])
  t.is(read.text.match(/SANDBOX — NOT EVIDENCE/g)?.length, pages)
})

test('the PDF breaks no word and aligns tiers at the right margin', async (t) => {
  const input = await pdfInput()
  const { cards } = packDocument(input)
  const bytes = await plainPdf()
  t.regex(bytes.toString('latin1'), /\n0\.0901\d* 0\.376\d* 0\.309\d* scn\nf\n/, 'the colour of the logo')
  const words = await wordsOfPdf(bytes)
  if (!words) return void t.pass(NO_POPPLER)
  const read = new Set(words.map(({ text }) => text))
  for (const { evidence } of cards)
    for (const { source } of evidence) for (const word of sourceName(source).split(' ')) t.true(read.has(word), word)
  const margin = PAGE.width - PAGE.right
  for (const { title } of cards) {
    const head = words.find(
      ({ left }, at) =>
        Math.abs(left - PAGE.left) < 1 && title.split(' ').every((part, index) => words[at + index]?.text === part),
    )
    const line = words.filter(({ page, top }) => page === head?.page && Math.abs(top - head.top) < 4)
    const end = Math.max(...line.map(({ right }) => right))
    t.true(Math.abs(end - margin) < 2, `${title}: ${end} of ${margin}`)
  }
})

test('every evidence record is on a card', async (t) => {
  const input = await pdfInput()
  const keys = JSON.parse(input.evidence ?? '').evidence.map(({ key }: { key: string }) => key)
  const shown = new Set(packDocument(input).cards.flatMap((card) => card.evidence.map(({ key }) => key)))
  t.deepEqual(
    keys.filter((key: string) => !shown.has(key)),
    [],
  )
  t.false(packDocument(input).cards.some(({ key }) => key === 'other'))
})

test('each origin has one line, and each page repeats the column titles', async (t) => {
  const input = await pdfInput()
  const stored = JSON.parse(input.evidence ?? '')
  for (let index = 0; index < 80; index++) stored.evidence.push({ ...stored.evidence[0], key: `somethingNew.${index}` })
  const read = await readPdf(await renderPackPdf({ ...input, evidence: JSON.stringify(stored) }))
  if (!read) return void t.pass(NO_POPPLER)
  t.is(read.text.match(/[a-z] {2,}\S.* UTC {2,}\S+$/gm)?.length, stored.evidence.length)
  const pages = read.text.split('\f').filter((page) => page.includes('somethingNew'))
  t.true(pages.length > 1)
  for (const page of pages) t.regex(page, /Value +Tier +Source +As of +Consent\n+ *\S.* UTC/)
  t.is(
    read.structure.match(/^ +TH/gm)?.length,
    ((await readPlainPdf())?.structure.match(/^ +TH/gm)?.length ?? 0) + 5,
    'assistive technology reads the titles once',
  )
})

test('evidence columns fill the page, and only the widest shrink', async (t) => {
  const [first] = packDocument(await pdfInput()).cards.flatMap(({ evidence }) => evidence)
  if (!first) return t.fail()
  const sheet = createSheet(openDocument('2026-11-21T06:30:00.000Z', { Title: 'T', Keywords: '' }), () => undefined)
  const widths = (handle: string) =>
    evidenceColumns(sheet, [{ ...first, consent: { handle, id: null, purposeCode: null, expiresAt: null } }])
  const sum = (numbers: readonly number[]) => Math.round(numbers.reduce((total, one) => total + one, 0))
  t.is(sum(widths('c')), Math.round(CONTENT_WIDTH))
  const long = widths('c'.repeat(300))
  t.is(sum(long), Math.round(CONTENT_WIDTH))
  const asOf = sheet.width(STYLES.small, instantText(first.observedAt))
  t.true((long[3] ?? 0) >= asOf, 'an instant keeps its line')
  t.true((long[4] ?? 0) > (long[0] ?? 0))
})

test('evidence with an unknown key is shown on the last card', async (t) => {
  const input = await pdfInput()
  const stored = JSON.parse(input.evidence ?? '')
  stored.evidence.push({ ...stored.evidence[0], key: 'somethingNew.value' })
  const { cards } = packDocument({ ...input, evidence: JSON.stringify(stored) })
  t.deepEqual(
    cards.at(-1)?.evidence.map(({ key }) => key),
    ['somethingNew.value'],
  )
})

test('markup and control characters in a pack are drawn as text', async (t) => {
  const nasty = ') Tj ET /JavaScript (x) <script>alert(1)</script>\u0007\u202e हिन्दी \\( \r\n endstream'
  const input = await pdfInput({}, (pack) => ({ ...pack, flags: [nasty] }))
  const bytes = await renderPackPdf(input)
  const read = await readPdf(bytes)
  if (!read) return void t.pass(NO_POPPLER)
  t.regex(read.info, /JavaScript:\s+no/)
  t.true(read.text.includes('<script>alert(1)</script>[U+0007][U+202E]'))
  t.is(read.files.get('pack-6f1c9a52.json')?.toString(), input.body)
})

test('a pack with many flags continues on further pages', async (t) => {
  const flags = Array.from({ length: 150 }, (_, index) => `Note number ${index + 1} of a long list`)
  const input = await pdfInput({}, (pack) => ({ ...pack, flags }))
  const read = await readPdf(await renderPackPdf(input))
  if (!read) return void t.pass(NO_POPPLER)
  t.true(read.text.includes('Note number 150 of a long list'))
  const pages = Number(/Pages:\s+([0-9]+)/.exec(read.info)?.[1])
  t.true(pages > 4 && pages < 9, String(pages))
  t.true(read.text.includes(`Page ${pages} of ${pages}`))
})

for (const [amount, text] of [
  [0, '₹0.00'],
  [999, '₹999.00'],
  [99999.5, '₹99,999.50'],
  [1250000, '₹12,50,000.00 (12.50 lakh)'],
  [72571120.3, '₹7,25,71,120.30 (7.26 crore)'],
  [-250000, '-₹2,50,000.00 (2.50 lakh)'],
  [null, 'missing'],
] as const)
  test(`${amount} rupees are written as ${text}`, (t) => t.is(inrFigure(amount), text))

test('characters without a glyph are replaced by their code points', (t) => {
  t.is(drawnText('Sans', '₹5.00 — “ok” é Łódź Ωμέγα Жук').text, '₹5.00 — “ok” é Łódź Ωμέγα Жук')
  t.is(drawnText('Sans', 'a\u0000b😀\u202Ec').text, 'a[U+0000]b[U+1F600][U+202E]c')
  t.regex(drawnText('Mono', '₹5').font, /inter/, 'the font of codes has no rupee sign')
  t.regex(drawnText('Mono', 'a1').font, /jetbrains-mono/)
})

for (const [script, name] of [
  ['devanagari', 'श्री क्षेत्र किरण ट्रेडर्स & Sons ₹5'],
  ['bengali', 'শ্রী ক্ষেত্র ব্যবসা'],
  ['gujarati', 'શ્રી ક્ષેત્ર'],
  ['gurmukhi', 'ਸ਼੍ਰੀ ਸਿੰਘ'],
  ['kannada', 'ಶ್ರೀ ಕ್ಷೇತ್ರ'],
  ['malayalam', 'ശ്രീ ക്ഷേത്രം'],
  ['oriya', 'ଶ୍ରୀ କ୍ଷେତ୍ର'],
  ['tamil', 'கோயம்புத்தூர் மில்ஸ் Ltd'],
  ['telugu', 'శ్రీ వెంకటేశ్వర'],
] as const)
  test(`a name in ${script} has glyphs in both weights`, (t) => {
    for (const face of ['Sans', 'Sans-Bold'] as const) {
      const { text, font } = drawnText(face, name)
      t.is(text, name.normalize('NFC'))
      t.regex(font, new RegExp(script))
    }
  })

test('a name in Devanagari embeds its font', async (t) => {
  const input = await pdfInput()
  const name = 'किरण ट्रेडर्स'
  const body = JSON.stringify({ ...JSON.parse(input.body), flags: [`${name} ₹5`] })
  const pdf = await renderPackPdf({ ...input, body })
  t.true(pdf.includes('NotoSansDevanagari-Regular'))
  t.true(pdf.includes('Inter-Bold'))
  t.false(pdf.includes('/Helvetica'))
  const read = await readPdf(pdf)
  if (read) t.regex(read.text, /₹5/)
})

test('a QR code has three finder patterns', (t) => {
  const { size, runs } = qrMatrix('https://signalbox.example/verify?txId=0')
  for (const [x, y] of [
    [0, 0],
    [size - 7, 0],
    [0, size - 7],
  ])
    t.true(runs.some((run) => run.x === x && run.y === y && run.length === 7))
})

test('a drawn text above the maximum length is cut with a note', (t) => {
  const drawn = drawnText('Sans', '₹'.repeat(36_000)).text
  t.true(drawn.length < 10_000)
  t.true(drawn.endsWith('… (cut)'))
})
