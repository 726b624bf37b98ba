import { hash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import test from 'ava'
import type { Page } from 'playwright-core'
import { ZipFile } from 'yazl'
import { type Files, readZip, writeZip } from '#shared/transparency/provenance/zip.ts'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { signIn } from './installation.ts'
import { ONE_LOOK_A_LAYOUT, problemsHere } from './page-problems.ts'
import { addRiskAccount, type RiskAccount } from './risk-installation.ts'

let it: RiskAccount
/** The package of a trade pack, as downloaded. */
let bag: Buffer

test.before(async () => {
  it = await addRiskAccount()
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(it, page)
  bag = await tradePackage(page)
})

/** Issues a trade pack of one document. Returns its package once the log includes it. */
async function tradePackage(page: Page): Promise<Buffer> {
  await page.goto(`${it.base}/trade/documents/new`)
  await page.getByLabel('SHA-256 of the file', { exact: true }).fill('ab'.repeat(32))
  await page.getByRole('button', { name: 'Record', exact: true }).click()
  await page.goto(`${it.base}/trade/verify/iec`)
  await page.getByRole('button', { name: 'Query the registry', exact: true }).click()
  await page.getByText('SHA-256 of the record').first().waitFor()
  await page.goto(`${it.base}/trade/packs/new`)
  for (const box of await page.locator('main input[type="checkbox"]').all()) await box.check()
  await page.getByLabel('Title', { exact: true }).fill('Hamburg')
  await page.getByRole('button', { name: 'Issue the pack', exact: true }).click()
  await page.getByRole('heading', { name: 'Hamburg' }).waitFor()
  await eventually('the pack in the log', async () => {
    await page.reload()
    return /in a tree of [0-9]/.test(await page.locator('main').innerText())
  })
  return await (await page.request.get(`${page.url()}/bag.zip`)).body()
}

/** Chooses a file on the verification page. Returns the text of the report. */
async function verify(page: Page, content: Buffer): Promise<string> {
  await page.goto(`${it.app.url}/verify`)
  await page
    .getByLabel('Pack (JSON), its PDF or a package')
    .setInputFiles({ name: 'package.zip', mimeType: '', buffer: content })
  const report = page.locator('[data-report]')
  await report.getByRole('heading', { level: 2 }).waitFor()
  return await report.innerText()
}

/** Changes files and then makes the manifests fit, as someone who tampers with a package would. */
async function forged(change: (files: Map<string, Buffer>) => void, original = bag): Promise<Buffer> {
  const files = await readZip(original)
  change(files)
  const manifest = (isPayload: boolean) => {
    const names = [...files.keys()].filter(
      (name) => name.startsWith('data/') === isPayload && name !== 'tagmanifest-sha256.txt',
    )
    return Buffer.from(names.map((name) => `${hash('sha256', files.get(name) ?? '')}  ${name}\n`).join(''))
  }
  files.set('manifest-sha256.txt', manifest(true))
  files.set('tagmanifest-sha256.txt', manifest(false))
  return await writeZip(files)
}

/** Packs files as other programs do. */
async function compressed(files: Files): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, content] of files) zip.addBuffer(content, name, { compress: true })
  zip.end()
  return await buffer(zip.outputStream)
}

function replaceIn(bytes: Buffer | undefined, from: string, to: string): Buffer {
  const text = String(bytes)
  if (!text.includes(from)) throw new Error(`no ${from} in ${text.slice(0, 200)}`)
  return Buffer.from(text.replace(from, to))
}

test('a visitor verifies a package of trade documents, stored or compressed', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const problems: string[] = []
  const outside: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('request', (request) => {
    if (request.method() !== 'GET' || !request.url().startsWith(it.app.url)) outside.push(request.url())
  })
  for (const content of [bag, await compressed(await readZip(bag))]) {
    const report = await verify(page, content)
    t.regex(report, /^Verified in the sandbox: 2 of 5 files\n/)
    t.regex(report, /SANDBOX: not evidence/i)
    t.regex(report, /All 5 files match the manifests of the package/)
    t.regex(report, /data\/bundle\.json[\s\S]*The statement is signed with a key of this service/)
    t.true(report.includes(`SHA-256 ${'ab'.repeat(32)}`), report)
    t.regex(report, /data\/checks\.json[\s\S]*findings are those that the signed statement names: 1/)
    t.regex(report, /Not checked[\s\S]*bag-info\.txt[\s\S]*data\/summary\.pdf[\s\S]*fetch-list\.txt/)
  }
  t.deepEqual(await problemsHere(page, ONE_LOOK_A_LAYOUT), [])
  t.deepEqual([problems, outside], [[], []])
})

test('a package with a changed file is not verified, and the report names the file', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const files = await readZip(bag)
  const changed = new Map(files).set('data/summary.pdf', Buffer.from('other'))
  t.regex(await verify(page, await writeZip(changed)), /^Not verified[\s\S]*data\/summary\.pdf: its hash differs/)
  const added = new Map(files).set('data/more.txt', Buffer.from('more'))
  t.regex(await verify(page, await writeZip(added)), /^Not verified[\s\S]*data\/more\.txt: no manifest/)
  const removed = new Map(files)
  removed.delete('data/checks.json')
  t.regex(await verify(page, await writeZip(removed)), /^Not verified[\s\S]*data\/checks\.json: [\s\S]*lacks it/)

  const otherRecord = await forged((all) =>
    all.set('data/bundle.json', replaceIn(all.get('data/bundle.json'), '"record":{', '"record":{"more":1,')),
  )
  t.regex(await verify(page, otherRecord), /^Not verified[\s\S]*data\/bundle\.json[\s\S]*failed/)
  const otherFindings = await forged((all) => all.set('data/checks.json', Buffer.from('[{}]')))
  t.regex(await verify(page, otherFindings), /^Not verified[\s\S]*data\/checks\.json[\s\S]*findings were changed/)
  const otherSummary = await verify(page, await forged((all) => all.set('data/summary.pdf', Buffer.from('other'))))
  t.regex(otherSummary, /^Verified in the sandbox: 2 of 5 files[\s\S]*Not checked[\s\S]*data\/summary\.pdf/)
})

/** Returns a ZIP file whose directory declares another size of its only entry than it has. */
async function declaring(size: number, content: Buffer): Promise<Buffer> {
  const zip = await compressed(new Map([['bomb.json', content]]))
  zip.writeUInt32LE(size, zip.indexOf(Buffer.from('PK\u0001\u0002')) + 24)
  return zip
}

test('a ZIP file beyond the limits is refused by name without being unpacked', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const zeros = Buffer.alloc(32 * 1024 * 1024)
  t.regex(await verify(page, await declaring(100, zeros)), /bomb\.json: it unpacks to more than the 100 bytes/)
  t.regex(await verify(page, await declaring(2 ** 31, zeros)), /bomb\.json: with it the files exceed 256 MiB/)
  t.regex(await verify(page, await declaring(2 ** 26, zeros)), /bomb\.json: it unpacks to less than/)
  const many = new Map(Array.from({ length: 1001 }, (_, n) => [`${n}.json`, Buffer.from('{}')]))
  t.regex(await verify(page, await writeZip(many)), /has 1001 entries; this page reads 1000/)
  const twice = await writeZip(
    new Map([
      ['a.json', zeros.subarray(0, 1)],
      ['b.json', zeros.subarray(0, 1)],
    ]),
  )
  for (let at = twice.indexOf('b.json'); at >= 0; at = twice.indexOf('b.json')) twice.write('A', at)
  t.regex(await verify(page, twice), /A\.json: the ZIP file has two entries of this name/)
  t.regex(await verify(page, bag.subarray(0, bag.length - 30)), /incomplete or damaged/)
  t.regex(await verify(page, Buffer.from('PK')), /^Not verified[\s\S]*incomplete or damaged/)
  const other = await writeZip(new Map([['letter.txt', Buffer.from('hello')]]))
  t.regex(await verify(page, other), /^Not all of it could be verified[\s\S]*contains no pack[\s\S]*letter\.txt/)
})

test('packs in a ZIP file without manifests are verified one by one', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const bundle = (await readZip(bag)).get('data/bundle.json') ?? Buffer.alloc(0)
  const { record } = JSON.parse(bundle.toString())
  const zip = (text: object) => compressed(new Map([['mine/record.json', Buffer.from(JSON.stringify(text))]]))
  const good = await eventually('the record in the log', async () => {
    const report = await verify(page, await zip(record))
    return report.startsWith('Verified in the sandbox: 1 of 1 files') && report
  })
  t.regex(good, /mine\/record\.json/)
  t.regex(
    await verify(page, await zip({ ...record, more: 1 })),
    /^Not verified[\s\S]*mine\/record\.json[\s\S]*was changed/,
  )
})

test('the commands of the page name the verified file, its transaction and its log', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  // The page reads the entry as one of production.
  await page.route('**/v1/anchors/*', async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ json: { ...(await answer.json()), env: 'production' } })
  })
  await page.route('**/v1/transparency/production/log-key', async (route) =>
    route.fulfill({ response: await route.fetch({ url: route.request().url().replace('production', 'sandbox') }) }),
  )
  const bundle = (await readZip(bag)).get('data/bundle.json') ?? Buffer.alloc(0)
  const { record } = JSON.parse(bundle.toString())
  const commands = page.locator('[data-offline] code')
  await page.goto(`${it.app.url}/verify`)
  t.regex(await commands.innerText(), /^TX=<txId of its anchor>\n[\s\S]*\/sandbox\/policy/)
  const content = Buffer.from(JSON.stringify(record))
  await page
    .getByLabel('Pack (JSON), its PDF or a package')
    .setInputFiles({ name: "Acme's record.json", mimeType: 'application/json', buffer: content })
  await page.getByRole('heading', { name: 'Verified', exact: true }).waitFor()
  const text = await commands.innerText()
  t.true(text.startsWith(`TX=${record.anchor.txId}\n`), text)
  t.regex(text, /\/production\/policy[\s\S]* -- '\.\/Acme'\\''s record\.json' --proof/)
  t.is(await page.locator('[data-offline] [data-copy]').getAttribute('data-copy'), text)
})

test('a file that is chosen during another verification gets a separate report', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const bundle = (await readZip(bag)).get('data/bundle.json') ?? Buffer.alloc(0)
  const { record } = JSON.parse(bundle.toString())
  const chosen = Promise.withResolvers<void>()
  await page.route('**/v1/anchors/*', async (route) => {
    await chosen.promise
    await route.continue()
  })
  await page.goto(`${it.app.url}/verify?txId=${record.anchor.txId}`)
  const file = { name: 'record.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(record)) }
  await page.getByLabel('Pack (JSON), its PDF or a package').setInputFiles(file)
  chosen.resolve()
  await page.getByRole('heading', { name: 'Verified in the sandbox' }).waitFor()
  const report = page.locator('[data-report]')
  t.is(await report.getByRole('heading').count(), 1)
  t.false((await report.innerText()).includes('The log contains this entry.'))
})

const POOL = [
  'receivableId,supplierGstin,buyerGstin,documentType,documentNumber,documentDate,amountInr,dueDate',
  'R-1,29AAACR5678D1Z5,27AAACB1234C1ZF,INV,INV/1,2026-05-01,118000.00,2026-08-01',
  'R-2,29AAACR5678D1Z5,27AAACB1234C1ZF,INV,INV/2,2026-05-01,240000.00,',
  'R-3,29AAACR5678D1Z5,27AAACB1234C1ZF,INV,INV/3,2026-05-02,90000.00,2026-07-01',
].join('\n')

/** Creates a pool from a file and a cut of it, by following the pages. Returns the package of the cut. */
async function poolPackage(page: Page): Promise<Buffer> {
  await page.goto(`${it.base}/pools`)
  await page.getByRole('link', { name: 'Create the first pool', exact: true }).click()
  await page.getByLabel('Name').fill('July receivables')
  await page.getByLabel('File').setInputFiles({ name: 'july.csv', mimeType: '', buffer: Buffer.from(POOL) })
  await page.getByRole('button', { name: 'Create the pool', exact: true }).click()
  await page.getByText('All evidence is recorded').waitFor()
  await page.locator('.next-action').getByRole('link', { name: 'Create a cut', exact: true }).click()
  await page.getByLabel('Cut-off date').fill('2026-06-30')
  await page.getByRole('button', { name: 'Create the cut', exact: true }).click()
  await page.getByRole('heading', { name: 'Largest buyers' }).waitFor()
  const link = page.getByRole('link', { name: 'Package for investors (ZIP)', exact: true })
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  const tape = await page.request.get(new URL('tape.csv', download.url()).href)
  if ((await tape.text()).trim().split('\n').length !== 4) throw new Error(await tape.text())
  return await buffer(await download.createReadStream())
}

test('the package of a pool cut is downloaded and verified without an account', async (t) => {
  await using browser = await openBrowser({ acceptDownloads: true })
  await using guest = await openBrowser()
  const member = await browser.context.newPage()
  const page = await guest.context.newPage()
  await signIn(it, member)
  const cut = await poolPackage(member)
  t.deepEqual(await problemsHere(member, ONE_LOOK_A_LAYOUT), [])
  const good = await verify(page, cut)
  t.regex(good, /^Verified in the sandbox: 2 of \d files/)
  t.regex(good, /securitisation: pool cut[\s\S]*2026-06-30[\s\S]*₹4,48,000\.00/)
  t.regex(good, /All 3 receivables lead to the root of the cut/)
  t.regex(good, /Not checked[\s\S]*data\/tape\.csv/)
  const other = (files: Map<string, Buffer>, from: string, to: string) =>
    files.set('data/receivables.jsonl', replaceIn(files.get('data/receivables.jsonl'), from, to))
  const changed = await forged((files) => other(files, '"amountInr":240000', '"amountInr":940000'), cut)
  t.regex(await verify(page, changed), /^Not verified[\s\S]*Line 2: the receivable was changed/)
  const dropped = await forged((files) => {
    const lines = String(files.get('data/receivables.jsonl')).split('\n')
    files.set('data/receivables.jsonl', Buffer.from(lines.toSpliced(1, 1).join('\n')))
  }, cut)
  t.regex(await verify(page, dropped), /^Not verified[\s\S]*differ from those of the cut/)
})
